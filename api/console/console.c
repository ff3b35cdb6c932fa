/* SPDX-License-Identifier: Apache-2.0 */
#include "api/console/console.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "api/console/console_files.h"
#include "api/console/session.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

#define BOOT_HASH "'sha256-Sonsb+GXxVCb1Ze3qs1/vhQ/JquZ08Is8TiyWwR50xc='"

enum { HTTP_SEE_OTHER = 303, HTTP_NOT_MODIFIED = 304, HTTP_PERMANENT_REDIRECT = 308 };
enum { HASH_BYTES = 16, ETAG_SIZE = 2 * HASH_BYTES + 8 /* quotes, "-gzip" and a NUL */ };

/* The page may load only its own files and call only its own server. The hash is that of the only script within
 * index.html. Trusted types: a browser that supports them refuses each assignment of markup, such as innerHTML, with
 * any content. Source: https://www.w3.org/TR/CSP3/, https://www.w3.org/TR/trusted-types/ */
static const struct {
	const char *name, *value;
} page_headers[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self' " BOOT_HASH "; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
	  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cache-Control", "no-cache" },
	{ "Vary", "Accept-Encoding" },
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

/* True if @accepted, an Accept-Encoding header, allows gzip: by its name or by "*", unless with weight 0.
 * Source: RFC 9110 section 12.5.3 */
static bool gzip_is_accepted(const char *accepted)
{
	static const char *const names[] = { "gzip", "x-gzip", "*" };
	bool found = false;

	while (*accepted) {
		const char *coding = accepted + strspn(accepted, ", \t"), *weight;
		const size_t length = strcspn(coding, ","), name = strcspn(coding, ",; \t");

		accepted = coding + length;
		weight = memchr(coding, ';', length);
		weight = weight ? strcasestr(weight, "q=") : NULL;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (name == strlen(names[i]) && strncasecmp(coding, names[i], name) == 0) {
				found = !weight || weight > accepted || strtod(weight + 2, NULL) > 0;
				if (i < 2)
					return found;
			}
	}
	return found;
}

/* Writes the file's ETag. The compressed and the plain form have different ones. */
static void etag_write(const struct embedded_file *file, bool packed, char etag[ETAG_SIZE])
{
	unsigned char hash[HASH_BYTES];
	char digits[2 * HASH_BYTES + 1];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)file->data, file->bytes, NULL, 0);
	sodium_bin2hex(digits, sizeof(digits), hash, sizeof(hash));
	snprintf(etag, ETAG_SIZE, "\"%s%s\"", digits, packed ? "-gzip" : "");
}

static enum status unpacked_append(struct text *answer, const struct embedded_file *file, struct error *err)
{
	AUTO(string) char *unpacked = memory_alloc(file->unpacked_bytes);
	z_stream stream = { .next_in = (Bytef *)file->data,
			    .avail_in = (unsigned)file->bytes,
			    .next_out = (unsigned char *)unpacked,
			    .avail_out = (unsigned)file->unpacked_bytes };
	int end = inflateInit2(&stream, 16 + MAX_WBITS); /* 16: gzip */

	if (end == Z_OK) {
		end = inflate(&stream, Z_FINISH);
		inflateEnd(&stream);
	}
	if (end != Z_STREAM_END)
		return error_set(err, STATUS_INTERNAL, NULL, "the console's file %s cannot be decompressed", file->name);
	text_append(answer, unpacked, file->unpacked_bytes);
	return STATUS_OK;
}

static enum status file_answer(struct call *call, const struct embedded_file *file, struct error *err)
{
	const bool packed = gzip_is_accepted(call_header(call, "Accept-Encoding"));
	char etag[ETAG_SIZE];

	etag_write(file, packed, etag);
	call->content_type = file_type(file->name);
	call_header_add(call, "ETag", etag);
	page_headers_add(call);
	if (strstr(call_header(call, "If-None-Match"), etag)) {
		call->http_status = HTTP_NOT_MODIFIED;
		return STATUS_OK;
	}
	if (!packed)
		return unpacked_append(&call->answer, file, err);
	call_header_add(call, "Content-Encoding", "gzip");
	text_append(&call->answer, file->data, file->bytes);
	return STATUS_OK;
}

/* Paths within the page, such as jobs/my_job, are all answered with index.html. */
static enum status page_get(struct call *call, struct error *err)
{
	const char *path = call_param(call, "path");
	const struct embedded_file *file = path ? file_find(path) : NULL;

	if (path && !file && strchr(path, '.') && !strchr(path, '/'))
		return error_set(err, STATUS_NOT_FOUND, NULL, "The console has no file %.100s.", path);
	return file_answer(call, file ? file : file_find("index.html"), err);
}

static enum status slash_add(struct call *call, struct error *err)
{
	(void)err;
	call_header_add(call, "Location", CONSOLE_PATH);
	call->http_status = HTTP_PERMANENT_REDIRECT;
	return STATUS_OK;
}

/* Redirects browsers, which accept HTML, to the page; other clients get NOT_FOUND, as in the cloud. */
static enum status top_get(struct call *call, struct error *err)
{
	if (!strstr(call_header(call, "Accept"), "text/html"))
		return error_set(err, STATUS_NOT_FOUND, NULL, "Method not found: %s /.", call->method);
	call_header_add(call, "Location", CONSOLE_PATH);
	call_header_add(call, "Vary", "Accept");
	call->http_status = HTTP_SEE_OTHER;
	return STATUS_OK;
}

/* The files need no token: they are the same for every user, and contain no data of jobs. */
const struct route console_routes[] = {
	{ .method = "GET", .path = "/", .handler = top_get, .open = true },
	{ .method = "GET", .path = "/_trainyard/console", .handler = slash_add, .open = true },
	{ .method = "GET", .path = CONSOLE_PATH, .handler = page_get, .open = true },
	{ .method = "GET", .path = CONSOLE_PATH "{path=**}", .handler = page_get, .open = true },
	{ .method = "POST", .path = CONSOLE_PATH "session", .handler = console_session_begin, .open = true },
	{ .method = "DELETE", .path = CONSOLE_PATH "session", .handler = console_session_end, .open = true },
	{ .method = "POST", .path = CONSOLE_PATH "ticket", .handler = console_ticket_make },
	{ .method = NULL },
};
