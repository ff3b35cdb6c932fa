/* SPDX-License-Identifier: Apache-2.0 */
/* What was ordered comes, and is told once, whichever asking for memory finds none. */
#include "tests/unit/scheduler/memory_testing.h"

/* Of a job that fails by it. */
struct ordered {
	const char *rule;  /* for the job %s */
	const char *event; /* from which on memory is missing: "taken" by the job, or "stored" */
	const char *error_part;
};

static struct trap trap;

bool __real_fault_book_take(struct fault_book *book, const struct fault_scene *scene,
			    struct fault_order *ret_order, int64_t *ret_wait_us);
bool __wrap_fault_book_take(struct fault_book *book, const struct fault_scene *scene,
			    struct fault_order *ret_order, int64_t *ret_wait_us);
bool __wrap_fault_book_take(struct fault_book *book, const struct fault_scene *scene,
			    struct fault_order *ret_order, int64_t *ret_wait_us)
{
	const bool hits = __real_fault_book_take(book, scene, ret_order, ret_wait_us);

	if (hits)
		trap_spring(&trap, "taken");
	return hits;
}

/* The scheduler asks for it when a hit is stored, and only then. */
const char *__real_fault_kind_name(enum fault_kind kind);
const char *__wrap_fault_kind_name(enum fault_kind kind);
const char *__wrap_fault_kind_name(enum fault_kind kind)
{
	trap_spring(&trap, "stored");
	return __real_fault_kind_name(kind);
}

static bool life_lead(struct bench *bench, const void *life, unsigned number)
{
	const struct ordered *ordered = life;
	AUTO(string) char *rule = NULL;
	char job_id[32];
	int64_t id;
	bool met;

	assert_true(asprintf(&rule, ordered->rule, life_id(number, job_id)) > 0);
	order(bench, rule);
	trap = (struct trap){ ordered->event, number };
	id = job_submit(bench, job_id, 0, 0);
	quiet_await(bench);
	met = memory_faults_end();
	assert_int_equal(trap.asking, 0);
	job_check(bench, id, JOB_FAILED, ordered->error_part);
	assert_int_equal(count_in_log(bench, job_id, "This was ordered."), 1);
	return met;
}

/* Broken: hit_append() that tells nobody that it found none (as it was): nobody looked at the rule again. */
static void an_exit_comes_whatever_finds_no_memory(void **state)
{
	static const struct ordered ordered = { "{\"fault\": \"exit\", \"exitCode\": 3, \"job\": \"%s\"}",
						"taken", "a non-zero status of 3." };

	fake_engine_up(((struct bench *)*state)->fake);
	lives_sweep(*state, &ordered, life_lead);
}

/* The engine is not there, so nothing else wakes the job.
 * Broken: stockout_text() that tells nobody that it found none (as it was): the job waited for good. */
static void a_stockout_comes_whatever_finds_no_memory(void **state)
{
	static const struct ordered ordered = { "{\"fault\": \"stockout\", \"job\": \"%s\"}", "stored",
						"Resources are insufficient" };

	lives_sweep(*state, &ordered, life_lead);
}

/* Broken: image_strike() that refuses without words. */
static void an_image_is_not_found_whatever_finds_no_memory(void **state)
{
	static const struct ordered ordered = { "{\"fault\": \"imagePull\", \"job\": \"%s\"}", "stored",
						"cannot be pulled: manifest unknown" };

	fake_engine_up(((struct bench *)*state)->fake);
	lives_sweep(*state, &ordered, life_lead);
}

static bool limited_lead(struct bench *bench, const void *life, unsigned number)
{
	const int64_t hour_us = INT64_C(3600) * 1000000;
	char job_id[32];
	int64_t id = shape_submit(bench, life_id(number, job_id),
				  &(struct shape){ .project = "p", .max_running_us = hour_us });
	bool met;

	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	memory_faults_begin(number, 1);
	clock_step(bench, 2 * hour_us * 1000);
	quiet_await(bench);
	met = memory_faults_end();
	job_check(bench, id, JOB_CANCELLED, life);
	return met;
}

/* Broken: step_expire() that does not note that its sentence found none: the job was cancelled without a reason. */
static void a_limit_is_told_whatever_finds_no_memory(void **state)
{
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	lives_sweep(bench, "ran longer than its", limited_lead);
}

static bool refused_lead(struct bench *bench, const void *life, unsigned number)
{
	struct trap refused = { "create_replica", number };
	char job_id[32];
	int64_t id;
	bool met;

	fake_engine_fail_all(bench->fake, FAKE_CREATE, STATUS_INVALID_ARGUMENT);
	fake_engine_on_call(bench->fake, trap_spring, &refused);
	id = shape_submit(bench, life_id(number, job_id), &(struct shape){ .project = "p" });
	quiet_await(bench);
	fake_engine_on_call(bench->fake, NULL, NULL);
	met = memory_faults_end();
	job_check(bench, id, JOB_FAILED, life);
	return met;
}

/* Broken: replica_refuse() that takes a reason that found none for none. */
static void why_a_container_was_not_made_is_told_whatever_finds_no_memory(void **state)
{
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	lives_sweep(bench, "could not be started: the fake refuses", refused_lead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_limit_is_told_whatever_finds_no_memory),
		BENCH_TEST(why_a_container_was_not_made_is_told_whatever_finds_no_memory),
		BENCH_TEST(an_exit_comes_whatever_finds_no_memory),
		BENCH_TEST(a_stockout_comes_whatever_finds_no_memory),
		BENCH_TEST(an_image_is_not_found_whatever_finds_no_memory),
	};

	memory_faults_init();
	return cmocka_run_group_tests_name("orders without memory", tests, NULL, NULL);
}
