/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs are admitted, when, and with what. */
#include "tests/unit/scheduler/scheduler_testing.h"

#include <signal.h>
#include <sys/resource.h>

#include "scheduler/plan/placement.h"
#include "store/jobs/leases.h"
#include "store/store_parts.h"

static char *gpus[] = { (char *)"0", (char *)"1", (char *)"2", (char *)"3",
			(char *)"4", (char *)"5", (char *)"6", (char *)"7" };

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

static void waits_check(struct bench *bench, int64_t id)
{
	AUTO(job) struct job *job = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_string_equal(job_state_name(job->state), "QUEUED");
	assert_null(job->assignment);
}

/* All leases as "job role-replica device; …", those of shared devices with a star. */
static void leases_check(struct bench *bench, const char *expected)
{
	struct text text AUTO_TEXT = { 0 };
	struct lease *leases = NULL;
	size_t count = 0;

	assert_int_equal(lease_list(bench->store, &leases, &count, NULL), STATUS_OK);
	text_puts(&text, "");
	for (size_t i = 0; i < count; i++)
		text_printf(&text, "%d %s-%u %s%s; ", (int)leases[i].job,
			    role_name((enum role)leases[i].role), leases[i].replica, leases[i].device,
			    leases[i].shared ? "*" : "");
	leases_free(leases, count);
	assert_string_equal(text.data, expected);
}

/* As job_await(), for what others are told of the room. */
static void room_await(struct bench *bench, const char *project, const char *expected)
{
	char text[128] = "";

	for (int i = 0; i < WAIT_MS; i++) {
		struct rooms rooms AUTO_ROOMS = scheduler_rooms(bench->scheduler, project);
		const struct usage *usage = &rooms.nodes->room.usage;

		snprintf(text, sizeof(text), "%u jobs, %u containers, %lld cpus, %u of project, %zu leases",
			 usage->jobs, usage->containers, (long long)(usage->nano_cpus / 1000000000),
			 usage->project_vcpus, usage->lease_count);
		if (strcmp(text, expected) == 0)
			return;
		usleep(1000);
	}
	fail_msg("the room stays: %s", text);
}

static void what_waits_for_containers_holds_back_all_later(void **state)
{
	struct bench *bench = *state;
	int64_t first, large, small;

	bench_use(bench, (struct capacity){ .max_containers = 4 }, 0);
	first = bench_submit(bench, "first", 1, 0);
	large = bench_submit(bench, "large", 2, 0);
	small = bench_submit(bench, "small", 0, 0);
	fake_engine_up(bench->fake);
	job_await(bench, first, JOB_RUNNING);
	waits_check(bench, large);
	waits_check(bench, small);
	master_end(bench, first);
	job_await(bench, large, JOB_RUNNING);
	job_await(bench, small, JOB_RUNNING);
	assert_int_equal(fake_engine_container_count(bench->fake), 4);
}

static void who_waited_behind_a_job_that_was_cancelled_goes_on(void **state)
{
	struct bench *bench = *state;
	int64_t first, large, small;

	bench_use(bench, (struct capacity){ .max_containers = 4 }, 0);
	first = bench_submit(bench, "first", 1, 0);
	large = bench_submit(bench, "large", 2, 0);
	small = bench_submit(bench, "small", 0, 0);
	fake_engine_up(bench->fake);
	job_await(bench, first, JOB_RUNNING);
	waits_check(bench, small);
	assert_int_equal(job_cancel(bench->store, "p", "large", "The job was cancelled.", NULL), STATUS_OK);
	job_await(bench, small, JOB_RUNNING);
	job_await(bench, large, JOB_CANCELLED);
	job_await(bench, first, JOB_RUNNING);
}

static void a_higher_priority_goes_first_also_past_one_that_waits(void **state)
{
	struct bench *bench = *state;
	int64_t first, large, urgent;

	bench_use(bench, (struct capacity){ .max_containers = 4 }, 0);
	first = bench_submit(bench, "first", 1, 0);
	fake_engine_up(bench->fake);
	job_await(bench, first, JOB_RUNNING);
	large = bench_submit(bench, "large", 2, 0);
	urgent = bench_submit(bench, "urgent", 1, 1);
	job_await(bench, urgent, JOB_RUNNING);
	waits_check(bench, large);
}

static void what_waits_for_devices_holds_back_only_who_wants_some(void **state)
{
	struct bench *bench = *state;
	const struct shape one = { .project = "p", .gpus = 1 }, two = { .project = "p", .gpus = 2 };
	int64_t first, both, single, none;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 2);
	first = shape_submit(bench, "first", &one);
	both = shape_submit(bench, "both", &two);
	single = shape_submit(bench, "single", &one);
	none = bench_submit(bench, "none", 1, 0);
	fake_engine_up(bench->fake);
	job_await(bench, first, JOB_RUNNING);
	job_await(bench, none, JOB_RUNNING);
	waits_check(bench, both);
	waits_check(bench, single);
	leases_check(bench, "1 master-0 0; ");
	master_end(bench, first);
	job_await(bench, both, JOB_RUNNING);
	waits_check(bench, single);
	leases_check(bench, "2 master-0 0; 2 master-0 1; ");
	master_end(bench, both);
	job_await(bench, single, JOB_RUNNING);
}

static void who_gets_none_of_the_devices_does_not_wait_for_them(void **state)
{
	struct bench *bench = *state;
	int64_t held, waits, pretended;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_PRETEND }, 2);
	held = shape_submit(bench, "held", &(struct shape){ .project = "p", .gpus = 1 });
	waits = shape_submit(bench, "waits", &(struct shape){ .project = "p", .gpus = 2 });
	pretended = shape_submit(bench, "pretended", &(struct shape){ .project = "p", .gpus = 8 });
	fake_engine_up(bench->fake);
	job_await(bench, held, JOB_RUNNING);
	job_await(bench, pretended, JOB_RUNNING);
	waits_check(bench, waits);
	leases_check(bench, "1 master-0 0; ");
}

static void a_projects_limit_holds_back_that_project_alone(void **state)
{
	struct bench *bench = *state;
	const struct shape small = { .project = "a", .machine_type = "n1-standard-4" };
	const struct shape large = { .project = "a", .machine_type = "n1-standard-4", .workers = 1 };
	const struct shape other = { .project = "b", .machine_type = "n1-standard-8" };
	int64_t ids[4];

	bench_use(bench, (struct capacity){ .project_vcpus = 8 }, 0);
	ids[0] = shape_submit(bench, "first", &small);
	ids[1] = shape_submit(bench, "large", &large);
	ids[2] = shape_submit(bench, "small", &small);
	ids[3] = shape_submit(bench, "other", &other);
	fake_engine_up(bench->fake);
	job_await(bench, ids[0], JOB_RUNNING);
	job_await(bench, ids[3], JOB_RUNNING);
	waits_check(bench, ids[1]);
	waits_check(bench, ids[2]);
	room_await(bench, "a", "2 jobs, 2 containers, 12 cpus, 4 of project, 0 leases");
	room_await(bench, "b", "2 jobs, 2 containers, 12 cpus, 8 of project, 0 leases");
	room_await(bench, "c", "2 jobs, 2 containers, 12 cpus, 0 of project, 0 leases");
	master_end(bench, ids[0]);
	job_await(bench, ids[1], JOB_RUNNING);
	waits_check(bench, ids[2]);
}

static void nobody_waits_for_a_job_that_wants_more_than_the_host_has(void **state)
{
	struct bench *bench = *state;
	int64_t wants, modest;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_WAIT }, 2);
	wants = shape_submit(bench, "wants", &(struct shape){ .project = "p", .gpus = 4, .priority = 9 });
	modest = shape_submit(bench, "modest", &(struct shape){ .project = "p", .gpus = 2 });
	fake_engine_up(bench->fake);
	job_await(bench, modest, JOB_RUNNING);
	waits_check(bench, wants);
	master_end(bench, modest);
	waits_check(bench, wants);
	/* The machine gets more of them. */
	fake_engine_down(bench->fake, "gone");
	fake_engine_host(bench->fake, &(struct host){ .known = true,
						      .cpus = 8,
						      .memory_bytes = (int64_t)64 << 30,
						      .devices = gpus,
						      .device_count = 4 });
	fake_engine_up(bench->fake);
	job_await(bench, wants, JOB_RUNNING);
}

static void a_job_that_cannot_run_here_fails_at_its_turn(void **state)
{
	struct bench *bench = *state;
	int64_t gpu, large, good;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE, .max_containers = 4 }, 2);
	gpu = shape_submit(bench, "gpu", &(struct shape){ .project = "p", .gpus = 4 });
	large = bench_submit(bench, "large", 4, 0);
	good = bench_submit(bench, "good", 0, 0);
	fake_engine_up(bench->fake);
	job_await(bench, good, JOB_RUNNING);
	master_end(bench, good);
	idle_await(bench);
	job_check(bench, gpu, JOB_FAILED, "Quota failure");
	job_check(bench, large, JOB_FAILED, "5 replicas");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 1);
	leases_check(bench, "");
	line_await(bench, "large", "Job failed.");
}

static void pretended_gpus_are_told_and_not_attached(void **state)
{
	struct bench *bench = *state;
	struct replica_key master;
	AUTO(string) char *limits = NULL;
	AUTO(string) char *log = NULL;
	int64_t id;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_PRETEND, .fit = FIT_NONE }, 2);
	id = shape_submit(bench, "pretends", &(struct shape){ .project = "p", .gpus = 4, .workers = 1 });
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	master = key_of(id, ROLE_MASTER, 0);
	limits = fake_engine_limits(bench->fake, &master);
	assert_string_equal(strrchr(limits, ' '), " -");
	leases_check(bench, "");
	line_await(bench, "pretends", "Job is preparing.");
	log = service_log(bench, "pretends");
	assert_ptr_equal(strstr(log, "Unlike in the cloud: "), log);
	assert_null(strstr(log + 1, "Unlike in the cloud: "));
}

static void shared_gpus_have_many_holders(void **state)
{
	struct bench *bench = *state;
	const struct shape shape = { .project = "p", .gpus = 1, .workers = 1 };
	struct replica_key worker;
	AUTO(string) char *limits = NULL;
	int64_t first, second;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_SHARE }, 1);
	first = shape_submit(bench, "first", &shape);
	second = shape_submit(bench, "second", &shape);
	fake_engine_up(bench->fake);
	job_await(bench, first, JOB_RUNNING);
	job_await(bench, second, JOB_RUNNING);
	worker = key_of(second, ROLE_WORKER, 0);
	limits = fake_engine_limits(bench->fake, &worker);
	assert_string_equal(strrchr(limits, ' '), " 0");
	leases_check(bench, "1 master-0 0*; 1 worker-0 0*; 2 master-0 0*; 2 worker-0 0*; ");
	master_end(bench, first);
	leases_check(bench, "2 master-0 0*; 2 worker-0 0*; ");
}

static void limits_and_devices_reach_the_engine(void **state)
{
	struct bench *bench = *state;
	struct replica_key master, worker;
	AUTO(string) char *of_master = NULL;
	AUTO(string) char *of_worker = NULL;
	int64_t id;

	bench_use(bench, (struct capacity){ .fit = FIT_HOST }, 8);
	id = shape_submit(
		bench, "limited",
		&(struct shape){ .project = "p", .machine_type = "n1-standard-4", .gpus = 2, .workers = 1 });
	fake_engine_up(bench->fake);
	master = key_of(id, ROLE_MASTER, 0);
	worker = key_of(id, ROLE_WORKER, 0);
	of_master = fake_engine_limits(bench->fake, &master);
	of_worker = fake_engine_limits(bench->fake, &worker);
	/* 4 CPUs, 15 GiB, and half of that. */
	assert_string_equal(of_master, "4000000000 16106127360 8053063680 0,1");
	assert_string_equal(of_worker, "4000000000 16106127360 8053063680 2,3");
	room_await(bench, "p", "1 jobs, 2 containers, 8 cpus, 8 of project, 4 leases");
	job_await(bench, id, JOB_RUNNING);
	master_end(bench, id);
	room_await(bench, "p", "0 jobs, 0 containers, 0 cpus, 0 of project, 0 leases");
}

static void what_the_command_line_names_is_given_away(void **state)
{
	struct bench *bench = *state;
	int64_t id;

	bench->gpus = "GPU-8a5,5";
	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 8);
	id = shape_submit(bench, "named", &(struct shape){ .project = "p", .gpus = 2 });
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	leases_check(bench, "1 master-0 5; 1 master-0 GPU-8a5; ");
}

static void a_device_is_free_when_its_container_is_gone(void **state)
{
	struct bench *bench = *state;
	const struct shape shape = { .project = "p", .gpus = 1 };
	struct replica_key master;
	int64_t first, second;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 1);
	first = shape_submit(bench, "first", &shape);
	second = shape_submit(bench, "second", &shape);
	fake_engine_up(bench->fake);
	job_await(bench, first, JOB_RUNNING);
	fake_engine_ignore_stop(bench->fake, true);
	assert_int_equal(job_cancel(bench->store, "p", "first", "Because.", NULL), STATUS_OK);
	job_await(bench, first, JOB_CANCELLING);
	for (int i = 0; i < WAIT_MS && !fake_engine_calls(bench->fake, FAKE_STOP); i++)
		usleep(1000);
	waits_check(bench, second);
	leases_check(bench, "1 master-0 0; ");
	master = key_of(first, ROLE_MASTER, 0);
	fake_engine_exit(bench->fake, &master, 137);
	job_await(bench, second, JOB_RUNNING);
	job_await(bench, first, JOB_CANCELLED);
	leases_check(bench, "2 master-0 0; ");
	assert_int_equal(fake_engine_doubled(bench->fake), 0);
}

static void a_retry_keeps_what_the_job_was_let_in_with(void **state)
{
	struct bench *bench = *state;
	struct replica_key master;
	AUTO(string) char *before = NULL;
	AUTO(string) char *after = NULL;
	int64_t id, other;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 4);
	id = shape_submit(bench, "again",
			  &(struct shape){ .project = "p", .machine_type = "n1-standard-4", .gpus = 2 });
	fake_engine_up(bench->fake);
	master = key_of(id, ROLE_MASTER, 0);
	before = fake_engine_limits(bench->fake, &master);
	job_await(bench, id, JOB_RUNNING);
	/* The next daemon has another policy and other GPUs to give away: what runs keeps what it has. */
	bench->gpus = "1,2,3";
	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_SHARE, .fit = FIT_NONE }, 4);
	fake_engine_up(bench->fake);
	other = shape_submit(bench, "other", &(struct shape){ .project = "p", .gpus = 2 });
	job_await(bench, other, JOB_RUNNING);
	leases_check(bench, "1 master-0 0; 1 master-0 1; 2 master-0 2*; 2 master-0 3*; ");
	fake_engine_exit(bench->fake, &master, 139);
	master.attempt = 2;
	after = fake_engine_limits(bench->fake, &master);
	assert_string_equal(before, after);
	leases_check(bench, "1 master-0 0; 1 master-0 1; 2 master-0 2*; 2 master-0 3*; ");
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
	leases_check(bench, "2 master-0 2*; 2 master-0 3*; ");
	assert_int_equal(fake_engine_doubled(bench->fake), 0);
}

static void a_job_of_an_earlier_release_counts_as_what_it_is(void **state)
{
	struct bench *bench = *state;
	struct job_change change = { .from = JOB_QUEUED, .to = JOB_PREPARING, .started_us = 1 };
	int64_t old, waits;

	daemon_stop(bench);
	assert_int_equal(store_open(bench->directory, &system_clock, &bench->store, NULL), STATUS_OK);
	old = change.job = shape_submit(
		bench, "old",
		&(struct shape){ .project = "p", .machine_type = "n1-standard-4", .gpus = 1, .workers = 2 });
	assert_int_equal(job_apply(bench->store, &change, 1, NULL), STATUS_OK);
	store_close(bench->store);
	daemon_start(bench);
	bench_use(bench, (struct capacity){ .max_containers = 4 }, 0);
	waits = bench_submit(bench, "waits", 1, 0);
	fake_engine_up(bench->fake);
	job_await(bench, old, JOB_RUNNING);
	waits_check(bench, waits);
	room_await(bench, "p", "1 jobs, 3 containers, 0 cpus, 12 of project, 0 leases");
	master_end(bench, old);
	job_await(bench, waits, JOB_RUNNING);
}

static void wake_not(void *arg, int64_t job)
{
	(void)arg, (void)job;
}

/* The scheduler lets in a job that a client has just cancelled, and is told by the store that it came late. */
static void a_job_that_is_cancelled_while_it_is_let_in_takes_nothing(void **state)
{
	struct bench *bench = *state;
	const struct shape shape = { .project = "p", .gpus = 1 };
	int64_t cancelled, next;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 1);
	cancelled = shape_submit(bench, "cancelled", &shape);
	next = shape_submit(bench, "next", &shape);
	/* Both are known, and that one is cancelled is not. */
	fake_engine_down(bench->fake, "away");
	line_await(bench, "next", "away");
	store_on_intent(bench->store, wake_not, NULL);
	assert_int_equal(job_cancel(bench->store, "p", "cancelled", "Because.", NULL), STATUS_OK);
	store_on_intent(bench->store, scheduler_wake, bench->scheduler);
	fake_engine_up(bench->fake);
	job_await(bench, cancelled, JOB_CANCELLED);
	job_await(bench, next, JOB_RUNNING);
	job_check_error(bench, cancelled, JOB_CANCELLED, "Because.");
	leases_check(bench, "2 master-0 0; ");
	room_await(bench, "p", "1 jobs, 1 containers, 0 cpus, 0 of project, 1 leases");
}

/* Ends or removes containers at random, and sometimes stops the engine or the daemon, until all jobs have ended. */
static void all_end(struct bench *bench, unsigned *seed)
{
	while (!scheduler_wait_idle(bench->scheduler, 1)) {
		unsigned choice = (unsigned)rand_r(seed), what = (unsigned)rand_r(seed) % 80;

		if (what < 2)
			daemon_stop(bench);
		else if (what < 4)
			fake_engine_down(bench->fake, "away");
		if (what < 4)
			fake_engine_exit_any_unseen(bench->fake, choice, what % 2 ? 143 : 0);
		if (what < 2)
			daemon_start(bench);
		if (what < 4)
			fake_engine_up(bench->fake);
		else if (what < 20)
			fake_engine_snatch_any(bench->fake, choice);
		else
			fake_engine_exit_any(bench->fake, choice, what < 40 ? 143 : what < 50 ? 1 : 0);
	}
}

static void no_device_is_ever_held_twice(void **state)
{
	struct bench *bench = *state;
	unsigned seed = 4711;

	bench_use(bench,
		  (struct capacity){
			  .accelerators = ACCELERATORS_REQUIRE, .max_jobs = 6, .max_containers = 12 },
		  8);
	for (int i = 0; i < 60; i++) {
		unsigned workers = (unsigned)rand_r(&seed) % 3;
		char name[16];

		snprintf(name, sizeof(name), "job%d", i);
		shape_submit(bench, name,
			     &(struct shape){ .project = rand_r(&seed) % 2 ? "p" : "q",
					      .machine_type = "n1-standard-4",
					      .workers = workers,
					      .gpus = (unsigned)rand_r(&seed) % (8 / (workers + 1) + 1),
					      .priority = rand_r(&seed) % 3 });
	}
	fake_engine_up(bench->fake);
	all_end(bench, &seed);
	assert_int_equal(fake_engine_doubled(bench->fake), 0);
	assert_int_equal(fake_engine_container_count(bench->fake), 0);
	leases_check(bench, "");
	room_await(bench, "p", "0 jobs, 0 containers, 0 cpus, 0 of project, 0 leases");
}

/* What is refused was not done: the job is let in again once the store can hold it. */
static void a_job_that_could_not_be_stored_is_let_in_later(void **state)
{
	struct bench *bench = *state;
	int64_t first, second;

	bench_use(bench, (struct capacity){ .accelerators = ACCELERATORS_REQUIRE }, 1);
	first = shape_submit(bench, "first", &(struct shape){ .project = "p", .gpus = 1 });
	second = shape_submit(bench, "second", &(struct shape){ .project = "p", .gpus = 1 });
	disk_set_full(true);
	fake_engine_up(bench->fake);
	for (int i = 0; i < WAIT_MS && !disk_refusals; i++)
		usleep(1000);
	assert_true(disk_refusals);
	room_await(bench, "p", "0 jobs, 0 containers, 0 cpus, 0 of project, 0 leases"); /* nothing to give back */
	disk_set_full(false);
	job_await(bench, first, JOB_RUNNING);
	waits_check(bench, second);
	leases_check(bench, "1 master-0 0; ");
	room_await(bench, "p", "1 jobs, 1 containers, 0 cpus, 0 of project, 1 leases");
}

static void container_await(struct bench *bench)
{
	for (int i = 0; i < WAIT_MS && !fake_engine_container_count(bench->fake); i++)
		usleep(1000);
	assert_int_equal(fake_engine_container_count(bench->fake), 1);
}

/* Fails with: a scheduler that does not read first (as it was): it waited ten seconds for clients' lists, all jobs with it, and
 * then gave up for the time being. */
static void nobody_waits_for_what_clients_read(void **state)
{
	struct bench *bench = *state;
	struct reader readers[READER_LIMIT] = { 0 };
	int64_t id;

	fake_engine_up(bench->fake);
	for (int i = 0; i < READER_LIMIT; i++)
		assert_int_equal(reader_borrow(&bench->store->state_readers, &readers[i], NULL), STATUS_OK);
	id = bench_submit(bench, "a", 0, 0);
	container_await(bench);
	for (int i = 0; i < READER_LIMIT; i++)
		reader_return(&readers[i]);
	job_await(bench, id, JOB_RUNNING);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(what_waits_for_containers_holds_back_all_later),
		BENCH_TEST(who_waited_behind_a_job_that_was_cancelled_goes_on),
		BENCH_TEST(a_higher_priority_goes_first_also_past_one_that_waits),
		BENCH_TEST(what_waits_for_devices_holds_back_only_who_wants_some),
		BENCH_TEST(who_gets_none_of_the_devices_does_not_wait_for_them),
		BENCH_TEST(a_projects_limit_holds_back_that_project_alone),
		BENCH_TEST(nobody_waits_for_a_job_that_wants_more_than_the_host_has),
		BENCH_TEST(a_job_that_cannot_run_here_fails_at_its_turn),
		BENCH_TEST(pretended_gpus_are_told_and_not_attached),
		BENCH_TEST(shared_gpus_have_many_holders),
		BENCH_TEST(limits_and_devices_reach_the_engine),
		BENCH_TEST(what_the_command_line_names_is_given_away),
		BENCH_TEST(a_device_is_free_when_its_container_is_gone),
		BENCH_TEST(a_retry_keeps_what_the_job_was_let_in_with),
		BENCH_TEST(a_job_of_an_earlier_release_counts_as_what_it_is),
		BENCH_TEST(a_job_that_is_cancelled_while_it_is_let_in_takes_nothing),
		BENCH_TEST(a_job_that_could_not_be_stored_is_let_in_later),
		BENCH_TEST(no_device_is_ever_held_twice),
		BENCH_TEST(nobody_waits_for_what_clients_read),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
