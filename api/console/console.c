/* SPDX-License-Identifier: Apache-2.0 */
#include "api/console/console.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/console/console_files.h"
#include "api/console/session.h"
#include "daemon/base/text.h"

#define PAGE "/_trainyard/console/"

enum { HTTP_SEE_OTHER = 303, HTTP_NOT_MODIFIED = 304, HTTP_PERMANENT_REDIRECT = 308, HASH_BYTES = 16 };

/* Nothing but what the page needs, and from where it came.
 * Source: https://www.w3.org/TR/CSP3/ */
static const struct {
	const char *name, *value;
} page_headers[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
	  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cache-Control", "no-cache" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

static void page_headers_add(struct call *call)
{
	for (size_t i = 0; i < sizeof(page_headers) / sizeof(page_headers[0]); i++)
		call_header_add(call, page_headers[i].name, page_headers[i].value);
}

static const char *file_type(const char *name)
{
	const char *suffix = strrchr(name, '.');

	if (strcmp(suffix, ".js") == 0)
		return "text/javascript; charset=UTF-8";
	if (strcmp(suffix, ".svg") == 0)
		return "image/svg+xml";
	return strcmp(suffix, ".css") == 0 ? "text/css; charset=UTF-8" : "text/html; charset=UTF-8";
}

static const struct embedded_file *file_find(const char *name)
{
	for (const struct embedded_file *file = console_files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return file;
	return NULL;
}

static void etag_write(const struct embedded_file *file, char etag[2 * HASH_BYTES + 3])
{
	unsigned char hash[HASH_BYTES];
	char digits[2 * HASH_BYTES + 1];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)file->data, file->bytes, NULL, 0);
	sodium_bin2hex(digits, sizeof(digits), hash, sizeof(hash));
	snprintf(etag, 2 * HASH_BYTES + 3, "\"%s\"", digits);
}

static void file_answer(struct call *call, const struct embedded_file *file)
{
	char etag[2 * HASH_BYTES + 3];

	etag_write(file, etag);
	call->content_type = file_type(file->name);
	call_header_add(call, "ETag", etag);
	page_headers_add(call);
	if (strcmp(call_header(call, "If-None-Match"), etag) == 0)
		call->http_status = HTTP_NOT_MODIFIED;
	else
		text_append(&call->answer, file->data, file->bytes);
}

/* The page has addresses of its own, such as jobs/my_job, which are the same file. */
static enum status page_get(struct call *call, struct error *err)
{
	const char *path = call_param(call, "path");
	const struct embedded_file *file = path ? file_find(path) : NULL;

	if (path && !file && strchr(path, '.') && !strchr(path, '/'))
		return error_set(err, STATUS_NOT_FOUND, NULL, "The console has no file %.100s.", path);
	file_answer(call, file ? file : file_find("index.html"));
	return STATUS_OK;
}

static enum status slash_add(struct call *call, struct error *err)
{
	(void)err;
	call_header_add(call, "Location", PAGE);
	call->http_status = HTTP_PERMANENT_REDIRECT;
	return STATUS_OK;
}

/* Browsers ask for HTML; to all others it is no method, as it is to the cloud. */
static enum status top_get(struct call *call, struct error *err)
{
	if (!strstr(call_header(call, "Accept"), "text/html"))
		return error_set(err, STATUS_NOT_FOUND, NULL, "Method not found: %s /.", call->method);
	call_header_add(call, "Location", PAGE);
	call_header_add(call, "Vary", "Accept");
	call->http_status = HTTP_SEE_OTHER;
	return STATUS_OK;
}

/* The files are open: they are the same for everybody, and hold nothing of a job. */
const struct route console_routes[] = {
	{ .method = "GET", .path = "/", .handler = top_get, .open = true },
	{ .method = "GET", .path = "/_trainyard/console", .handler = slash_add, .open = true },
	{ .method = "GET", .path = PAGE, .handler = page_get, .open = true },
	{ .method = "GET", .path = PAGE "{path=**}", .handler = page_get, .open = true },
	{ .method = "POST", .path = PAGE "session", .handler = console_session_begin, .open = true },
	{ .method = "DELETE", .path = PAGE "session", .handler = console_session_end, .open = true },
	{ .method = "POST", .path = PAGE "ticket", .handler = console_ticket_make },
	{ .method = NULL },
};
