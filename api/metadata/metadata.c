/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP side of the metadata server: which requests are accepted, the form of answers, and waiting for changes. */
#include "api/metadata/metadata.h"

#include <limits.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/metadata/account.h"
#include "api/metadata/page.h"
#include "api/metadata/tree.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum { ETAG_BYTES = 8, WAIT_PIECE_MS = 250, US_PER_MS = 1000, US_PER_S = 1000000 };

static const char text_media_type[] = "application/text", json_media_type[] = "application/json",
		  html_media_type[] = "text/html";

/* ---- refusals ------------------------------------------------------------------------------------------- */

static void headers_add(struct call *call)
{
	call_header_add(call, "Metadata-Flavor", "Google");
	call_header_add(call, "Server", "Metadata Server for VM");
	call_header_add(call, "X-XSS-Protection", "0");
	call_header_add(call, "X-Frame-Options", "SAMEORIGIN");
}

/* Answers with an HTML page: @before, then the path, then @after. */
static void page_answer(struct call *call, unsigned http_status, const char *before, const char *after)
{
	struct text path AUTO_TEXT = { 0 };
	struct text sentence AUTO_TEXT = { 0 };

	page_path_write(call, &path);
	text_puts(&sentence, before);
	page_text_write(&sentence, path.data);
	text_puts(&sentence, after);
	call->http_status = http_status;
	call->content_type = page_media_type;
	page_write(&call->answer, http_status, sentence.data);
}

static void forbidden_answer(struct call *call, const char *why)
{
	page_answer(call, 403, "Your client does not have permission to get URL <code>", why);
}

static void not_found_answer(struct call *call)
{
	page_answer(call, 404, "The requested URL <code>", "</code> was not found on this server.");
}

static void bad_request_answer(struct call *call)
{
	page_answer(call, 400, "Your client has issued a malformed or illegal request for <code>",
		    "</code>.");
}

static void words_answer(struct call *call, const char *words)
{
	call->http_status = 400;
	call->content_type = html_media_type;
	text_puts(&call->answer, words);
}

const char *metadata_error_render(const struct call *call, const struct error *err, unsigned http_status,
				  struct text *body)
{
	struct text sentence AUTO_TEXT = { 0 };

	(void)call;
	page_text_write(&sentence, err->text && http_status < 500 ? err->text : status_name(err->status));
	page_write(body, http_status, sentence.data);
	return page_media_type;
}

static enum status method_refuse(struct call *call, struct error *err)
{
	struct text before AUTO_TEXT = { 0 };

	headers_add(call);
	text_printf(&before, "The request method <code>%s</code> is inappropriate for the URL <code>",
		    call->method);
	call_header_add(call, "Allow", "GET, HEAD");
	(void)err;
	page_answer(call, 405, before.data, "</code>.");
	return STATUS_OK;
}

/* True if the request has the required header. X-Google-Metadata-Request is its name before 2014, which old scripts
 * still send.
 * Source: google-api-java-client's MockMetadataServerTransport, which requires it (read 2026-11-22) */
static bool flavor_given(const struct call *call)
{
	return strcmp(call_header(call, "Metadata-Flavor"), "Google") == 0 ||
	       strcasecmp(call_header(call, "X-Google-Metadata-Request"), "true") == 0;
}

/* ---- waiting for a change ------------------------------------------------------------------------------- */

/* A replica's values do not change while it runs: a request that waits for a change is answered with the present value
 * at its timeout, or without a timeout waits until its client leaves. */
struct waiting {
	struct call *call;
	const struct clock *clock;
	int64_t until_us;
	struct text body;
	size_t sent;
};

static ssize_t waiting_read(void *arg, char *buffer, size_t size)
{
	struct waiting *waiting = arg;
	const int64_t left_us = waiting->until_us - clock_mono_us(waiting->clock);
	size_t length = waiting->body.length - waiting->sent;

	if (left_us > 0 && !call_closing(waiting->call)) {
		const int64_t left_ms = (left_us + US_PER_MS - 1) / US_PER_MS;

		poll(NULL, 0, left_ms < WAIT_PIECE_MS ? (int)left_ms : WAIT_PIECE_MS);
		return STREAM_QUIET;
	}
	if (!length)
		return STREAM_END;
	if (length > size)
		length = size;
	memcpy(buffer, waiting->body.data + waiting->sent, length);
	waiting->sent += length;
	return (ssize_t)length;
}

static void waiting_close(void *arg)
{
	struct waiting *waiting = arg;

	text_deinit(&waiting->body);
	free(waiting);
}

/* Delays the answer: converts it to a stream that sends it at the timeout. */
static void wait_begin(struct call *call, int64_t timeout_us)
{
	const struct metadata_context *context = call->context;
	struct waiting *waiting = memory_calloc(1, sizeof(*waiting));

	*waiting = (struct waiting){ .call = call, .clock = context->clock, .body = call->answer };
	call->answer = (struct text){ 0 };
	waiting->until_us = timeout_us < 0 ? INT64_MAX : clock_mono_us(context->clock) + timeout_us;
	/* An empty body has an unknown length (-1) here: with length 0, HTTP would answer at once, without a read. */
	call->stream = (struct answer_stream){ waiting_read, waiting_close, waiting,
					       waiting->body.length ? (int64_t)waiting->body.length : -1 };
}

/* Reads timeoutSec in microseconds; -1: no limit. False: it is not a number. */
static bool timeout_read(const struct call *call, int64_t *ret_us)
{
	const char *text = call_query(call, "timeoutSec");
	char *end;
	long seconds;

	*ret_us = -1;
	if (!text)
		return true;
	seconds = strtol(text, &end, 10);
	if (*end || seconds < 0 || seconds > INT_MAX)
		return false;
	*ret_us = (int64_t)seconds * US_PER_S;
	return true;
}

static bool query_true(const struct call *call, const char *name)
{
	const char *value = call_query(call, name);

	return value && strcasecmp(value, "true") == 0;
}

static bool query_is(const struct call *call, const char *name, const char *wanted)
{
	const char *value = call_query(call, name);

	return value && strcasecmp(value, wanted) == 0;
}

/* The answer is complete; delays it if the request waits for a change. */
static void wait_decide(struct call *call, const char *etag)
{
	const char *last = call_query(call, "lastEtag");
	int64_t timeout_us;

	if (!query_true(call, "waitForChange"))
		return;
	if (!timeout_read(call, &timeout_us)) {
		text_clear(&call->answer);
		bad_request_answer(call);
	} else if (timeout_us != 0 && (!last || strcmp(last, etag) == 0)) {
		wait_begin(call, timeout_us);
	}
}

/* ---- values --------------------------------------------------------------------------------------------- */

/* Adds the ETag: sixteen hexadecimal digits from a hash of @content, the same for every form of output. */
static void etag_add(struct call *call, const struct text *content, char ret_etag[2 * ETAG_BYTES + 1])
{
	unsigned char hash[crypto_generichash_BYTES_MIN];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)content->data, content->length, NULL,
			   0);
	sodium_bin2hex(ret_etag, 2 * ETAG_BYTES + 1, hash, ETAG_BYTES);
	call_header_add(call, "ETag", ret_etag);
}

static void list_answer(struct call *call, const struct metadata_tree *tree, const struct node *directory)
{
	char etag[2 * ETAG_BYTES + 1];

	if (call_query(call, "alt") || query_true(call, "waitForChange")) {
		bad_request_answer(call);
		return;
	}
	text_puts(&call->answer, "");
	metadata_tree_list(tree, directory, &call->answer);
	call->content_type = text_media_type;
	etag_add(call, &call->answer, etag);
}

static bool shown_as_json(const struct call *call, const struct node *node)
{
	if (query_is(call, "alt", "json") || query_is(call, "alt", "text"))
		return query_is(call, "alt", "json");
	return node_is_directory(node) || node->kind == NODE_LINES_AS_JSON;
}

static void value_answer(struct call *call, const struct metadata_tree *tree, const struct node *node)
{
	AUTO(json) json_t *value = metadata_tree_json(tree, node);
	struct text json AUTO_TEXT = { 0 };
	char etag[2 * ETAG_BYTES + 1];

	json_write(&json, value);
	etag_add(call, &json, etag);
	text_puts(&call->answer, "");
	call->content_type = text_media_type;
	if (shown_as_json(call, node)) {
		call->content_type = json_media_type;
		text_append(&call->answer, json.data, json.length);
	} else {
		metadata_tree_text(tree, node, &call->answer);
	}
	wait_decide(call, etag);
}

/* ---- the account's tokens ------------------------------------------------------------------------------- */

static enum status token_answer(struct call *call, const struct metadata_instance *instance,
				struct error *err)
{
	const struct metadata_context *context = call->context;
	const int64_t now_s = clock_wall_us(context->clock) / US_PER_S;
	const char *scopes = call_query(call, "scopes");
	struct access_token token = { .job = instance->job,
				      .attempt = instance->attempt,
				      .role = instance->role,
				      .index = instance->index,
				      .expires_s = token_expiry(now_s) };
	AUTO(json) json_t *answer = NULL;
	enum status rc;

	strncat(token.email, context->email, sizeof(token.email) - 1);
	if (token_scopes_read(scopes ? scopes : METADATA_SCOPE, ", ", &token, NULL)) {
		words_answer(call, "invalid scopes\n");
		return STATUS_OK;
	}
	rc = token_answer_write(context->store, &token, now_s, &call->answer, err);
	call->content_type = json_media_type;
	if (rc || !query_is(call, "alt", "text"))
		return rc;
	rc = json_parse_own(call->answer.data, &answer, err);
	if (rc)
		return rc;
	text_clear(&call->answer);
	call->content_type = text_media_type;
	text_printf(&call->answer, "access_token %s\nexpires_in %lld\ntoken_type Bearer\n",
		    json_text_at(answer, "access_token"), (long long)json_int_at(answer, "expires_in", 0));
	return STATUS_OK;
}

static enum status identity_answer(struct call *call, const struct metadata_instance *instance,
				   struct error *err)
{
	const struct metadata_context *context = call->context;
	const char *audience = call_query(call, "audience");
	struct text zone AUTO_TEXT = { 0 };
	struct identity_instance place = { .project_id = context->project_id,
					   .project_number = context->project_number,
					   .name = instance->hostname,
					   .id = instance->id & INT64_MAX,
					   .created_s = instance->created_s,
					   .licenses = query_true(call, "licenses") };

	if (!audience) {
		words_answer(call, "non-empty audience parameter required\n");
		return STATUS_OK;
	}
	metadata_zone_write(context->region, &zone);
	place.zone = zone.data;
	call->content_type = html_media_type;
	return identity_token_write(context->key, context->email, audience,
				    query_is(call, "format", "full") ? &place : NULL,
				    clock_wall_us(context->clock) / US_PER_S, &call->answer, err);
}

/* ---- paths ---------------------------------------------------------------------------------------------- */

/* Query parameters: their member in the query's message, and their name in the URL. */
static const struct {
	const char *member, *name;
} parameters[] = {
	{ "recursive", "recursive" },
	{ "alt", "alt" },
	{ "waitForChange", "wait_for_change" },
	{ "timeoutSec", "timeout_sec" },
	{ "lastEtag", "last_etag" },
};

/* Redirects a request for a directory to its path with a slash at the end. */
static void redirect_answer(struct call *call)
{
	struct text place AUTO_TEXT = { 0 };
	struct text path AUTO_TEXT = { 0 };
	char separator = '?';

	page_path_write(call, &path);
	text_printf(&place, "http://%s", call->host);
	text_percent(&place, path.data, URL_UNRESERVED "/@");
	text_putc(&place, '/');
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		const char *value = call_query(call, parameters[i].member);

		if (!value)
			continue;
		text_printf(&place, "%c%s=", separator, parameters[i].name);
		text_percent(&place, value, URL_UNRESERVED "/@");
		separator = '&';
	}
	call_header_add(call, "Location", place.data);
	call->http_status = 301;
	call->content_type = html_media_type;
	page_text_write(&call->answer, path.data);
	text_puts(&call->answer, "/\n");
}

static enum status node_answer(struct call *call, const struct metadata_instance *instance,
			       const struct metadata_tree *tree, const struct node *node, struct error *err)
{
	if (node->kind == NODE_TOKEN)
		return token_answer(call, instance, err);
	if (node->kind == NODE_IDENTITY)
		return identity_answer(call, instance, err);
	if (node_is_directory(node) && !query_true(call, "recursive")) {
		list_answer(call, tree, node);
		return STATUS_OK;
	}
	value_answer(call, tree, node);
	return STATUS_OK;
}

/* @path lies below "/computeMetadata/v1/". */
static enum status path_answer(struct call *call, const struct metadata_instance *instance, const char *path,
			       struct error *err)
{
	struct metadata_tree tree;
	struct text slashed AUTO_TEXT = { 0 };
	const struct node *node;

	metadata_tree_init(&tree, call->context, instance, call->peer);
	node = metadata_tree_find(&tree, path);
	if (node)
		return node_answer(call, instance, &tree, node, err);
	text_printf(&slashed, "%s/", path);
	if (metadata_tree_find(&tree, slashed.data))
		redirect_answer(call);
	else
		not_found_answer(call);
	return STATUS_OK;
}

/* Copies the path with single slashes in place of several. */
static void path_plain(const char *path, struct text *plain)
{
	text_puts(plain, "");
	for (; *path; path++)
		if (*path != '/' || path[1] != '/')
			text_putc(plain, *path);
}

static enum status below_answer(struct call *call, const struct metadata_instance *instance,
				struct error *err)
{
	struct text path AUTO_TEXT = { 0 };

	path_plain(call_param(call, "path"), &path);
	if (strcmp(path.data, "v1") == 0) {
		redirect_answer(call);
		return STATUS_OK;
	}
	if (strncmp(path.data, "v1/", 3) == 0)
		return path_answer(call, instance, path.data + 3, err);
	not_found_answer(call);
	return STATUS_OK;
}

static void forwarded_note(void *arg, const char *name, const char *value)
{
	bool *was_forwarded = arg;

	(void)value; /* the header counts even if it is empty */
	*was_forwarded |= strcasecmp(name, "X-Forwarded-For") == 0;
}

/* Checks that the caller may read at all, and finds its replica. False: the answer is already a refusal. */
static bool asker_check(struct call *call, struct metadata_instance *ret_instance)
{
	const struct metadata_context *context = call->context;
	const bool is_root = strcmp(call->route->path, "/") == 0;
	/* Needed besides call_headers_each(), which does nothing for a request inside another one. */
	bool was_forwarded = *call_header(call, "X-Forwarded-For");

	headers_add(call);
	call_headers_each(call, forwarded_note, &was_forwarded);
	if (was_forwarded) {
		forbidden_answer(call, "</code> from this server. X-Forwarded-For header is not allowed.");
		return false;
	}
	if (!is_root && !flavor_given(call)) {
		forbidden_answer(call, "</code> from this server. Missing Metadata-Flavor:Google header.");
		return false;
	}
	if (!call->peer || !context->find(context->arg, call->peer, ret_instance)) {
		forbidden_answer(call, "</code> from this server. It belongs to no replica of the job.");
		return false;
	}
	return true;
}

static enum status metadata_get(struct call *call, struct error *err)
{
	struct metadata_instance instance = { 0 };

	if (!asker_check(call, &instance))
		return STATUS_OK;
	if (strchr(call->route->path, '{'))
		return below_answer(call, &instance, err);
	if (strcmp(call->route->path, "/computeMetadata") == 0) {
		redirect_answer(call);
		return STATUS_OK;
	}
	call->content_type = text_media_type;
	text_puts(&call->answer, strcmp(call->route->path, "/") == 0 ? "computeMetadata/\n" : "v1/\n");
	return STATUS_OK;
}

static const struct field query_fields[] = {
	{ .name = "recursive", .type = FIELD_STRING, .help = "true: a directory with all that is in it" },
	{ .name = "alt", .type = FIELD_STRING, .help = "json or text" },
	{ .name = "waitForChange", .type = FIELD_STRING, .help = "true: answer when the value has changed" },
	{ .name = "timeoutSec", .type = FIELD_STRING, .help = "how long to wait for the change at most" },
	{ .name = "lastEtag",
	  .type = FIELD_STRING,
	  .help = "the ETag of the value that the caller knows: no wait if the value is another one" },
	{ .name = "scopes",
	  .type = FIELD_STRING,
	  .help = "the scopes of an access token, separated by commas" },
	{ .name = "audience", .type = FIELD_STRING, .help = "the audience of an identity token" },
	{ .name = "format", .type = FIELD_STRING, .help = "full: the identity token describes the instance" },
	{ .name = "licenses",
	  .type = FIELD_STRING,
	  .help = "true: the identity token has the instance's licenses too" },
	{ .name = NULL },
};
static const struct message metadata_query = { .full_name = "trainyard.MetadataQuery",
					       .fields = query_fields };

/* Rows for methods other than reading, which are refused. */
#define ROW(METHOD, PATH)                                                                                    \
	{                                                                                                    \
		METHOD, PATH, method_refuse, NULL, &raw_body, NULL, NULL                                     \
	}
#define ROWS(PATH)                                                                                           \
	{ "GET", PATH, metadata_get, &metadata_query, NULL, NULL, NULL }, ROW("POST", PATH),                 \
		ROW("PUT", PATH), ROW("PATCH", PATH), ROW("DELETE", PATH), ROW("OPTIONS", PATH)

const struct route metadata_routes[] = {
	ROWS("/"),
	ROWS("/computeMetadata"),
	ROWS("/computeMetadata/"),
	ROWS("/computeMetadata/{path=**}"),
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
