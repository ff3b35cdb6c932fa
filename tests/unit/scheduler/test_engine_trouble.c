/* SPDX-License-Identifier: Apache-2.0 */
/* The engine refuses, fails or forgets things, while it is reachable and while it is not; and users change our
 * containers. */
#include "tests/unit/scheduler/scheduler_testing.h"

#define LISTINGS_APART_NS (INT64_C(3000000000)) /* listings that agree about a pause are believed */

static void every_refusal_of_the_engine_ends_the_job_with_its_words(void **state)
{
	struct bench *bench = *state;
	static const enum fake_operation operations[] = { FAKE_IMAGE, FAKE_NETWORK, FAKE_CREATE, FAKE_START };

	fake_engine_up(bench->fake);
	for (size_t i = 0; i < COUNT_OF(operations); i++) {
		char name[32];
		int64_t id;

		snprintf(name, sizeof(name), "refused_%zu", i);
		fake_engine_fail(bench->fake, operations[i], operations[i] == FAKE_NETWORK ? 1 : 2,
				 STATUS_INVALID_ARGUMENT);
		id = bench_submit(bench, name, 2, 0);
		idle_await(bench);
		job_await(bench, id, JOB_FAILED);
		job_check(bench, id, JOB_FAILED,
			  operations[i] == FAKE_IMAGE ? "No such image" : "the fake refuses");
	}
}

/* An engine that was killed may for ever refuse a container that it has half started; the job is not at fault. */
static void what_breaks_inside_the_engine_is_tried_again(void **state)
{
	struct bench *bench = *state;
	int64_t id;
	struct replica_key master;

	fake_engine_up(bench->fake);
	fake_engine_fail(bench->fake, FAKE_START, 2, STATUS_INTERNAL);
	id = bench_submit(bench, "broken_start", 2, 0);
	master = key_of(id, ROLE_MASTER, 0);
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* The call had no effect, and no listing shows the container. Fails with: on_replica_failed() that goes on awaiting the
 * outcome. */
static void what_an_engine_that_went_did_not_make_is_asked_for_again(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "again", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_fail(bench->fake, FAKE_CREATE, 1, STATUS_UNAVAILABLE);
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 2);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: on_failed() that leaves follows as it is: the job waited for its output for ever. */
static void output_that_could_not_be_read_is_asked_for_again(void **state)
{
	struct bench *bench = *state;
	struct replica_key master;
	int64_t id;

	fake_engine_up(bench->fake);
	fake_engine_print(bench->fake, 2);
	fake_engine_fail(bench->fake, FAKE_FOLLOW, 1, STATUS_INTERNAL);
	id = bench_submit(bench, "unheard", 0, 0);
	job_await(bench, id, JOB_RUNNING);
	master = key_of(id, ROLE_MASTER, 0);
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
}

static void what_could_not_be_removed_is_removed_later(void **state)
{
	struct bench *bench = *state;
	static const enum fake_operation operations[] = { FAKE_STOP, FAKE_REMOVE, FAKE_REMOVE_NETWORK };

	fake_engine_up(bench->fake);
	for (size_t i = 0; i < COUNT_OF(operations); i++) {
		char name[32];
		struct replica_key master;
		int64_t id;

		snprintf(name, sizeof(name), "sticky_%zu", i);
		id = bench_submit(bench, name, 1, 0);
		job_await(bench, id, JOB_RUNNING);
		fake_engine_fail(bench->fake, operations[i], 1, STATUS_INTERNAL);
		master = key_of(id, ROLE_MASTER, 0);
		fake_engine_exit(bench->fake, &master, 0);
		job_await(bench, id, JOB_SUCCEEDED);
		network_free_await(bench);
		job_check(bench, id, JOB_SUCCEEDED, NULL);
	}
}

static void an_engine_that_is_away_makes_jobs_wait_and_say_so(void **state)
{
	struct bench *bench = *state;
	int64_t id;
	struct replica_key master;

	fake_engine_down(bench->fake, "cannot connect");
	id = bench_submit(bench, "waits", 0, 0);
	master = key_of(id, ROLE_MASTER, 0);
	line_await(bench, "waits", "Waiting for the container engine: cannot connect");
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_down(bench->fake, "gone again");
	line_await(bench, "waits", "Waiting for the container engine: gone again");
	fake_engine_exit_unseen(bench->fake, &master, 0);
	fake_engine_up(bench->fake);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: fold_listed_pause() that believes the first. */
static void a_pause_that_one_listing_shows_is_not_told(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "running", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_list(bench->fake, 1);
	fake_engine_list(bench->fake, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	AUTO(string) char *log = service_log(bench, "running");

	assert_null(strstr(log, "paused"));
}

/* Fails with: fold_listed_pause() that believes the second, however soon it comes: a loaded engine sends several that are older
 * than the pause's end, which it has told. */
static void a_pause_that_listings_of_one_moment_show_is_not_told(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "running", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	atomic_store(&bench->clock.stands_us, clock_mono_us(&system_clock));
	for (unsigned left = 4; left > 0; left--)
		fake_engine_list(bench->fake, left);
	fake_engine_list(bench->fake, 0);
	taken_up_await(bench, "listed");
	atomic_store(&bench->clock.stands_us, 0);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	AUTO(string) char *log = service_log(bench, "running");

	assert_null(strstr(log, "paused"));
}

/* Fails with: fold_listed_pause() that asks for no other. */
static void a_pause_that_two_listings_show_is_told(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "paused", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_list(bench->fake, 2);
	taken_up_await(bench, "listed");
	clock_step(bench, LISTINGS_APART_NS);
	line_await(bench, "paused", "The container of the replica master 0 was paused from outside");
	fake_engine_list(bench->fake, 0);
	taken_up_await(bench, "listed-again");
	clock_step(bench, LISTINGS_APART_NS);
	line_await(bench, "paused", "The container of the replica master 0 goes on.");
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
}

static void a_job_whose_only_container_was_removed_from_outside_starts_over(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "snatched", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_snatch(bench->fake, &master);
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void what_dies_while_the_engine_is_away_is_tried_again(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "taken", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	engine_leave(bench, id, "taken");
	fake_engine_exit_unseen(bench->fake, &master, 137);
	fake_engine_up(bench->fake);
	line_await(bench, "taken", "The container engine was away when the replica master 0 ended");
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void a_kill_after_the_engines_return_is_the_programs_own(void **state)
{
	struct bench *bench = *state;
	struct replica_key master;
	int64_t id;

	fake_engine_up(bench->fake);
	fake_engine_down(bench->fake, "gone");
	fake_engine_up(bench->fake);
	id = bench_submit(bench, "killed", 0, 0);
	master = key_of(id, ROLE_MASTER, 0);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 137);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "9(SIGKILL)");
}

/* An engine that is told to stop first kills its containers, and then closes its connections. */
static void a_kill_by_an_engine_that_stops_is_no_failure(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "restarted", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 143);
	fake_engine_down(bench->fake, "stopped");
	fake_engine_up(bench->fake);
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void a_kill_by_somebody_fails_the_job(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "killed", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 137);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "9(SIGKILL)");
}

static void strays_of_unknown_jobs_are_removed(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "known", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	/* The next listing has a container and a network of a job that the store does not know. */
	{
		struct engine_sink ignored = scheduler_sink(bench->scheduler, 0);
		struct engine *engine = fake_engine_open(bench->fake, &ignored);
		struct replica_spec orphan = { .key = { .job = 4711, .attempt = 1, .role = ROLE_PS } };

		engine->ops->create_replica(engine, &orphan);
		engine->ops->create_network(engine, 4711, 1);
		engine->ops->list(engine);
	}
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	network_free_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(every_refusal_of_the_engine_ends_the_job_with_its_words),
		BENCH_TEST(what_breaks_inside_the_engine_is_tried_again),
		BENCH_TEST(what_an_engine_that_went_did_not_make_is_asked_for_again),
		BENCH_TEST(output_that_could_not_be_read_is_asked_for_again),
		BENCH_TEST(what_could_not_be_removed_is_removed_later),
		BENCH_TEST(an_engine_that_is_away_makes_jobs_wait_and_say_so),
		BENCH_TEST(a_pause_that_one_listing_shows_is_not_told),
		BENCH_TEST(a_pause_that_listings_of_one_moment_show_is_not_told),
		BENCH_TEST(a_pause_that_two_listings_show_is_told),
		BENCH_TEST(a_job_whose_only_container_was_removed_from_outside_starts_over),
		BENCH_TEST(what_dies_while_the_engine_is_away_is_tried_again),
		BENCH_TEST(a_kill_after_the_engines_return_is_the_programs_own),
		BENCH_TEST(a_kill_by_an_engine_that_stops_is_no_failure),
		BENCH_TEST(a_kill_by_somebody_fails_the_job),
		BENCH_TEST(strays_of_unknown_jobs_are_removed),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
