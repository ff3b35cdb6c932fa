/* SPDX-License-Identifier: Apache-2.0 */
/* The uses of rules: counted up to their limit, restored from the store, and taken back. */
#include "scheduler/faults/fault_registry.h"

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/engine/engine.h"
#include "store/jobs/faults.h"
#include "tests/unit/scheduler/mark_testing.h"
#include "tests/unit/store/store_testing.h"

static struct fault_registry *registry_of(struct bench *bench)
{
	struct fault_registry *registry = NULL;

	assert_int_equal(fault_registry_open(bench->store, 1, &registry, &bench->err), STATUS_OK);
	return registry;
}

static int64_t rule_add(struct bench *bench, struct fault_registry *registry, const char *text)
{
	AUTO(json) json_t *canonical = json_loads(text, 0, NULL);
	int64_t id = 0;

	assert_int_equal(fault_registry_add(registry, canonical, false, &id, &bench->err), STATUS_OK);
	return id;
}

static const struct fault_context call = { .stage = STAGE_CALL, .method = "ml.projects.jobs.get" };

static bool injections(struct fault_registry *registry, const struct fault_context *context,
		       int64_t *ret_wait_us)
{
	struct fault_order order;

	return fault_registry_take(registry, context, &order, ret_wait_us);
}

#define ANSWER "{\"fault\": \"httpStatus\", \"httpStatus\": 503, \"method\": \"ml.*\", \"count\": 2}"

/* Fails with: is_used_up() that is false; stored_take() that begins with injections 0; fault_registry_count() that stores nothing;
 * fault_registry_return() that gives nothing back. */
static void a_rule_is_used_up_and_its_injections_outlive_the_registry(void **state)
{
	BENCH(state);
	struct fault_registry *registry = registry_of(bench);
	struct fault_order order;
	int64_t wait_us, id = rule_add(bench, registry, ANSWER);

	assert_false(fault_registry_is_empty(registry));
	assert_true(fault_registry_take(registry, &call, &order, &wait_us));
	assert_int_equal(order.rule, id);
	assert_int_equal(order.http_status, 503);
	assert_int_equal(fault_registry_count(registry, id, &bench->err), STATUS_OK);
	fault_registry_free(registry);
	registry = registry_of(bench);
	assert_true(injections(registry, &call, &wait_us));
	assert_false(injections(registry, &call, &wait_us));
	fault_registry_return(registry, id);
	assert_true(injections(registry, &call, &wait_us));
	fault_registry_free(registry);
}

/* Fails with: fault_registry_remove() that leaves the rule in the book, or in the store; fault_registry_clear() that leaves the
 * book as it is. */
static void rules_are_taken_back(void **state)
{
	BENCH(state);
	struct fault_registry *registry = registry_of(bench);
	struct fault_order order;
	int64_t wait_us, first = rule_add(bench, registry, ANSWER),
			 second = rule_add(bench, registry, ANSWER);

	assert_true(second > first);
	assert_int_equal(fault_registry_remove(registry, first, &bench->err), STATUS_OK);
	assert_int_equal(fault_registry_remove(registry, first, &bench->err), STATUS_NOT_FOUND);
	assert_true(fault_registry_take(registry, &call, &order, &wait_us));
	assert_int_equal(order.rule, second);
	assert_int_equal(fault_registry_clear(registry, &bench->err), STATUS_OK);
	assert_true(fault_registry_is_empty(registry));
	assert_false(injections(registry, &call, &wait_us));
	assert_true(rule_add(bench, registry, ANSWER) > second); /* ids are never reused */
	fault_registry_free(registry);
}

/* Fails with: page_mark() that marks twice, or looks beyond the line's end; is_marked() that does not look at restart. */
static void a_line_marks_its_container_once(void **state)
{
	BENCH(state);
	struct fault_registry *registry = registry_of(bench);
	const struct replica_key key = { .job = 5, .attempt = 1, .role = ROLE_WORKER, .index = 2 };
	struct replica_line line = { .key = key, .data = "step 100 done", .length = 13 };
	struct fault_context context = { .stage = STAGE_RUNNING,
					 .key.attempt = 1,
					 .key.job = 5,
					 .key.role = ROLE_WORKER,
					 .key.index = 2 };
	int64_t wait_us;

	assert_false(fault_registry_line(registry, &line));
	rule_add(bench, registry, "{\"fault\": \"oom\", \"logPattern\": \"^step 1\\\\d+\"}");
	assert_false(injections(registry, &context, &wait_us));
	assert_true(wait_us == INT64_MAX);
	line.length = 5;
	assert_false(fault_registry_line(registry, &line));
	line.length = 13;
	assert_true(fault_registry_line(registry, &line));
	assert_false(fault_registry_line(registry, &line));
	context.key.restart = 1;
	assert_false(injections(registry, &context, &wait_us));
	context.key.restart = 0;
	assert_true(injections(registry, &context, &wait_us));
	fault_registry_free(registry);
}

/* Fails with: line_fits() with the line's end, of which "$" knows a line feed alone; a pattern that is read by bytes (as they
 * were). */
static void a_pattern_is_of_the_characters_of_a_line(void **state)
{
	static const struct {
		const char *pattern, *line;
		bool fits;
	} rows[] = {
		{ "done$", "done\r\n", true },
		{ "done$", "done\n", true },
		{ "done$", "done", true },
		{ "done$", "done\r\nx", false },
		{ "^Gr.{2}e .$", "Gr\u00fc\u00dfe \u20ac\n", true },
		{ "(?i)\u00dc", "Gr\u00fc\u00dfe", true },
		{ "e .$", "\xff\xfe e \u20ac", true },
	};

	BENCH(state);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct replica_line line = { .key = { .job = (int64_t)i + 1, .attempt = 1 },
						   .data = rows[i].line,
						   .length = strlen(rows[i].line) };
		struct fault_registry *registry = registry_of(bench);
		AUTO(string) char *rule = NULL;

		assert_true(asprintf(&rule, "{\"fault\": \"oom\", \"logPattern\": \"%s\"}", rows[i].pattern) >
			    0);
		rule_add(bench, registry, rule);
		if (fault_registry_line(registry, &line) != rows[i].fits)
			fail_msg("%s in %s", rows[i].pattern, rows[i].line);
		assert_int_equal(fault_delete_all(bench->store, &bench->err), STATUS_OK);
		fault_registry_free(registry);
	}
}

/* The line would match after about 400,000 or three million steps. Fails with: fault_registry_open() that sets no limit:
 * the library's own is ten million. */
static void a_pattern_that_takes_too_many_steps_does_not_fit(void **state)
{
	static const struct {
		size_t length;
		bool fits;
	} rows[] = { { 18, true }, { 21, false }, { 18, true } };
	BENCH(state);
	struct fault_registry *registry = registry_of(bench);
	char data[22];

	rule_add(bench, registry, "{\"fault\": \"oom\", \"logPattern\": \"^(?:(?:a+)+x|a+b)\"}");
	memset(data, 'a', sizeof(data));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct replica_line line = { .key = { .job = (int64_t)i + 1, .attempt = 1 },
						   .data = data,
						   .length = rows[i].length + 1 };

		data[rows[i].length] = 'b';
		assert_int_equal(fault_registry_line(registry, &line), rows[i].fits);
		data[rows[i].length] = 'a';
	}
	fault_registry_free(registry);
}

/* Fails with: page_mark() without mark_store(); fault_registry_open() that reads no marks; mark_take() that forgets the restart;
 * deletion_run() without FAULT_MARKS_DELETE; the schema without its trigger. */
static void a_mark_outlives_the_registry_but_not_the_job_or_the_rule(void **state)
{
	BENCH(state);
	struct fault_registry *registry = registry_of(bench);
	const struct replica_key key = {
		.job = job_add(bench, "marked"), .attempt = 2, .role = ROLE_WORKER, .index = 3, .restart = 4
	};
	const struct replica_line line = { .key = key, .data = "step", .length = 4 };
	struct fault_context context = { .stage = STAGE_RUNNING,
					 .key.attempt = 2,
					 .key.job = key.job,
					 .key.role = ROLE_WORKER,
					 .key.index = 3,
					 .key.restart = 4 };
	struct job_change change = { .job = key.job, .from = JOB_QUEUED, .to = JOB_FAILED, .ended_us = 1 };
	int64_t wait_us, id = rule_add(bench, registry, "{\"fault\": \"oom\", \"logPattern\": \"step\"}");

	rule_add(bench, registry, "{\"fault\": \"exit\", \"logPattern\": \"s\", \"exitCode\": 1}");
	assert_true(fault_registry_line(registry, &line));
	assert_int_equal(marks_of(bench->store), 2);
	fault_registry_free(registry);
	registry = registry_of(bench);
	assert_true(injections(registry, &context, &wait_us));
	context.key.restart = 3;
	assert_false(injections(registry, &context, &wait_us));
	assert_int_equal(fault_registry_remove(registry, id, &bench->err), STATUS_OK);
	assert_int_equal(marks_of(bench->store), 1);
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_int_equal(marks_of(bench->store), 0);
	fault_registry_free(registry);
	registry = registry_of(bench);
	assert_true(fault_registry_line(registry, &line)); /* too late: its job has ended */
	assert_int_equal(marks_of(bench->store), 0);
	fault_registry_free(registry);
}

/* Fails with: fault_registry_take() that tells the first time, not the least. */
static void who_is_not_due_is_told_how_long(void **state)
{
	BENCH(state);
	struct fault_registry *registry = registry_of(bench);
	struct fault_context context = {
		.stage = STAGE_RUNNING, .key.attempt = 1, .key.job = 5, .running_us = 1000000
	};
	int64_t wait_us;

	rule_add(bench, registry, "{\"fault\": \"oom\", \"afterSeconds\": 9}");
	rule_add(bench, registry, "{\"fault\": \"oom\", \"afterSeconds\": 3}");
	assert_false(injections(registry, &context, &wait_us));
	assert_int_equal(wait_us, 2000000);
	fault_registry_free(registry);
}

/* Fails with: stored_take() that passes on why a rule is not taken: nothing is served any more. */
static void a_stored_rule_that_is_none_is_left_out(void **state)
{
	BENCH(state);
	struct fault_registry *registry;
	int64_t id, wait_us;

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	assert_int_equal(fault_insert(bench->store, "{\"fault\":\"flood\"}", false, &id, &bench->err),
			 STATUS_OK);
	assert_int_equal(fault_insert(bench->store, ANSWER, false, &id, &bench->err), STATUS_OK);
	registry = registry_of(bench);
	assert_true(injections(registry, &call, &wait_us));
	fault_registry_free(registry);
}

/* Fails with: fault_registry_add() that does not count. */
static void there_is_an_end_of_rules(void **state)
{
	BENCH(state);
	struct fault_registry *registry = registry_of(bench);
	AUTO(json) json_t *rule = json_loads("{\"fault\": \"oom\"}", 0, NULL);
	int64_t id;

	for (int i = 0; i < FAULT_RULES_MAX; i++)
		assert_int_equal(fault_registry_add(registry, rule, false, &id, &bench->err), STATUS_OK);
	assert_int_equal(fault_registry_add(registry, rule, false, &id, &bench->err),
			 STATUS_RESOURCE_EXHAUSTED);
	fault_registry_free(registry);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_rule_is_used_up_and_its_injections_outlive_the_registry,
						bench_open, bench_close),
		cmocka_unit_test_setup_teardown(rules_are_taken_back, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_line_marks_its_container_once, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_pattern_is_of_the_characters_of_a_line, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(a_pattern_that_takes_too_many_steps_does_not_fit, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(a_mark_outlives_the_registry_but_not_the_job_or_the_rule,
						bench_open, bench_close),
		cmocka_unit_test_setup_teardown(who_is_not_due_is_told_how_long, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_stored_rule_that_is_none_is_left_out, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(there_is_an_end_of_rules, bench_open, bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
