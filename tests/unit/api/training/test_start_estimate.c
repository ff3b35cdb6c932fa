/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/start_estimate.h"

#include "tests/unit/api/ml/ml_testing.h"

/* A job that is already waiting. */
struct waiting {
	const char *project, *job_id;
	unsigned workers, gpus;
	int priority;
};

static void waiting_store(struct bench *bench, const struct waiting *waiting)
{
	AUTO(plan)
	struct plan *plan = plan_of(waiting->project, waiting->job_id, waiting->workers, waiting->gpus);

	plan->priority = waiting->priority;
	plan_store(bench, plan, "{}");
}

static struct start_estimate start_estimate_of(struct bench *bench, struct machine_told *told,
					       const struct plan *plan)
{
	struct ml_context context = context_on(bench, told);
	struct start_estimate start_estimate = { 0 };

	if (start_estimate_make(&context.training, plan, NULL, &start_estimate, &bench->err))
		fail_msg("%s", bench->err.text);
	return start_estimate;
}

static void a_job_with_room_starts_with_its_devices(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(16, 4);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 1, 2);
	struct start_estimate start_estimate AUTO_START_ESTIMATE = start_estimate_of(bench, &told, plan);

	assert_true(start_estimate.known && start_estimate.starts_now);
	assert_null(start_estimate.text);
	assert_null(start_estimate.behind);
	assert_int_equal(start_estimate.assignment->limits[ROLE_MASTER].nano_cpus, INT64_C(4000000000));
	assert_json_text(assignment_devices(start_estimate.assignment, ROLE_MASTER, 0), "['0','1']");
	assert_json_text(assignment_devices(start_estimate.assignment, ROLE_WORKER, 0), "['2','3']");
}

static void a_job_without_room_is_told_what_it_would_have_but_no_devices(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(16, 4);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 1);
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };

	told.usage.jobs = told.capacity.max_jobs;
	start_estimate = start_estimate_of(bench, &told, plan);
	assert_true(start_estimate.known && !start_estimate.starts_now);
	assert_int_equal(start_estimate.shortage, SHORTAGE_ROOM);
	assert_non_null(strstr(start_estimate.text, "4 of 4 jobs"));
	assert_null(start_estimate.behind);
	assert_int_equal(start_estimate.assignment->limits[ROLE_MASTER].nano_cpus, INT64_C(4000000000));
	assert_null(assignment_devices(start_estimate.assignment, ROLE_MASTER, 0));
}

/* Jobs that wait before the estimated one, and the estimate. Each job takes four CPUs; the machine has room for two
 * jobs, and two GPUs. */
static const struct queue_row {
	const char *what;
	struct waiting waiting[3];
	unsigned gpus; /* GPUs that the estimated job needs */
	int priority;
	bool starts_now;
	enum shortage shortage;
	const char *behind;
} queue_rows[] = {
	{ "nobody", { { 0 } }, 0, 0, true, SHORTAGE_NONE, NULL },
	{ "one that leaves enough", { { "demo", "a", 0, 0, 0 } }, 0, 0, true, SHORTAGE_NONE, NULL },
	{ "two that take all",
	  { { "demo", "a", 0, 0, 0 }, { "other", "b", 0, 0, 0 } },
	  0,
	  0,
	  false,
	  SHORTAGE_ROOM,
	  NULL },
	{ "one that is too large for now",
	  { { "demo", "a", 0, 0, 0 }, { "demo", "b", 1, 0, 0 } },
	  0,
	  0,
	  false,
	  SHORTAGE_ROOM,
	  "projects/demo/jobs/b" },
	{ "less important ones",
	  { { "demo", "a", 0, 0, 0 }, { "demo", "b", 0, 0, 0 } },
	  0,
	  1,
	  true,
	  SHORTAGE_NONE,
	  NULL },
	{ "more important ones",
	  { { "demo", "a", 0, 0, 2 }, { "demo", "b", 0, 0, 2 } },
	  0,
	  1,
	  false,
	  SHORTAGE_ROOM,
	  NULL },
	{ "one that takes the GPUs", { { "demo", "a", 0, 2, 0 } }, 1, 0, false, SHORTAGE_DEVICES, NULL },
	{ "one that lacks GPUs for now",
	  { { "demo", "a", 0, 1, 0 }, { "demo", "b", 0, 2, 0 } },
	  1,
	  0,
	  false,
	  SHORTAGE_DEVICES,
	  "projects/demo/jobs/b" },
	{ "one that lacks GPUs, which ours does not want",
	  { { "demo", "a", 0, 1, 0 }, { "demo", "b", 0, 2, 0 } },
	  0,
	  0,
	  true,
	  SHORTAGE_NONE,
	  NULL },
	{ "one that wants more GPUs than there are",
	  { { "demo", "a", 0, 8, 0 } },
	  1,
	  0,
	  true,
	  SHORTAGE_NONE,
	  NULL },
};

static void queue_row_check(struct bench *bench, const struct queue_row *row)
{
	struct machine_told told = machine_told(8, 2);
	AUTO(plan) struct plan *plan = plan_of("demo", "ours", 0, row->gpus);
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };

	told.capacity.max_vcpus = 8;
	told.capacity.accelerators = ACCELERATORS_WAIT;
	told.usage.jobs = 1; /* a job that takes nothing, so that no other job runs "alone" */
	for (size_t i = 0; i < COUNT_OF(row->waiting) && row->waiting[i].project; i++)
		waiting_store(bench, &row->waiting[i]);
	plan->priority = row->priority;
	start_estimate = start_estimate_of(bench, &told, plan);
	if (start_estimate.starts_now != row->starts_now || start_estimate.shortage != row->shortage)
		fail_msg("%s: %d, shortage %d: %s", row->what, start_estimate.starts_now,
			 start_estimate.shortage, start_estimate.text ? start_estimate.text : "");
	assert_int_equal(!start_estimate.text, row->starts_now);
	if (row->behind)
		assert_string_equal(start_estimate.behind, row->behind);
	else
		assert_null(start_estimate.behind);
}

static void whoever_waits_before_it_takes_its_room_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(queue_rows); i++) {
		void *fresh = NULL;

		assert_int_equal(bench_open(&fresh), 0);
		queue_row_check(fresh, &queue_rows[i]);
		bench_close(&fresh);
	}
}

/* The estimate of a queued job ignores jobs behind it. Fails with: goes_before() that goes by priority alone, as for one
 * that comes now: each waited behind the last. */
static void a_queued_job_waits_for_those_before_it(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(8, 2);
	struct ml_context context = context_on(bench, &told);
	struct job_list list AUTO_JOB_LIST = { 0 };
	const char *behind[] = { NULL, "projects/demo/jobs/a", "projects/demo/jobs/a" };

	told.usage.jobs = told.capacity.max_jobs;
	waiting_store(bench, &(struct waiting){ "demo", "a", 0, 0, 0 });
	waiting_store(bench, &(struct waiting){ "demo", "b", 0, 0, 0 });
	waiting_store(bench, &(struct waiting){ "demo", "c", 0, 0, 0 });
	assert_int_equal(job_list_unfinished(bench->store, &list, NULL), STATUS_OK);
	assert_int_equal(list.count, COUNT_OF(behind));
	for (size_t i = 0; i < list.count; i++) {
		AUTO(plan) struct plan *plan = NULL;
		struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };

		assert_int_equal(plan_from_text(list.jobs[i].plan, &plan, NULL), STATUS_OK);
		assert_int_equal(start_estimate_make(&context.training, plan, &list.jobs[i], &start_estimate,
						     &bench->err),
				 STATUS_OK);
		assert_int_equal(start_estimate.shortage, SHORTAGE_ROOM);
		assert_non_null(strstr(start_estimate.text, "4 of 4 jobs run now."));
		assert_int_equal(!start_estimate.behind, !behind[i]);
		if (behind[i])
			assert_string_equal(start_estimate.behind, behind[i]);
	}
}

static void a_project_s_limit_holds_up_that_project_alone(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	AUTO(plan) struct plan *theirs = plan_of("other", "j", 0, 0);
	AUTO(plan) struct plan *ours = plan_of("demo", "j", 0, 0);
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };

	told.capacity.project_vcpus = 8;
	told.usage.project_vcpus = 4;
	waiting_store(bench, &(struct waiting){ "demo", "large", 1, 0, 0 });
	start_estimate = start_estimate_of(bench, &told, ours);
	assert_int_equal(start_estimate.shortage, SHORTAGE_PROJECT);
	assert_string_equal(start_estimate.behind, "projects/demo/jobs/large");
	start_estimate_deinit(&start_estimate);
	start_estimate = start_estimate_of(bench, &told, theirs);
	assert_true(start_estimate.starts_now);
}

static void queue_fill(struct bench *bench)
{
	for (unsigned i = 0; i <= 100; i++) {
		char job_id[16];

		snprintf(job_id, sizeof(job_id), "j%u", i);
		waiting_store(bench, &(struct waiting){ "demo", job_id, 0, 0, 0 });
	}
}

static void behind_a_long_queue_nobody_looks_further(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(64, 0);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 0);
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };

	queue_fill(bench);
	start_estimate = start_estimate_of(bench, &told, plan);
	assert_false(start_estimate.starts_now);
	assert_string_equal(start_estimate.behind, "projects/demo/jobs/j100");
	assert_non_null(start_estimate.assignment);
}

/* Fails with: start_estimate_make() that tells the one behind the other (as it was): the first text leaked, and the name of the
 * other job stayed. */
static void a_machine_that_does_not_tell_leaves_a_long_queue_open(void **state)
{
	BENCH(state);
	struct machine_told unknown = machine_told(64, 0);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 0);
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };

	unknown.capacity.host.known = false;
	queue_fill(bench);
	start_estimate = start_estimate_of(bench, &unknown, plan);
	assert_false(start_estimate.known || start_estimate.starts_now);
	assert_non_null(start_estimate.text);
	assert_null(start_estimate.behind);
}

static void a_machine_that_does_not_tell_leaves_all_open(void **state)
{
	BENCH(state);
	struct machine_told silent = { .status = STATUS_UNAVAILABLE };
	struct machine_told unknown = machine_told(4, 0);
	struct machine_told *rows[] = { NULL, &silent, &unknown };

	unknown.capacity.host.known = false;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_of("demo", "j", 0, 0);
		struct start_estimate start_estimate AUTO_START_ESTIMATE =
			start_estimate_of(bench, rows[i], plan);

		assert_false(start_estimate.known || start_estimate.starts_now);
		assert_non_null(start_estimate.text);
		assert_null(start_estimate.assignment);
	}
}

static void what_can_never_run_is_an_error(void **state)
{
	BENCH(state);
	struct machine_told told = machine_told(4, 0);
	struct ml_context context = context_on(bench, &told);
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 5, 0);
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };

	told.capacity.max_containers = 5;
	assert_int_equal(start_estimate_make(&context.training, plan, NULL, &start_estimate, &bench->err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(bench->err.text, "6 replicas"));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_job_with_room_starts_with_its_devices, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(a_job_without_room_is_told_what_it_would_have_but_no_devices,
						bench_open, bench_close),
		cmocka_unit_test(whoever_waits_before_it_takes_its_room_first),
		cmocka_unit_test_setup_teardown(a_queued_job_waits_for_those_before_it, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(a_project_s_limit_holds_up_that_project_alone, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(behind_a_long_queue_nobody_looks_further, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(a_machine_that_does_not_tell_leaves_a_long_queue_open,
						bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_machine_that_does_not_tell_leaves_all_open, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(what_can_never_run_is_an_error, bench_open, bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
