/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/rpc.h"

#include "tests/unit/api/message/json_testing.h"

static const struct message thing;
static const struct field thing_fields[] = {
	{ .name = "displayName", .type = FIELD_STRING, .number = 1 },
	{ .name = "count", .type = FIELD_INT64, .number = 2 },
	{ .name = NULL },
};
static const struct message thing = { "test.Thing", thing_fields, "" };

static const struct field request_fields[] = {
	{ .name = "parent", .type = FIELD_STRING, .number = 1 },
	{ .name = "thing", .type = FIELD_MESSAGE, .message = &thing, .number = 2 },
	{ .name = "filter", .type = FIELD_STRING, .number = 3 },
	{ .name = "pageSize", .type = FIELD_INT32, .number = 4 },
	{ .name = "force", .type = FIELD_BOOL, .number = 5 },
	{ .name = NULL },
};
static const struct message request = { "test.Request", request_fields, "" };

static const struct method_doc doc = { .resource = "parent", .response = &thing };

static void assert_request(const char *path, const char *body_root, const char *json,
			   const char *expected_target, const char *expected_body)
{
	const struct rpc rpc = { .request = &request };
	const struct route route = { .path = path,
				     .body = body_root ? &thing : NULL,
				     .body_root = body_root,
				     .doc = &doc,
				     .rpc = &rpc };
	AUTO(json) json_t *value = json_of(json);
	AUTO(string) char *wanted = quoted(expected_body);
	struct text bytes AUTO_TEXT = { 0 };
	struct rpc_request made AUTO_RPC_REQUEST = { 0 };

	assert_int_equal(json_to_binary(&request, value, NULL, &bytes, NULL), STATUS_OK);
	assert_int_equal(rpc_request_make(&route, bytes.data, bytes.length, &made, NULL), STATUS_OK);
	assert_string_equal(made.target.data, expected_target);
	assert_string_equal(made.body.length ? made.body.data : "", wanted);
}

static void calls_become_requests(void **state)
{
	static const char things[] = "/v1/projects/{project}/locations/{location}/things";

	(void)state;
	assert_request(
		things, "thing",
		"{'parent':'projects/p/locations/l','thing':{'displayName':'a','count':'3'},'pageSize':7}",
		"/v1/projects/p/locations/l/things?pageSize=7", "{'displayName':'a','count':'3'}");
	assert_request(things, "thing", "{'parent':'projects/p/locations/l'}",
		       "/v1/projects/p/locations/l/things", "{}");
	assert_request(things, NULL,
		       "{'parent':'projects/p/locations/l','filter':'a=b c','pageSize':5,'force':true}",
		       "/v1/projects/p/locations/l/things?filter=a%3Db%20c&pageSize=5&force=true", "");
	assert_request("/v1/things/{thing}:cancel", "", "{'parent':'things/1'}", "/v1/things/1:cancel", "{}");
	assert_request("/v1/things/{thing}:do", "", "{'parent':'things/1','pageSize':7}", "/v1/things/1:do",
		       "{'pageSize':7}");
	assert_request("/v1/things:do", "", "{'pageSize':7}", "/v1/things:do", "{'pageSize':7}");
}

/* Characters of a name cannot start a query or another line. */
static void names_are_escaped(void **state)
{
	(void)state;
	assert_request("/v1/{thing}", NULL, "{'parent':'a b?c#d%2F\\r\\n\xc3\xa9'}",
		       "/v1/a%20b%3Fc%23d%252F%0D%0A%C3%A9", "");
	assert_request("/v1/projects/{project}/things", NULL, "{'parent':'projects/example.com:p'}",
		       "/v1/projects/example.com:p/things", "");
}

/* A long name does not use much stack either. */
static void long_names_are_refused(void **state)
{
	enum { BYTES = 2000000 };
	const struct rpc rpc = { .request = &request, .pattern = "**/x" };
	const struct route route = { .path = "/v1/{thing}", .doc = &doc, .rpc = &rpc };
	AUTO(string) char *name = malloc(BYTES + 1);
	AUTO(json) json_t *value = NULL;
	struct text bytes AUTO_TEXT = { 0 };
	struct rpc_request made AUTO_RPC_REQUEST = { 0 };

	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		name[i] = "a/"[i % 2];
	name[BYTES] = '\0';
	value = json_pack("{s:s}", "parent", name);
	assert_int_equal(json_to_binary(&request, value, NULL, &bytes, NULL), STATUS_OK);
	assert_int_equal(rpc_request_make(&route, bytes.data, bytes.length, &made, NULL),
			 STATUS_INVALID_ARGUMENT);
}

/* Each call reaches its own method, or none. */
static void names_are_what_the_call_is_for(void **state)
{
	static const struct {
		const char *path, *pattern, *name;
		bool fits;
	} rows[] = {
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/things/2", true },
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/things", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/things/", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p//things/2", false },
		{ "/v1/p/{a}/things/{b}", NULL, "/p/1/things/2", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/things/2/", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/others/2", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/things/2/operations/3", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/things/2:cancel", false },
		{ "/v1/p/{a}/things/{b}:cancel", NULL, "p/1/things/2:wait", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/a:1/things/2", true },
		{ "/v1/p/{a}/things/{b}", NULL, "", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/1/things/..", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/./things/1", false },
		{ "/v1/p/{a}/things/{b}", NULL, "p/.../things/.a", true },
		{ "/v1/{x}", "p/*/**/operations/*", "p/1/a/operations/2", true },
		{ "/v1/{x}", "p/*/**/operations/*", "p/1/a/b/c/operations/2", true },
		{ "/v1/{x}", "p/*/**/operations/*", "p/1/operations/2", false },
		{ "/v1/{x}", "p/*/**/operations/*", "p/1/a/operations", false },
		{ "/v1/{x}/operations", "p/**", "p/1/a", true },
		{ "/v1/{x}/operations", "p/**", "p", false },
		{ "/v1/{x}/operations", "p/**", "p/1//a", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct rpc rpc = { .request = &request, .pattern = rows[i].pattern };
		const struct route route = { .path = rows[i].path, .doc = &doc, .rpc = &rpc };
		AUTO(json) json_t *value = json_pack("{s:s}", "parent", rows[i].name);
		struct text bytes AUTO_TEXT = { 0 };
		struct rpc_request made AUTO_RPC_REQUEST = { 0 };
		struct error err AUTO_ERROR = { 0 };
		enum status rc;

		assert_int_equal(json_to_binary(&request, value, NULL, &bytes, NULL), STATUS_OK);
		rc = rpc_request_make(&route, bytes.data, bytes.length, &made, &err);
		if (rows[i].fits != (rc == STATUS_OK))
			fail_msg("%s: %s", rows[i].path, rows[i].name);
		if (rc)
			assert_string_equal(err.text, "Invalid resource field value in the request.");
	}
}

static void answers_become_messages(void **state)
{
	const struct route route = { .doc = &doc };
	static const char json[] = "{\"displayName\":\"a\",\"count\":\"300\",\"unknown\":1}";
	struct text bytes AUTO_TEXT = { 0 };
	struct rpc_outcome outcome AUTO_RPC_OUTCOME = { 0 };

	(void)state;
	rpc_answer_read(&route, NULL, 200, json, strlen(json), &bytes, &outcome);
	assert_int_equal(outcome.code, GRPC_OK);
	assert_int_equal(bytes.length, 6);
	assert_memory_equal(bytes.data,
			    "\x0a\x01"
			    "a\x10\xac\x02",
			    6);
}

static void failures_become_outcomes(void **state)
{
	static const struct {
		unsigned http;
		const char *json;
		unsigned code;
		const char *message;
		bool details;
	} rows[] = {
		{ 404, "{'error':{'code':404,'message':'gone','status':'NOT_FOUND'}}", 5, "gone", false },
		{ 400,
		  "{'error':{'code':400,'message':'bad','status':'INVALID_ARGUMENT','details':[{'@type':"
		  "'type.googleapis.com/google.rpc.BadRequest','fieldViolations':[{'field':'a','description':'b'}]}]}}",
		  3, "bad", true },
		{ 429, "{'error':{'code':429,'message':'much','status':'RESOURCE_EXHAUSTED'}}", 8, "much",
		  false },
		{ 502, "{'error':{}}", GRPC_UNKNOWN, "The server answered with HTTP status 502.", false },
		{ 500, "'no error'", GRPC_UNKNOWN, "The server answered with HTTP status 500.", false },
		{ 200, "[", GRPC_INTERNAL, "test.Thing: the value is not a JSON object", false },
		{ 200, "{'displayName':1}", GRPC_INTERNAL,
		  "test.Thing: the value of displayName is of another type", false },
	};
	const struct route route = { .doc = &doc };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *json = quoted(rows[i].json);
		struct text bytes AUTO_TEXT = { 0 };
		struct rpc_outcome outcome AUTO_RPC_OUTCOME = { 0 };

		rpc_answer_read(&route, NULL, rows[i].http, json, strlen(json), &bytes, &outcome);
		assert_int_equal(outcome.code, rows[i].code);
		assert_string_equal(outcome.message.data, rows[i].message);
		assert_int_equal(outcome.details.length > 0, rows[i].details);
		assert_int_equal(bytes.length, 0);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_become_requests),   cmocka_unit_test(names_are_escaped),
		cmocka_unit_test(long_names_are_refused),  cmocka_unit_test(names_are_what_the_call_is_for),
		cmocka_unit_test(answers_become_messages), cmocka_unit_test(failures_become_outcomes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
