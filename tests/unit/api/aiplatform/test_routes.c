/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/aiplatform.h"
#include "api/grpc/rpc.h"
#include "api/http/router.h"
#include "api/message/discovery.h"
#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/api/aiplatform/aiplatform_testing.h"

static const struct family families[] = {
	{ .name = "v1",
	  .routes = aiplatform_routes,
	  .absent = aiplatform_absent,
	  .under = AIPLATFORM_UNDER("/v1") },
	{ .name = "v1beta1",
	  .routes = aiplatform_beta_routes,
	  .absent = aiplatform_beta_absent,
	  .under = AIPLATFORM_UNDER("/v1beta1") },
	{ .name = "ui", .routes = aiplatform_other_routes },
	{ .name = NULL },
};

/* A resource name for the row's path, with "x" for each {name}. With @pattern: "x" for a star, @many for two stars. */
static json_t *request_of(const struct route *route, const char *many)
{
	const char *pattern = route->rpc->pattern ? route->rpc->pattern : strchr(route->path + 1, '/') + 1;
	const char *end = route->rpc->pattern ? strchr(pattern, '\0') : strrchr(pattern, '}') + 1;
	struct text name AUTO_TEXT = { 0 };

	for (const char *c = pattern; c < end; c++) {
		if (*c == '{') {
			text_putc(&name, 'x');
			c = strchr(c, '}');
		} else if (*c != '*') {
			text_putc(&name, *c);
		} else if (c[1] != '*') {
			text_puts(&name, c[-1] == '*' ? many : "x");
		}
	}
	return json_pack("{s:s}", route->doc ? route->doc->resource : route->rpc->resource, name.data);
}

static void assert_reached(const struct route *route, const char *many)
{
	AUTO(json) json_t *value = request_of(route, many);
	struct text bytes AUTO_TEXT = { 0 };
	struct rpc_request request AUTO_RPC_REQUEST = { 0 };
	struct target target;
	struct match match;

	assert_int_equal(json_to_binary(route->rpc->request, value, NULL, &bytes, NULL), STATUS_OK);
	assert_int_equal(rpc_request_make(route, bytes.data, bytes.length, &request, NULL), STATUS_OK);
	assert_int_equal(target_parse(request.target.data, &target, NULL), STATUS_OK);
	match = router_match(families, route->method, &target);
	if (match.kind != MATCH_ROUTE || match.route->handler != route->handler)
		fail_msg("%s: not at %s", route->rpc->path, request.target.data);
	target_deinit(&target);
}

static void assert_under(const struct route *routes, const char *under)
{
	for (const struct route *route = routes; route && route->method; route++) {
		const char end =
			strncmp(route->path, under, strlen(under)) ? 'x' : route->path[strlen(under)];

		if (end && end != '/')
			fail_msg("%s is not under %s", route->path, under);
	}
}

/* The router skips a family if its common path does not match. */
static void every_path_begins_as_its_family_says(void **state)
{
	(void)state;
	for (const struct family *family = families; family->under; family++) {
		assert_under(family->routes, family->under);
		assert_under(family->absent, family->under);
	}
}

/* Each call must reach the method of that name. */
static void every_call_reaches_its_method(void **state)
{
	unsigned count = 0;

	(void)state;
	for (const struct family *family = families; family->name; family++)
		for (const struct route *route = family->routes; route->method; route++) {
			if (!route->rpc)
				continue;
			count++;
			assert_ptr_equal(rpc_route_find(families, route->rpc->path), route);
			assert_reached(route, "x");
			if (route->rpc->pattern)
				assert_reached(route, "x/customJobs/1");
		}
	assert_int_equal(count, 2 * (3 * 5 + 4) + 7);
}

/* Each version of the API has its own form of operations. */
static void operations_carry_their_metadata(void **state)
{
	static const char *const versions[] = { "v1", "v1beta1" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(versions); i++) {
		AUTO(json)
		json_t *operation = json_pack("{s:{s:s+, s:{s:s}}}", "metadata", "@type",
					      "type.googleapis.com/google.cloud.aiplatform.", versions[i],
					      "genericMetadata", "createTime", "2026-01-05T10:00:00Z");
		json_t *metadata = json_object_get(operation, "metadata");
		struct text bytes AUTO_TEXT = { 0 };

		json_object_set_new(metadata, "@type",
				    json_sprintf("%s.DeleteOperationMetadata",
						 json_string_value(json_object_get(metadata, "@type"))));
		assert_int_equal(
			json_to_binary(&aiplatform_operation, operation, aiplatform_any, &bytes, NULL),
			STATUS_OK);
		/* value = 2 of the Any: genericMetadata = 1: createTime = 2: seconds = 1 */
		assert_non_null(memmem(bytes.data, bytes.length, "\x12\x0a\x0a\x08\x12\x06\x08", 7));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_path_begins_as_its_family_says),
		cmocka_unit_test(every_call_reaches_its_method),
		cmocka_unit_test(operations_carry_their_metadata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
