/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/unit/testing.h"

#include "api/http/router.h"

#define TEST(name) static void name(void **state_)
#define ROW(method_, path_)                                                                                  \
	{                                                                                                    \
		.method = method_, .path = path_                                                             \
	}

static const struct route ml_routes[] = {
	ROW("POST", "/v1/projects/{project}/jobs"),
	ROW("GET", "/v1/projects/{project}/jobs"),
	ROW("GET", "/v1/projects/{project}/jobs/{job}"),
	ROW("PATCH", "/v1/projects/{project}/jobs/{job}"),
	ROW("POST", "/v1/projects/{project}/jobs/{job}:cancel"),
	ROW("GET", "/v1/projects/{project}:getConfig"),
	ROW(NULL, NULL),
};

static const struct route ml_absent[] = {
	ROW("GET", "/v1/projects/{project}/models"),
	ROW("GET", "/v1/projects/{project}/models/{model}"),
	ROW("POST", "/v1/projects/{project}/models"),
	ROW("DELETE", "/v1/projects/{project}/models/{model}/versions/{version}"),
	ROW("POST", "/v1/projects/{project}/models/{model}:predict"),
	ROW("DELETE", "/v1/projects/{project}/jobs/{job}"),
	ROW(NULL, NULL),
};

static const struct route log_routes[] = { ROW("POST", "/v2/entries:list"), ROW(NULL, NULL) };

static const struct family families[] = {
	{ .name = "ml", .routes = ml_routes, .absent = ml_absent },
	{ .name = "logging", .routes = log_routes },
	{ .name = NULL },
};

static void matches(const char *method, const char *raw, enum match_kind kind, const char *path)
{
	struct target target = { 0 };
	struct match match;

	assert_int_equal(target_parse(raw, &target, NULL), STATUS_OK);
	match = router_match(families, method, &target);
	assert_int_equal(match.kind, kind);
	if (path)
		assert_string_equal(match.route->path, path);
	target_deinit(&target);
}

TEST(a_request_finds_its_row)
{
	(void)state_;
	matches("POST", "/v1/projects/p/jobs", MATCH_ROUTE, "/v1/projects/{project}/jobs");
	matches("GET", "/v1/projects/p/jobs/j?alt=json", MATCH_ROUTE, "/v1/projects/{project}/jobs/{job}");
	matches("HEAD", "/v1/projects/p/jobs/j", MATCH_ROUTE, "/v1/projects/{project}/jobs/{job}");
	matches("POST", "/v1/projects/p/jobs/j:cancel", MATCH_ROUTE,
		"/v1/projects/{project}/jobs/{job}:cancel");
	matches("GET", "/v1/projects/p:getConfig", MATCH_ROUTE, "/v1/projects/{project}:getConfig");
	matches("POST", "/v2/entries:list", MATCH_ROUTE, "/v2/entries:list");
}

TEST(an_encoded_colon_is_part_of_the_name)
{
	(void)state_;
	matches("GET", "/v1/projects/p/jobs/j%3Acancel", MATCH_ROUTE, "/v1/projects/{project}/jobs/{job}");
	matches("POST", "/v1/projects/p/jobs/j%3Acancel", MATCH_METHODS, NULL);
}

TEST(an_unknown_verb_is_part_of_the_name)
{
	(void)state_;
	matches("GET", "/v1/projects/example.com:p/jobs/j:x", MATCH_ROUTE,
		"/v1/projects/{project}/jobs/{job}");
}

TEST(an_unknown_path_matches_nothing)
{
	static const char *const paths[] = {
		"/",
		"/v1",
		"/v1/",
		"/v1/projects/p/jobs/",
		"/v1/projects//jobs",
		"/v1/projects/p/jobs/j/x",
		"/v2/entries",
		"/v2/entries:LIST",
		"/v1/projects/p/jobs/:cancel",
		"//v1/projects/p/jobs",
		"/v1/projectsx/p/jobs",
		"/v1/project/p/jobs",
		"/v1/projects/p%2Fjobs",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		matches("GET", paths[i], MATCH_NOTHING, NULL);
}

TEST(a_wrong_method_is_told_the_right_ones)
{
	struct error err AUTO_ERROR = { 0 };
	enum refusal refusal = REFUSAL_BY_STATUS;
	struct target target = { 0 };
	struct match match;

	(void)state_;
	assert_int_equal(target_parse("/v1/projects/p/jobs", &target, NULL), STATUS_OK);
	match = router_match(families, "PUT", &target);
	assert_int_equal(match.kind, MATCH_METHODS);
	assert_string_equal(match.allow, "POST, GET, HEAD");
	match_refuse(&match, "PUT", &target, &refusal, &err);
	assert_int_equal(refusal, REFUSAL_METHOD_NOT_ALLOWED);
	target_deinit(&target);
}

TEST(params_are_decoded_and_found_by_name)
{
	struct target target = { 0 };
	struct match match;
	struct call call = { 0 };

	(void)state_;
	assert_int_equal(target_parse("/v1/projects/a%20b/jobs/c%2Fd:cancel", &target, NULL), STATUS_OK);
	match = router_match(families, "POST", &target);
	assert_int_equal(match.kind, MATCH_ROUTE);
	memcpy(call.params, match.params, sizeof(call.params));
	call.param_count = match.param_count;
	assert_string_equal(call_param(&call, "project"), "a b");
	assert_string_equal(call_param(&call, "job"), "c/d");
	assert_null(call_param(&call, "jobs"));
	assert_null(call_param(&call, "proj"));
	target_deinit(&target);
}

TEST(a_method_that_only_the_real_service_has_is_named)
{
	static const struct {
		const char *method, *path, *name;
	} cases[] = {
		{ "GET", "/v1/projects/p/models", " projects.models.list " },
		{ "GET", "/v1/projects/p/models/m", " projects.models.get " },
		{ "POST", "/v1/projects/p/models", " projects.models.create " },
		{ "DELETE", "/v1/projects/p/models/m/versions/v", " projects.models.versions.delete " },
		{ "POST", "/v1/projects/p/models/m:predict", " projects.models.predict " },
		{ "DELETE", "/v1/projects/p/jobs/j", " projects.jobs.delete " },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error err AUTO_ERROR = { 0 };
		enum refusal refusal = REFUSAL_BY_STATUS;
		struct target target = { 0 };
		struct match match;

		assert_int_equal(target_parse(cases[i].path, &target, NULL), STATUS_OK);
		match = router_match(families, cases[i].method, &target);
		assert_int_equal(match_refuse(&match, cases[i].method, &target, &refusal, &err),
				 STATUS_NOT_FOUND);
		assert_int_equal(match.kind, MATCH_ABSENT);
		assert_non_null(strstr(err.text, cases[i].name));
		assert_int_equal(refusal, REFUSAL_BY_STATUS);
		target_deinit(&target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_finds_its_row),
		cmocka_unit_test(an_encoded_colon_is_part_of_the_name),
		cmocka_unit_test(an_unknown_verb_is_part_of_the_name),
		cmocka_unit_test(an_unknown_path_matches_nothing),
		cmocka_unit_test(a_wrong_method_is_told_the_right_ones),
		cmocka_unit_test(params_are_decoded_and_found_by_name),
		cmocka_unit_test(a_method_that_only_the_real_service_has_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
