/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/storage/storage_testing.h: the routes of Cloud Storage behind a listener, with objects in a directory
 * of the test. */
#include <ftw.h>
#include <stdio.h>

#include "api/storage/parts.h"
#include "api/storage/storage.h"
#include "daemon/base/json.h"
#include "store/keys/access_token.h"
#include "store/store.h"
#include "tests/unit/api/http/http_testing.h"

/* 2026-11-20T00:00:00Z */
#define START_NS INT64_C(1795132800000000000)

enum { GATEWAYS_JOB = 7 };

static struct yard {
	char dir[64];
	int64_t now_ns;
	struct clock clock;
	struct store *store;
	struct objects *objects;
	struct storage_context context;
	struct family families[3];
} yard;

static int64_t yard_wall_ns(void *arg)
{
	return __atomic_load_n(&((struct yard *)arg)->now_ns, __ATOMIC_RELAXED);
}

static int64_t yard_mono_us(void *arg)
{
	return yard_wall_ns(arg) / 1000;
}

static void objects_make(const char *auto_project)
{
	struct error err AUTO_ERROR = { 0 };

	if (objects_new(&(struct objects_options){ yard.dir, &yard.clock, auto_project }, &yard.objects,
			&err))
		fail_msg("%s", err.text);
	yard.context = (struct storage_context){
		.objects = yard.objects,
		.store = yard.store,
		.clock = &yard.clock,
		.project_id = "demo",
		.project_number = "123456789012",
		.auto_buckets = auto_project != NULL,
	};
}

static void families_make(void)
{
	yard.families[0] = (struct family){ .name = "storage",
					    .routes = storage_routes,
					    .context = &yard.context,
					    .absent = storage_absent,
					    .lenient_query = true,
					    .blank_is_absent = true,
					    .fields_refuse = storage_fields_refuse,
					    .error_render = storage_error_render,
					    .error_status = storage_error_status };
	yard.families[1] = (struct family){ .name = "storage-plain",
					    .routes = storage_plain_routes,
					    .context = &yard.context,
					    .last_resort = true,
					    .may_have = storage_plain_may_have,
					    .lenient_query = true,
					    .blank_is_absent = true,
					    .error_render = storage_plain_error_render,
					    .error_status = storage_error_status };
}

static __attribute__((unused)) int yard_open(void **state)
{
	(void)state;
	yard = (struct yard){ .dir = "/tmp/trainyard-test-XXXXXX", .now_ns = START_NS };
	yard.clock = (struct clock){ yard_wall_ns, yard_mono_us, &yard };
	if (!mkdtemp(yard.dir))
		return -1;
	assert_int_equal(store_open(yard.dir, &yard.clock, &yard.store, NULL), STATUS_OK);
	objects_make(NULL);
	families_make();
	return listener_open(&(struct listener_options){ .address = "127.0.0.1",
							 .families = yard.families,
							 .clock = &system_clock },
			     &listener, NULL);
}

static int entry_remove(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
	(void)facts, (void)kind, (void)place;
	return remove(path);
}

static __attribute__((unused)) int yard_close(void **state)
{
	(void)state;
	listener_close(listener, 1000);
	objects_free(yard.objects);
	store_close(yard.store);
	return nftw(yard.dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static __attribute__((unused)) void time_pass(unsigned seconds)
{
	__atomic_add_fetch(&yard.now_ns, (int64_t)seconds * 1000000000, __ATOMIC_RELAXED);
}

/* Tests write double quotes as '. */
static char *quotes(const char *text)
{
	char *copy = strdup(text);

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

/* An answer. */
struct seen {
	unsigned http_status;
	char *all;
	const char *body; /* points into all */
	json_t *json;     /* NULL: the body is not JSON */
};

static void seen_deinit(struct seen *seen)
{
	json_decref(seen->json);
	free(seen->all);
}
#define AUTO_SEEN __attribute__((cleanup(seen_deinit)))

/* @headers: lines with CRLF, or "". @body: JSON with ' for ", or NULL. */
static struct seen ask_with(const char *method, const char *path, const char *headers, const char *body)
{
	AUTO(string) char *text = quotes(body ? body : "");
	struct text request AUTO_TEXT = { 0 };
	struct seen seen = { 0 };

	text_printf(&request, "%s %s HTTP/1.1\r\nHost: localhost:8090\r\nConnection: close\r\n%s", method,
		    path, headers);
	if (body)
		text_printf(&request, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			    strlen(text));
	text_printf(&request, "\r\n%s", text);
	seen.all = exchange_raw(request.data);
	assert_int_equal(sscanf(seen.all, "HTTP/1.1 %u", &seen.http_status), 1);
	seen.body = strstr(seen.all, "\r\n\r\n");
	assert_non_null(seen.body);
	seen.body += 4;
	seen.json = json_loads(seen.body, JSON_REJECT_DUPLICATES, NULL);
	return seen;
}

static __attribute__((unused)) struct seen ask(const char *method, const char *path, const char *body)
{
	return ask_with(method, path, "", body);
}

/* The same; fails the test unless the status is @http_status. */
static __attribute__((unused)) struct seen ask_for(unsigned http_status, const char *method, const char *path,
						   const char *body)
{
	struct seen seen = ask(method, path, body);

	if (seen.http_status != http_status)
		fail_msg("%s %s %s\nwas answered\n%s", method, path, body ? body : "", seen.all);
	return seen;
}

static __attribute__((unused)) void done(unsigned http_status, const char *method, const char *path,
					 const char *body)
{
	struct seen seen AUTO_SEEN = ask_for(http_status, method, path, body);
}

/* Checks that the answer is an error in the JSON API's form. */
static __attribute__((unused)) void refused(unsigned http_status, const char *reason, const char *message,
					    const char *method, const char *path, const char *body)
{
	struct seen seen AUTO_SEEN = ask_for(http_status, method, path, body);
	const json_t *error = json_object_get(seen.json, "error");
	const json_t *first = json_array_get(json_object_get(error, "errors"), 0);

	assert_int_equal(json_int_at(error, "code", 0), http_status);
	assert_non_null(json_text_at(error, "message"));
	if (!strstr(json_text_at(error, "message"), message))
		fail_msg("%s %s: %s", method, path, seen.body);
	assert_string_equal(json_text_at(first, "message"), json_text_at(error, "message"));
	assert_string_equal(json_text_at(first, "domain"), "global");
	assert_string_equal(json_text_at(first, "reason"), reason);
}

/* The text at a path of member names, "resource.name". */
static __attribute__((unused)) const char *text_of(const struct seen *seen, const char *path)
{
	const json_t *at = seen->json;
	AUTO(string) char *copy = strdup(path);
	char *rest = copy;

	for (char *word; (word = strsep(&rest, "."));)
		at = json_object_get(at, word);
	if (!json_is_string(at))
		fail_msg("no text %s in %s", path, seen->body);
	return json_string_value(at);
}

#define assert_text(seen, path, expected) assert_string_equal(text_of(&(seen), path), expected)

static __attribute__((unused)) void bucket_add(const char *name)
{
	AUTO(string) char *body = NULL;

	assert_true(asprintf(&body, "{'name':'%s'}", name) > 0);
	done(200, "POST", "/storage/v1/b?project=demo", body);
}

/* Puts an object directly into the store; returns its generation. */
static __attribute__((unused)) int64_t object_add(const char *bucket, const char *name, const char *bytes)
{
	AUTO(json)
	json_t *metadata =
		json_pack("{s:s, s:{s:s}}", "cacheControl", "no-store", "metadata", "color", "red");
	const struct object_target target = { .bucket = bucket,
					      .name = name,
					      .conditions = CONDITIONS_NONE,
					      .content_type = "text/plain",
					      .metadata = metadata };
	AUTO(upload) struct upload *upload = NULL;
	struct object object AUTO_OBJECT = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (upload_begin(yard.objects, &target, &upload, &err) ||
	    upload_write(upload, bytes, strlen(bytes), &err) || upload_finish(upload, &object, &err))
		fail_msg("%s/%s: %s", bucket, name, err.text);
	return object.generation;
}

static __attribute__((unused)) char *path_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *path_of(const char *format, ...)
{
	char *path = NULL;
	va_list args;

	va_start(args, format);
	assert_true(vasprintf(&path, format, args) >= 0);
	va_end(args);
	return path;
}

#define STORAGE_TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)
