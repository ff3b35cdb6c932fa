/* SPDX-License-Identifier: Apache-2.0 */
/* What the log of a queued job says that it waits for. */
#include "tests/unit/scheduler/scheduler_testing.h"

#include "scheduler/job_run.h"
#include "scheduler/plan/placement.h"
#include "scheduler/scheduler_state.h"

static char *gpus[] = { (char *)"0", (char *)"1" };

/* A daemon with this capacity, on a host with @gpu_count GPUs. */
static void bench_use(struct bench *bench, struct capacity capacity, unsigned gpu_count)
{
	daemon_stop(bench);
	bench->capacity = capacity;
	bench->capacity.max_jobs = capacity.max_jobs ? capacity.max_jobs : 32;
	bench->capacity.max_containers = capacity.max_containers ? capacity.max_containers : 64;
	fake_engine_host(bench->fake, &(struct host){ .known = true,
						      .cpus = 8,
						      .memory_bytes = (int64_t)64 << 30,
						      .devices = gpus,
						      .device_count = gpu_count });
	daemon_start(bench);
}

static void master_end(struct bench *bench, int64_t id)
{
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
}

/* Of jobs that come in this order, the last of which waits: what its log says of that. */
static const struct wait_row {
	struct capacity capacity;
	unsigned gpus; /* that the host has */
	struct shape shapes[3];
	const char *line;
} wait_rows[] = {
	{ { .max_jobs = 1 },
	  0,
	  { { "p" }, { "p" } },
	  "The job is queued: it waits for room on this machine. 1 of 1 jobs run now.\n" },
	{ { .max_containers = 2 },
	  0,
	  { { "p" }, { "p", .workers = 1 } },
	  "The job is queued: it waits for room on this machine. The job has 2 replicas; 1 of 2 containers run "
	  "now.\n" },
	{ { .accelerators = ACCELERATORS_REQUIRE },
	  2,
	  { { "p", .gpus = 1 }, { "p", .gpus = 2 } },
	  "The job is queued: it waits for GPUs. The job needs 2 GPUs; 1 of this host's 2 are free now.\n" },
	{ { .accelerators = ACCELERATORS_REQUIRE },
	  1,
	  { { "p", .gpus = 1 }, { "p", .gpus = 1 }, { "p", .gpus = 1 } },
	  "The job is queued: it waits for GPUs. Jobs before it wait for GPUs, too.\n" },
	{ { .accelerators = ACCELERATORS_WAIT },
	  1,
	  { { "p", .gpus = 4 } },
	  "The job is queued: it waits for GPUs that this machine does not have. The job waits for 4 GPUs; this "
	  "host has 1.\n" },
	{ { .project_vcpus = 4 },
	  0,
	  { { "p", "n1-standard-4" }, { "p", "n1-standard-4" } },
	  "The job is queued: it waits for the project's quota. The job asks for 4 vCPUs; project p uses 4 of 4 "
	  "now.\n" },
	{ { .project_vcpus = 4 },
	  0,
	  { { "p", "n1-standard-4" }, { "p", "n1-standard-4" }, { "p", "n1-standard-4" } },
	  "The job is queued: it waits for the project's quota. Jobs of the project before it wait for it, "
	  "too.\n" },
	{ { .max_jobs = 1 },
	  0,
	  { { "p" }, { "p" }, { "p" } },
	  "The job is queued: it waits for its turn. 1 job is before it.\n" },
};

static void wait_row_check(struct bench *bench, const struct wait_row *row)
{
	int64_t ids[3] = { 0 };
	char name[32] = "";

	bench_use(bench, row->capacity, row->gpus);
	fake_engine_up(bench->fake);
	for (size_t i = 0; i < COUNT_OF(row->shapes) && row->shapes[i].project; i++) {
		snprintf(name, sizeof(name), "job_%zu", i);
		ids[i] = shape_submit(bench, name, &row->shapes[i]);
		if (i == 0 && row->shapes[1].project)
			job_await(bench, ids[0], JOB_RUNNING);
	}
	line_await(bench, name, row->line);
	/* Nothing changes for it, whatever happens else. */
	fake_engine_list(bench->fake, 0);
	for (size_t i = COUNT_OF(ids); i-- > 0;) {
		if (!ids[i])
			continue;
		snprintf(name, sizeof(name), "job_%zu", i);
		assert_int_equal(count_in_log(bench, name, "The job is queued: "),
				 i > 0 || !row->shapes[1].project);
		job_cancel(bench->store, "p", name, "enough", NULL);
		job_await(bench, ids[i], JOB_CANCELLED);
	}
}

/* Fails with: visit() without wait_report(); wait_report() that tells what was told. */
static void a_queued_job_says_once_what_it_waits_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wait_rows); i++) {
		void *fresh = NULL;

		assert_int_equal(bench_setup(&fresh), 0);
		wait_row_check(fresh, &wait_rows[i]);
		assert_int_equal(bench_teardown(&fresh), 0);
	}
}

/* The room as others are told of it. Fails with: scheduler_rooms() that does not ask for the engine: a plan started at once. */
static void while_the_engine_is_away_all_wait_for_it(void **state)
{
	struct bench *bench = *state;
	struct rooms away AUTO_ROOMS = { 0 }, back AUTO_ROOMS = { 0 };
	int64_t first;

	bench_use(bench, (struct capacity){ 0 }, 0);
	first = bench_submit(bench, "first", 0, 0);
	engine_leave(bench, first, "first");
	away = scheduler_rooms(bench->scheduler, "p");
	assert_string_equal(away.nodes->room.engine_lack, "The container engine does not answer: gone");
	fake_engine_up(bench->fake);
	job_await(bench, bench_submit(bench, "second", 0, 0), JOB_RUNNING);
	back = scheduler_rooms(bench->scheduler, "p");
	assert_string_equal(back.nodes->room.engine_lack, "");
}

/* It waits for room and for GPUs by turns: each is told once in a minute. Fails with: wait_report() that knows the last alone. */
static void what_it_waits_for_is_told_anew_when_it_changes(void **state)
{
	struct bench *bench = *state;
	const struct shape gpu = { .project = "p", .gpus = 1 }, urgent = { .project = "p", .priority = 1 };
	int64_t first, waits, others[2];

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE, .max_jobs = 1 }, 1);
	fake_engine_up(bench->fake);
	first = bench_submit(bench, "first", 0, 0);
	job_await(bench, first, JOB_RUNNING);
	waits = shape_submit(bench, "waits", &gpu);
	line_await(bench, "waits", "it waits for room on this machine. ");
	others[0] = shape_submit(bench, "gpu", &(struct shape){ .project = "p", .gpus = 1, .priority = 1 });
	line_await(bench, "gpu", "it waits for room on this machine. ");
	master_end(bench, first);
	job_await(bench, others[0], JOB_RUNNING);
	line_await(bench, "waits", "it waits for GPUs. ");
	others[1] = shape_submit(bench, "urgent", &urgent);
	line_await(bench, "urgent", "it waits for room on this machine. ");
	master_end(bench, others[0]);
	job_await(bench, others[1], JOB_RUNNING);
	master_end(bench, others[1]);
	job_await(bench, waits, JOB_RUNNING);
	assert_int_equal(count_in_log(bench, "waits", "The job is queued: "), 2);
}

/* Fails with: device_claims_answer() without refusals; devices_await() left out. */
static void a_gpu_of_another_instance_is_waited_for(void **state)
{
	struct bench *bench = *state;
	const struct shape gpu = { .project = "p", .gpus = 1 };
	int64_t first, waits;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 2);
	fake_engine_hold_device(bench->fake, "0");
	fake_engine_up(bench->fake);
	first = shape_submit(bench, "first", &gpu); /* gets the other GPU */
	job_await(bench, first, JOB_RUNNING);
	waits = shape_submit(bench, "waits", &gpu);
	line_await(bench, "waits", "GPUs are held by another trainyard on this engine.");
	fake_engine_hold_device(bench->fake, NULL);
	job_await(bench, waits, JOB_RUNNING);
}

/* Fails with: device_claims_take() that says ASKED of it: no job was started, and none was told why. */
static void while_gpus_cannot_be_claimed_other_jobs_go_on(void **state)
{
	struct bench *bench = *state;
	int64_t waits;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 2);
	fake_engine_fail_claims(bench->fake, true);
	fake_engine_up(bench->fake);
	waits = shape_submit(bench, "waits", &(struct shape){ .project = "p", .gpus = 1 });
	line_await(bench, "waits", "GPUs cannot be claimed in the engine: no space");
	job_await(bench, bench_submit(bench, "first", 0, 0), JOB_RUNNING);
	fake_engine_fail_claims(bench->fake, false);
	job_await(bench, waits, JOB_RUNNING);
}

/* Its container was removed while its daemon was away, and another instance has taken the GPU. Fails with: decide_starting() that
 * does not wait for GPUs. */
static void a_job_is_not_started_again_with_a_gpu_that_was_taken(void **state)
{
	struct bench *bench = *state;
	struct replica_key master;
	int64_t id;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 1);
	fake_engine_up(bench->fake);
	id = shape_submit(bench, "again", &(struct shape){ .project = "p", .gpus = 1 });
	job_await(bench, id, JOB_RUNNING);
	daemon_stop(bench);
	master = key_of(id, ROLE_MASTER, 0);
	fake_engine_snatch_unseen(bench->fake, &master);
	fake_engine_hold_device(bench->fake, "0");
	daemon_start(bench);
	fake_engine_up(bench->fake);
	line_await(bench, "again", "The job waits for its GPUs: another trainyard on this engine has them.");
	assert_int_equal(fake_engine_container_count(bench->fake), 0);
	fake_engine_hold_device(bench->fake, NULL);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(count_in_log(bench, "again", "The job waits for its GPUs"), 1);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queued_job_says_once_what_it_waits_for),
		BENCH_TEST(while_the_engine_is_away_all_wait_for_it),
		BENCH_TEST(what_it_waits_for_is_told_anew_when_it_changes),
		BENCH_TEST(a_gpu_of_another_instance_is_waited_for),
		BENCH_TEST(while_gpus_cannot_be_claimed_other_jobs_go_on),
		BENCH_TEST(a_job_is_not_started_again_with_a_gpu_that_was_taken),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
