/* SPDX-License-Identifier: Apache-2.0 */
/* The three methods for policies of jobs, on a store. */
#include "tests/unit/api/ml/ml_testing.h"

#define JOB  "/v1/projects/demo/jobs/a"
#define GET  JOB ":getIamPolicy"
#define SET  JOB ":setIamPolicy"
#define TEST JOB ":testIamPermissions"

#define VIEWERS   "{'role':'roles/ml.viewer','members':['user:a@b.c']}"
#define OWNERS    "{'role':'roles/ml.jobOwner','members':['user:a@b.c'],'condition':" CONDITION "}"
#define CONDITION "{'expression':'true','title':'t'}"
#define AUDITS    "[{'service':'allServices','auditLogConfigs':[{'logType':'DATA_READ'}]}]"

enum { HUGE_BYTES = 256 * 1024 };

/* Sets the policy; returns the new etag. */
static char *set(struct bench *bench, const char *policy, const char *mask)
{
	AUTO(json) json_t *answer = NULL;
	AUTO(string) char *body = NULL;

	assert_true(asprintf(&body, "{'policy':%s,'updateMask':'%s'}", policy, mask) > 0);
	if (ml_call(bench, "POST", SET, body, &answer))
		fail_msg("%s: %s", body, bench->err.text);
	return strdup(json_text_at(answer, "etag"));
}

static void assert_policy(struct bench *bench, int version, const char *etag, const char *rest)
{
	AUTO(string) char *expected = NULL;
	AUTO(string) char *address = NULL;

	assert_true(asprintf(&address, GET "?options.requestedPolicyVersion=%d", version) > 0);
	assert_true(asprintf(&expected, rest, etag) > 0);
	assert_answer(bench, "GET", address, NULL, expected);
}

static void a_job_has_an_empty_policy_at_first(void **state)
{
	BENCH(state);

	job_add(bench, "a");
	assert_answer(bench, "GET", GET, NULL, "{'etag':'ACAB'}");
	assert_answer(bench, "GET", "/v1/projects/123456789012/jobs/a:getIamPolicy", NULL, "{'etag':'ACAB'}");
	assert_no(bench, "GET", "/v1/projects/demo/jobs/b:getIamPolicy", NULL, STATUS_NOT_FOUND, "resource");
}

static void versions_are_zero_one_and_three(void **state)
{
	static const char *const bad[] = { "2", "4", "-1" };
	BENCH(state);

	job_add(bench, "a");
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO(string) char *address = NULL;

		assert_true(asprintf(&address, GET "?options.requestedPolicyVersion=%s", bad[i]) > 0);
		assert_no(bench, "GET", address, NULL, STATUS_INVALID_ARGUMENT,
			  "options.requested_policy_version");
	}
	assert_policy(bench, 0, "ACAB", "{'etag':'%s'}");
	assert_policy(bench, 1, "ACAB", "{'etag':'%s'}");
	assert_policy(bench, 3, "ACAB", "{'etag':'%s'}");
}

static void a_policy_replaces_the_one_before(void **state)
{
	BENCH(state);
	AUTO(string) char *first = NULL;
	AUTO(string) char *second = NULL;

	job_add(bench, "a");
	first = set(bench, "{'bindings':[" VIEWERS "]}", "");
	assert_policy(bench, 0, first, "{'version':1,'etag':'%s','bindings':[" VIEWERS "]}");
	second = set(bench, "{}", "");
	assert_string_not_equal(first, second);
	assert_policy(bench, 3, second, "{'version':1,'etag':'%s'}");
}

static void the_mask_says_what_is_replaced(void **state)
{
	BENCH(state);
	AUTO(string) char *a = NULL;
	AUTO(string) char *b = NULL;
	AUTO(string) char *c = NULL;

	job_add(bench, "a");
	a = set(bench, "{'bindings':[" VIEWERS "],'auditConfigs':" AUDITS "}", "bindings,etag");
	assert_policy(bench, 1, a, "{'version':1,'etag':'%s','bindings':[" VIEWERS "]}");
	b = set(bench, "{'etag':'ACAB','auditConfigs':" AUDITS "}", "audit_configs");
	assert_policy(bench, 1, b,
		      "{'version':1,'etag':'%s','bindings':[" VIEWERS "],'auditConfigs':" AUDITS "}");
	c = set(bench, "{}", "bindings,auditConfigs,etag,version");
	assert_policy(bench, 1, c, "{'version':1,'etag':'%s'}");
	assert_no(bench, "POST", SET, "{'policy':{},'updateMask':'role'}", STATUS_INVALID_ARGUMENT,
		  "update_mask");
	assert_no(bench, "POST", SET, "{'policy':{},'updateMask':'*'}", STATUS_INVALID_ARGUMENT,
		  "update_mask");
}

static void a_stale_etag_is_a_conflict(void **state)
{
	BENCH(state);
	AUTO(string) char *etag = NULL;
	AUTO(string) char *body = NULL;

	job_add(bench, "a");
	etag = set(bench, "{'etag':'ACAB','bindings':[" VIEWERS "]}", "");
	assert_no(bench, "POST", SET, "{'policy':{'etag':'ACAB'}}", STATUS_ABORTED, "policy.etag");
	assert_true(asprintf(&body, "{'policy':{'etag':'%s'}}", etag) > 0);
	assert_policy(bench, 1, etag, "{'version':1,'etag':'%s','bindings':[" VIEWERS "]}");
	free(etag);
	etag = set(bench, "{'etag':'ACAB'}", "bindings"); /* the etag is not in the mask, so it is not compared */
	assert_no(bench, "POST", SET, body, STATUS_ABORTED, "policy.etag");
}

static void conditions_are_shown_to_who_asks_for_version_3(void **state)
{
	BENCH(state);
	AUTO(string) char *etag = NULL;
	AUTO(string) char *again = NULL;
	AUTO(json) json_t *older = NULL;
	const json_t *binding;
	const char *role;

	job_add(bench, "a");
	etag = set(bench, "{'version':3,'bindings':[" OWNERS "," VIEWERS "]}", "");
	assert_policy(bench, 3, etag, "{'version':3,'etag':'%s','bindings':[" OWNERS "," VIEWERS "]}");
	assert_int_equal(ml_call(bench, "GET", GET, NULL, &older), STATUS_OK);
	assert_int_equal(json_int_at(older, "version", 0), 1);
	binding = json_array_get(json_object_get(older, "bindings"), 0);
	role = json_text_at(binding, "role");
	assert_null(json_object_get(binding, "condition"));
	assert_int_equal(strncmp(role, "roles/ml.jobOwner_withcond_", 27), 0);
	assert_int_equal(strspn(role + 27, "0123456789abcdef"), 20);
	assert_int_equal(strlen(role), 47);
	assert_string_equal(json_text_at(json_array_get(json_object_get(older, "bindings"), 1), "role"),
			    "roles/ml.viewer");
	again = set(bench, "{'version':3,'bindings':[" VIEWERS "]}", "");
	assert_policy(bench, 3, again, "{'version':1,'etag':'%s','bindings':[" VIEWERS "]}");
}

static void who_changes_conditions_must_know_of_them(void **state)
{
	BENCH(state);
	AUTO(string) char *etag = NULL;
	AUTO(string) char *body = NULL;

	job_add(bench, "a");
	etag = set(bench, "{'version':3,'bindings':[" OWNERS "]}", "");
	assert_true(asprintf(&body, "{'policy':{'version':1,'etag':'%s'}}", etag) > 0);
	assert_no(bench, "POST", SET, body, STATUS_INVALID_ARGUMENT, "policy.version");
	free(etag);
	etag = set(bench, "{'version':1}", ""); /* without an etag the policy is replaced, with its conditions */
	assert_policy(bench, 3, etag, "{'version':1,'etag':'%s'}");
}

static void what_is_no_policy_is_refused(void **state)
{
	BENCH(state);
	AUTO(json) json_t *huge = NULL;
	AUTO(string) char *text = NULL;
	AUTO(string) char *words = malloc(HUGE_BYTES);

	job_add(bench, "a");
	memset(words, 'x', HUGE_BYTES - 1);
	words[HUGE_BYTES - 1] = '\0';
	huge = json_pack("{s:{s:i, s:[{s:s, s:[s], s:{s:s, s:s}}]}}", "policy", "version", 3, "bindings",
			 "role", "roles/a", "members", "allUsers", "condition", "title", "t", "expression",
			 words);
	text = json_dump_compact(huge);
	assert_no(bench, "POST", SET, text, STATUS_INVALID_ARGUMENT, "policy");
	assert_no(bench, "POST", SET, "{}", STATUS_INVALID_ARGUMENT, "policy");
	assert_no(bench, "POST", SET, "{'policy':{'bindings':[{'role':'roles/a'}]}}", STATUS_INVALID_ARGUMENT,
		  "policy.bindings[0].members");
	assert_no(bench, "POST", SET, "{'policy':{'binding':[]}}", STATUS_INVALID_ARGUMENT, "policy");
	assert_no(bench, "POST", "/v1/projects/demo/jobs/b:setIamPolicy", "{'policy':{}}", STATUS_NOT_FOUND,
		  "resource");
	assert_answer(bench, "GET", GET, NULL, "{'etag':'ACAB'}");
}

static void permissions_are_those_that_jobs_have(void **state)
{
	BENCH(state);

	job_add(bench, "a");
	assert_answer(
		bench, "POST", TEST,
		"{'permissions':['ml.jobs.update','ml.jobs.get','ml.jobs.get','ml.models.get','','ML.JOBS.GET']}",
		"{'permissions':['ml.jobs.update','ml.jobs.get']}");
	assert_answer(
		bench, "POST", TEST,
		"{'permissions':['ml.jobs.create','ml.jobs.list','ml.jobs.cancel','ml.jobs.getIamPolicy',"
		"'ml.jobs.setIamPolicy','ml.projects.getConfig','ml.locations.get']}",
		"{'permissions':['ml.jobs.create','ml.jobs.list','ml.jobs.cancel','ml.jobs.getIamPolicy',"
		"'ml.jobs.setIamPolicy']}");
	assert_answer(bench, "POST", TEST, "{'permissions':['ml.jobs.fly']}", "{}");
	assert_answer(bench, "POST", TEST, "{}", "{}");
}

static void nobody_may_do_anything_with_a_job_that_is_not_there(void **state)
{
	BENCH(state);

	assert_answer(bench, "POST", TEST, "{'permissions':['ml.jobs.get']}", "{}");
}

static void permissions_have_no_wildcards(void **state)
{
	BENCH(state);

	assert_no(bench, "POST", TEST, "{'permissions':['ml.jobs.get','ml.*']}", STATUS_INVALID_ARGUMENT,
		  "permissions[1]");
	assert_no(bench, "POST", TEST, "{'permissions':['*','*']}", STATUS_INVALID_ARGUMENT,
		  "permissions[0]");
	assert_int_equal(bench->err.violation_count, 2);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(a_job_has_an_empty_policy_at_first),
		WITH_BENCH(versions_are_zero_one_and_three),
		WITH_BENCH(a_policy_replaces_the_one_before),
		WITH_BENCH(the_mask_says_what_is_replaced),
		WITH_BENCH(a_stale_etag_is_a_conflict),
		WITH_BENCH(conditions_are_shown_to_who_asks_for_version_3),
		WITH_BENCH(who_changes_conditions_must_know_of_them),
		WITH_BENCH(what_is_no_policy_is_refused),
		WITH_BENCH(permissions_are_those_that_jobs_have),
		WITH_BENCH(nobody_may_do_anything_with_a_job_that_is_not_there),
		WITH_BENCH(permissions_have_no_wildcards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
