/* SPDX-License-Identifier: Apache-2.0 */
/* Fault rules: their members, what they match, and when they apply. */
#include "scheduler/faults/fault.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

static struct fault_rule *rule_of(const char *text)
{
	AUTO(json) json_t *canonical = json_loads(text, 0, NULL);
	struct fault_rule *rule = NULL;
	struct error err AUTO_ERROR = { 0 };

	assert_non_null(canonical);
	if (fault_rule_read(canonical, &rule, &err))
		fail_msg("%s: %s", text, err.text);
	rule->id = 3;
	return rule;
}

static const struct fault_context worker_1 = {
	.stage = STAGE_RUNNING,
	.project = "demo",
	.job_names = { "train_7", "My training", NULL },
	.trial = 2,
	.key.attempt = 3,
	.key.job = 11,
	.key.role = ROLE_WORKER,
	.key.index = 1,
	.running_us = 2000000,
};

/* Fails with: fault_glob_fits() without '?'; that does not try again after a star; that wants bytes for a last star. */
static void names_fit_globs(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool fits;
	} cases[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "*", "a/b", true },
		{ "a*c", "abbc", true },
		{ "a*c", "abcb", false },
		{ "a*b*c", "axbyc", true },
		{ "a?c", "abc", true },
		{ "a?c", "ac", false },
		{ "*.create", "ml.projects.jobs.create", true },
		{ "ml.*.get", "ml.projects.jobs.create", false },
		{ "a**", "a", true },
		{ "*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		if (fault_glob_fits(cases[i].pattern, cases[i].name) != cases[i].fits)
			fail_msg("%s and %s", cases[i].pattern, cases[i].name);
}

/* Fails with: fault_fits() without any one of its questions; is_named() that looks at one name alone. */
static void a_rule_fits_whom_it_names(void **state)
{
	static const struct {
		const char *rule;
		bool fits;
	} cases[] = {
		{ "{\"fault\": \"oom\"}", true },
		{ "{\"fault\": \"oom\", \"project\": \"demo\", \"job\": \"train_*\"}", true },
		{ "{\"fault\": \"oom\", \"job\": \"My training\"}", true },
		{ "{\"fault\": \"oom\", \"job\": \"training\"}", false },
		{ "{\"fault\": \"oom\", \"project\": \"other\"}", false },
		{ "{\"fault\": \"oom\", \"role\": \"worker\", \"replica\": 1}", true },
		{ "{\"fault\": \"oom\", \"pool\": \"workerpool1\"}", true },
		{ "{\"fault\": \"oom\", \"role\": \"worker\", \"replica\": 0}", false },
		{ "{\"fault\": \"oom\", \"role\": \"master\"}", false },
		{ "{\"fault\": \"oom\", \"pool\": \"workerpool2\"}", false },
		{ "{\"fault\": \"oom\", \"trial\": 2, \"attempt\": 3}", true },
		{ "{\"fault\": \"oom\", \"trial\": 1}", false },
		{ "{\"fault\": \"oom\", \"attempt\": 1}", false },
		{ "{\"fault\": \"stockout\"}", false },
		{ "{\"fault\": \"httpStatus\", \"httpStatus\": 503, \"method\": \"*\"}", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(fault_rule) struct fault_rule *rule = rule_of(cases[i].rule);

		if (fault_fits(rule, &worker_1) != cases[i].fits)
			fail_msg("%s", cases[i].rule);
	}
}

/* Fails with: fault_fits() that does not ask creates_job, or for no method. */
static void only_calls_that_make_jobs_want_quota(void **state)
{
	AUTO(fault_rule) struct fault_rule *quota = rule_of("{\"fault\": \"quota\"}");
	AUTO(fault_rule)
	struct fault_rule *answer =
		rule_of("{\"fault\": \"httpStatus\", \"httpStatus\": 500, \"method\": \"ml.*.create\"}");
	struct fault_context context = { .stage = STAGE_CALL, .method = "ml.projects.jobs.create" };

	(void)state;
	assert_true(fault_fits(answer, &context));
	assert_false(fault_fits(quota, &context));
	context.creates_job = true;
	assert_true(fault_fits(quota, &context));
	context.method = "ml.projects.jobs.get";
	assert_false(fault_fits(answer, &context));
}

/* Fails with: fault_wait_us() that hits at once; that tells the whole time as left; that needs no line. */
static void time_and_lines_say_when(void **state)
{
	AUTO(fault_rule) struct fault_rule *now = rule_of("{\"fault\": \"preempt\"}");
	AUTO(fault_rule)
	struct fault_rule *later = rule_of("{\"fault\": \"preempt\", \"afterSeconds\": 2.5}");
	AUTO(fault_rule) struct fault_rule *line = rule_of("{\"fault\": \"preempt\", \"logPattern\": \"x\"}");
	struct fault_context context = worker_1;

	(void)state;
	assert_int_equal(fault_wait_us(now, &context, false), 0);
	assert_int_equal(fault_wait_us(later, &context, false), 500000);
	context.running_us = 2500000;
	assert_int_equal(fault_wait_us(later, &context, false), 0);
	assert_int_equal(fault_wait_us(line, &context, false), -1);
	assert_int_equal(fault_wait_us(line, &context, true), 0);
}

/* Fails with: fault_drawn() without the seed; that is always true; that draws for what is certain; a rule of chance that hits
 * once. */
static void luck_depends_on_seed_rule_and_context_alone(void **state)
{
	AUTO(fault_rule) struct fault_rule *rule = rule_of("{\"fault\": \"oom\", \"probability\": 0.25}");
	AUTO(fault_rule) struct fault_rule *sure = rule_of("{\"fault\": \"oom\"}");
	struct fault_context context = worker_1;
	unsigned injections = 0, others = 0;

	(void)state;
	assert_int_equal(rule->count, 0);
	assert_int_equal(sure->count, 1);
	for (int64_t job = 0; job < 4000; job++) {
		context.key.job = job;
		injections += fault_drawn(rule, &context, 1, 0);
		others += fault_drawn(rule, &context, 1, 0) != fault_drawn(rule, &context, 2, 0);
		assert_true(fault_drawn(rule, &context, 1, 0) == fault_drawn(rule, &context, 1, 0));
		assert_true(fault_drawn(sure, &context, 1, 0));
	}
	assert_in_range(injections, 850, 1150);
	assert_in_range(others, 1000, 2000);
}

/* Fails with: fault_drawn() without the restart: a container that was hit once was hit whenever it was started anew. */
static void each_container_has_a_draw_of_its_own(void **state)
{
	AUTO(fault_rule) struct fault_rule *rule = rule_of("{\"fault\": \"oom\", \"probability\": 0.5}");
	struct fault_context context = worker_1;
	unsigned injections[3] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		context = worker_1;
		context.key.restart = i;
		injections[0] += fault_drawn(rule, &context, 1, 0);
		context = worker_1;
		context.key.attempt = i;
		injections[1] += fault_drawn(rule, &context, 1, 0);
		context = worker_1;
		context.key.index = i;
		injections[2] += fault_drawn(rule, &context, 1, 0);
	}
	for (size_t i = 0; i < COUNT_OF(injections); i++)
		assert_in_range(injections[i], 8, 56);
}

/* Fails with: what_read() that gives oom, or a crash, no code. */
static void ends_have_their_codes(void **state)
{
	static const struct {
		const char *rule;
		int code;
	} cases[] = {
		{ "{\"fault\": \"exit\", \"exitCode\": 0}", 0 },
		{ "{\"fault\": \"exit\", \"exitCode\": 255}", 255 },
		{ "{\"fault\": \"crash\"}", 139 },
		{ "{\"fault\": \"crash\", \"exitCode\": 6}", 6 },
		{ "{\"fault\": \"oom\"}", 137 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(fault_rule) struct fault_rule *rule = rule_of(cases[i].rule);

		assert_int_equal(rule->exit_code, cases[i].code);
	}
}

/* Fails with: what_read() that reads no rate; slowNetwork at STAGE_RUNNING. */
static void a_slow_network_has_its_speed(void **state)
{
	AUTO(fault_rule)
	struct fault_rule *least = rule_of("{\"fault\": \"slowNetwork\", \"bytesPerSecond\": \"2000\"}");
	AUTO(fault_rule)
	struct fault_rule *most = rule_of("{\"fault\": \"slowNetwork\", \"bytesPerSecond\": 4000000000}");
	struct fault_context context = worker_1;

	(void)state;
	assert_int_equal(least->bytes_per_s, 2000);
	assert_int_equal(most->bytes_per_s, 4000000000);
	assert_false(fault_fits(least, &context));
	context.stage = STAGE_NETWORK;
	assert_true(fault_fits(least, &context));
}

/* Fails with: kind_read(), who_read(), when_read(), pattern_check() without one of what they refuse. */
static void what_cannot_be_is_refused_with_its_field(void **state)
{
	static const struct {
		const char *rule, *field;
	} cases[] = {
		{ "{}", "fault" },
		{ "{\"fault\": \"slowNetwork\"}", "bytes_per_second" },
		{ "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": \"1999\"}", "bytes_per_second" },
		{ "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": \"4000000001\"}", "bytes_per_second" },
		{ "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": \"-1\"}", "bytes_per_second" },
		{ "{\"fault\": \"cutNetwork\", \"bytesPerSecond\": \"20000\"}", "bytes_per_second" },
		{ "{\"fault\": \"cutNetwork\", \"exitCode\": 5}", "exit_code" },
		{ "{\"fault\": \"exit\"}", "exit_code" },
		{ "{\"fault\": \"exit\", \"exitCode\": 256}", "exit_code" },
		{ "{\"fault\": \"exit\", \"exitCode\": -1}", "exit_code" },
		{ "{\"fault\": \"crash\", \"exitCode\": 1}", "exit_code" },
		{ "{\"fault\": \"preempt\", \"exitCode\": 1}", "exit_code" },
		{ "{\"fault\": \"preempt\", \"seconds\": 1}", "seconds" },
		{ "{\"fault\": \"stockout\", \"seconds\": 86401}", "seconds" },
		{ "{\"fault\": \"stockout\", \"seconds\": \"NaN\"}", "seconds" },
		{ "{\"fault\": \"stockout\", \"role\": \"worker\"}", "role" },
		{ "{\"fault\": \"oom\", \"role\": \"boss\"}", "role" },
		{ "{\"fault\": \"oom\", \"pool\": \"workerpool4\"}", "pool" },
		{ "{\"fault\": \"oom\", \"replica\": -1}", "replica" },
		{ "{\"fault\": \"oom\", \"trial\": -1}", "trial" },
		{ "{\"fault\": \"oom\", \"trial\": 0}", "trial" },
		{ "{\"fault\": \"oom\", \"attempt\": -1}", "attempt" },
		{ "{\"fault\": \"oom\", \"attempt\": 0}", "attempt" },
		{ "{\"fault\": \"stockout\", \"attempt\": 2}", "attempt" },
		{ "{\"fault\": \"stockout\", \"seconds\": 0}", "seconds" },
		{ "{\"fault\": \"cutNetwork\", \"seconds\": 0.0000001}", "seconds" },
		{ "{\"fault\": \"oom\", \"afterSeconds\": -1}", "after_seconds" },
		{ "{\"fault\": \"oom\", \"logPattern\": \"(\"}", "log_pattern" },
		{ "{\"fault\": \"oom\", \"count\": -1}", "count" },
		{ "{\"fault\": \"oom\", \"count\": 0}", "count" },
		{ "{\"fault\": \"oom\", \"count\": 1000001}", "count" },
		{ "{\"fault\": \"oom\", \"probability\": 0}", "probability" },
		{ "{\"fault\": \"oom\", \"probability\": 1.5}", "probability" },
		{ "{\"fault\": \"timeout\"}", "method" },
		{ "{\"fault\": \"httpStatus\", \"method\": \"*\"}", "http_status" },
		{ "{\"fault\": \"httpStatus\", \"method\": \"*\", \"httpStatus\": 200}", "http_status" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(json) json_t *canonical = json_loads(cases[i].rule, 0, NULL);
		struct fault_rule *rule = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(fault_rule_read(canonical, &rule, &err), STATUS_INVALID_ARGUMENT);
		assert_null(rule);
		assert_int_equal(err.violation_count, 1);
		assert_string_equal(err.violations[0].field, cases[i].field);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_fit_globs),
		cmocka_unit_test(a_rule_fits_whom_it_names),
		cmocka_unit_test(only_calls_that_make_jobs_want_quota),
		cmocka_unit_test(time_and_lines_say_when),
		cmocka_unit_test(luck_depends_on_seed_rule_and_context_alone),
		cmocka_unit_test(each_container_has_a_draw_of_its_own),
		cmocka_unit_test(ends_have_their_codes),
		cmocka_unit_test(a_slow_network_has_its_speed),
		cmocka_unit_test(what_cannot_be_is_refused_with_its_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
