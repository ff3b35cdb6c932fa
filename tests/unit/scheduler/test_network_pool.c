/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a network after its job has left it. */
#include "scheduler/network_pool.h"

#include "scheduler/job_run.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/scheduler_state.h"
#include "tests/unit/scheduler/scheduler_testing.h"

/* ---- by itself ---- */

static void left(struct network_pool *pool, int64_t job, unsigned capacity, int64_t now_us)
{
	struct job row = { .id = job };
	struct job_run run = { .row = &row,
			       .network = NETWORK_READY,
			       .network_status = { .job = job, .capacity = capacity } };

	pooled_network_leave(pool, &run, now_us);
	assert_int_equal(run.network, NETWORK_NONE);
}

/* The network that a job of this many replicas takes from the pool; 0: none. */
static int64_t taken(struct network_pool *pool, size_t replicas, unsigned *ret_turn)
{
	const struct pooled_network *fit = pooled_network_fit(pool, replicas);
	const int64_t network = fit ? fit->status.job : 0;
	struct pooled_network pooled;

	*ret_turn = fit ? fit->turn + 1 : 0;
	assert_int_equal(pooled_network_take(pool, network, &pooled), network != 0);
	assert_false(network_pool_has(pool, network));
	return network;
}

static void the_smallest_that_holds_a_job_is_taken(void **state)
{
	struct network_pool pool = { .keep_us = 100 };
	unsigned turn;

	(void)state;
	left(&pool, 1, 125, 0);
	left(&pool, 2, 5, 0);
	left(&pool, 3, 13, 0);
	assert_int_equal(taken(&pool, 126, &turn), 0);
	assert_int_equal(taken(&pool, 6, &turn), 3);
	assert_int_equal(turn, 1);
	assert_int_equal(taken(&pool, 1, &turn), 2);
	assert_int_equal(taken(&pool, 6, &turn), 1);
	assert_int_equal(taken(&pool, 1, &turn), 0);
	assert_int_equal(pool.doomed_count, 0);
	free(pool.doomed);
}

static void turns_are_counted(void **state)
{
	struct network_pool pool = { .keep_us = 100 };
	struct job row = { .id = 8 };
	struct assignment assignment = { .network = 3, .network_turn = 4 };
	struct job_run run = { .row = &row,
			       .assignment = &assignment,
			       .network = NETWORK_READY,
			       .network_status = { .job = 3, .capacity = 5 } };
	unsigned turn;

	(void)state;
	pooled_network_leave(&pool, &run, 0);
	assert_int_equal(taken(&pool, 1, &turn), 3);
	assert_int_equal(turn, 5);
	free(pool.doomed);
}

static void it_is_kept_for_a_moment_and_longer_while_others_start(void **state)
{
	struct network_pool pool = { .keep_us = 100 };

	(void)state;
	left(&pool, 1, 5, 1000);
	assert_int_equal(network_pool_deadline_us(&pool, false), 1100);
	network_pool_remove(&pool, false, 1099);
	assert_true(network_pool_has(&pool, 1));
	network_pool_remove(&pool, true, 1100);
	assert_true(network_pool_has(&pool, 1));
	assert_true(network_pool_deadline_us(&pool, true) > 1100);
	network_pool_remove(&pool, false, 1100);
	assert_false(network_pool_has(&pool, 1));
	assert_int_equal(pool.doomed[0], 1);
	assert_int_equal(network_pool_deadline_us(&pool, false), INT64_MAX);
	assert_false(network_pool_is_empty(&pool));
	pooled_network_removed(&pool);
	assert_true(network_pool_is_empty(&pool));
	left(&pool, 2, 5, 0);
	network_pool_remove(&pool, true, network_pool_deadline_us(&pool, true));
	assert_int_equal(pool.doomed[1], 2);
	free(pool.doomed);
}

static void of_too_many_the_oldest_goes(void **state)
{
	struct network_pool pool = { .keep_us = 100 };

	(void)state;
	for (int i = 1; i <= POOLED_NETWORKS_MAX + 2; i++)
		left(&pool, i, 5, i);
	assert_int_equal(pool.count, POOLED_NETWORKS_MAX);
	assert_int_equal(pool.doomed_count, 2);
	assert_int_equal(pool.doomed[0], 1);
	assert_int_equal(pool.doomed[1], 2);
	free(pool.doomed);
}

static void none_is_kept_at_the_end(void **state)
{
	struct network_pool pool = { .keep_us = 100 };

	(void)state;
	left(&pool, 1, 5, 0);
	pool.closing = true;
	left(&pool, 2, 5, 0);
	assert_int_equal(pool.doomed[0], 2);
	network_pool_remove(&pool, true, 0);
	assert_int_equal(pool.doomed[1], 1);
	free(pool.doomed);
}

static void one_that_is_still_made_goes(void **state)
{
	struct network_pool pool = { .keep_us = 100 };
	struct job row = { .id = 8 };
	struct job_run run = { .row = &row, .network = NETWORK_CREATING };

	(void)state;
	pooled_network_leave(&pool, &run, 0);
	assert_int_equal(pool.doomed[0], 8);
	assert_int_equal(pool.count, 0);
	free(pool.doomed);
}

static void one_that_could_not_be_removed_is_looked_for(void **state)
{
	struct network_pool pool = { .keep_us = 100 };
	const struct network_status other = { .job = 7 };
	int64_t at;

	(void)state;
	pooled_network_remove(&pool, 5);
	pooled_network_stays(&pool, 1000);
	at = network_pool_deadline_us(&pool, false);
	assert_true(at > 1000 && at < INT64_MAX);
	assert_false(network_pool_is_empty(&pool));
	assert_false(network_pool_look(&pool, at - 1));
	assert_true(network_pool_look(&pool, at));
	/* Fails with: network_pool_look() that takes what it asked for as heard. */
	assert_false(network_pool_is_empty(&pool));
	/* Fails with: the same pause each time: a network that is in use on a lost node was removed each second. */
	pooled_network_stays(&pool, at);
	assert_int_equal(network_pool_deadline_us(&pool, false) - at, 2 * (at - 1000));
	for (int i = 0; i < 20; i++)
		pooled_network_stays(&pool, at);
	assert_int_equal(network_pool_deadline_us(&pool, false) - at, 64 * (at - 1000));
	pooled_network_removed(&pool);
	pooled_network_stays(&pool, at);
	assert_int_equal(network_pool_deadline_us(&pool, false) - at, at - 1000);
	left(&pool, 6, 5, at);
	left(&pool, 7, 5, at);
	network_pool_compare(&pool, &other, 1);
	assert_false(network_pool_has(&pool, 6)); /* it was removed from outside */
	assert_true(network_pool_has(&pool, 7));
	free(pool.doomed);
}

/* ---- in the scheduler ---- */

static int setup_keeping(void **state)
{
	struct bench *bench;
	int rc = bench_setup(state);

	bench = *state;
	bench->pooled_network_ms = 60000;
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	return rc;
}

static void restart(struct bench *bench)
{
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
}

static int64_t running(struct bench *bench, const char *job_id, unsigned workers)
{
	const int64_t id = bench_submit(bench, job_id, workers, 0);

	job_await(bench, id, JOB_RUNNING);
	return id;
}

static void end(struct bench *bench, int64_t id)
{
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
}

static void all_is_gone(struct bench *bench, int64_t last)
{
	idle_await(bench);
	job_check(bench, last, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_shared(bench->fake), 0);
}

static void the_next_job_takes_it_over(void **state)
{
	struct bench *bench = *state;
	int64_t id = 0;

	for (int i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "job_%d", i);
		id = running(bench, name, 1);
		end(bench, id);
		assert_int_equal(fake_engine_network_count(bench->fake), 1);
	}
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 1);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_REMOVE_NETWORK), 0);
	all_is_gone(bench, id);
}

static void jobs_side_by_side_have_one_each(void **state)
{
	struct bench *bench = *state;
	int64_t first = running(bench, "first", 0), second = running(bench, "second", 0), third;

	assert_int_equal(fake_engine_network_count(bench->fake), 2);
	end(bench, first);
	third = running(bench, "third", 0);
	assert_int_equal(fake_engine_network_count(bench->fake), 2);
	end(bench, second);
	end(bench, third);
	all_is_gone(bench, third);
}

static void a_restart_finds_who_is_on_it(void **state)
{
	struct bench *bench = *state;
	int64_t first = running(bench, "first", 1), second;

	/* The first job's containers still exist when the second job gets its network. */
	fake_engine_hold_removals(bench->fake, true);
	fake_engine_exit(bench->fake, &(struct replica_key){ .job = first, .attempt = 1 }, 0);
	while (fake_engine_calls(bench->fake, FAKE_REMOVE) < 2)
		usleep(1000);
	second = running(bench, "second", 1);
	assert_int_equal(fake_engine_network_count(bench->fake), 1);
	restart(bench);
	while (fake_engine_calls(bench->fake, FAKE_REMOVE) < 4)
		usleep(1000);
	fake_engine_hold_removals(bench->fake, false);
	job_await(bench, first, JOB_SUCCEEDED);
	assert_int_equal(fake_engine_network_count(bench->fake), 1);
	end(bench, running(bench, "third", 0));
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 2);
	end(bench, second);
	all_is_gone(bench, second);
}

static void after_a_restart_it_goes(void **state)
{
	struct bench *bench = *state;

	end(bench, running(bench, "job", 1));
	assert_int_equal(fake_engine_network_count(bench->fake), 1);
	restart(bench);
	network_free_await(bench);
	assert_int_equal(fake_engine_network_count(bench->fake), 0);
}

static void an_engine_that_goes_and_comes_leaves_none(void **state)
{
	struct bench *bench = *state;

	end(bench, running(bench, "job", 1));
	fake_engine_down(bench->fake, "gone");
	fake_engine_up(bench->fake);
	network_free_await(bench);
	assert_int_equal(fake_engine_network_count(bench->fake), 0);
	end(bench, running(bench, "next", 1));
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 2);
}

static void one_that_somebody_removed_is_made_anew(void **state)
{
	struct bench *bench = *state;
	struct replica_key master;
	int64_t id;

	end(bench, running(bench, "job", 0));
	fake_engine_snatch_networks(bench->fake);
	id = running(bench, "next", 0);
	master = key_of(id, ROLE_MASTER, 0);
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	job_await(bench, id, JOB_SUCCEEDED);
	all_is_gone(bench, id);
}

static void addresses_that_nobody_uses_are_given_back(void **state)
{
	struct bench *bench = *state;
	int64_t id;

	end(bench, running(bench, "small", 0));
	fake_engine_fail(bench->fake, FAKE_NETWORK, 1, STATUS_RESOURCE_EXHAUSTED);
	id = running(bench, "large", 61);
	assert_int_equal(fake_engine_network_count(bench->fake), 1);
	end(bench, id);
	all_is_gone(bench, id);
}

/* Fails with: network_find() that admits without an answer: PREPARING, and it stays so. */
static void a_job_stays_queued_until_there_is_a_block_for_its_network(void **state)
{
	struct bench *bench = *state;
	static const char line[] = "The job is queued: it waits for a network. No network can be made now: ";
	int64_t ids[2];

	fake_engine_fail_all(bench->fake, FAKE_NETWORK, STATUS_RESOURCE_EXHAUSTED);
	fake_engine_up(bench->fake);
	ids[0] = bench_submit(bench, "first", 0, 0);
	line_await(bench, "first", line);
	ids[1] = bench_submit(bench, "second", 0, 0);
	line_await(bench, "second", "it waits for its turn. 1 job is before it.");
	while (fake_engine_looks(bench->fake) < 2)
		usleep(1000);
	state_check(bench, ids[0], JOB_QUEUED);
	state_check(bench, ids[1], JOB_QUEUED);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 0);
	assert_int_equal(job_cancel(bench->store, "p", "first", "enough", NULL), STATUS_OK);
	job_await(bench, ids[0], JOB_CANCELLED);
	line_await(bench, "second", line);
	fake_engine_fail_all(bench->fake, FAKE_NETWORK, STATUS_OK);
	job_await(bench, ids[1], JOB_RUNNING);
	assert_int_equal(count_in_log(bench, "first", line), 1);
	end(bench, ids[1]);
	all_is_gone(bench, ids[1]);
}

/* Fails with: look->free not counted down, or asked for each job alone: one look each. */
static void jobs_that_come_together_need_one_look(void **state)
{
	struct bench *bench = *state;
	int64_t ids[4];
	char name[16];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "job_%d", i);
		ids[i] = bench_submit(bench, name, 0, 0);
	}
	for (int i = 0; i < 4; i++)
		job_await(bench, ids[i], JOB_RUNNING);
	assert_true(fake_engine_looks(bench->fake) < 4);
	for (int i = 0; i < 4; i++)
		end(bench, ids[i]);
}

/* Fails with: network_lack() left out: the job failed. */
static void a_job_whose_block_others_took_waits_for_one(void **state)
{
	struct bench *bench = *state;
	int64_t id;

	fake_engine_boast(bench->fake);
	fake_engine_fail_all(bench->fake, FAKE_NETWORK, STATUS_RESOURCE_EXHAUSTED);
	fake_engine_up(bench->fake);
	id = bench_submit(bench, "first", 0, 0);
	line_await(bench, "first", "The job waits for a network: ");
	while (fake_engine_calls(bench->fake, FAKE_NETWORK) < 2)
		usleep(1000);
	fake_engine_fail_all(bench->fake, FAKE_NETWORK, STATUS_OK);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(count_in_log(bench, "first", "The job waits for a network: "), 1);
	end(bench, id);
	all_is_gone(bench, id);
}

/* Fails with: networks_resolve() that finds none that asks: all were let in, with their room, for no network. let_in() that
 * lets in more than one: the third was, for none. */
static void where_blocks_are_short_one_asks_and_the_others_stay_queued(void **state)
{
	struct bench *bench = *state;
	static const char line[] = "The job is queued: it waits for a network. ";
	int64_t ids[3];

	fake_engine_boast(bench->fake);
	fake_engine_fail_all(bench->fake, FAKE_NETWORK, STATUS_RESOURCE_EXHAUSTED);
	fake_engine_up(bench->fake);
	ids[0] = bench_submit(bench, "first", 0, 0);
	line_await(bench, "first", "The job waits for a network: ");
	ids[1] = bench_submit(bench, "second", 0, 0);
	line_await(bench, "second", line);
	ids[2] = bench_submit(bench, "third", 0, 0);
	line_await(bench, "third", "it waits for its turn. 1 job is before it.");
	/* The first job gives up; the second then asks, and the third waits like the second before. */
	assert_int_equal(job_cancel(bench->store, "p", "first", "enough", NULL), STATUS_OK);
	job_await(bench, ids[0], JOB_CANCELLED);
	line_await(bench, "second", "The job waits for a network: ");
	line_await(bench, "third", line);
	state_check(bench, ids[1], JOB_PREPARING);
	state_check(bench, ids[2], JOB_QUEUED);
	fake_engine_fail_all(bench->fake, FAKE_NETWORK, STATUS_OK);
	job_await(bench, ids[1], JOB_RUNNING);
	job_await(bench, ids[2], JOB_RUNNING);
	assert_int_equal(count_in_log(bench, "second", line), 1);
	/* There are free blocks again. */
	end(bench, running(bench, "fourth", 0));
	end(bench, ids[1]);
	end(bench, ids[2]);
	all_is_gone(bench, ids[2]);
}

/* The engine lists what it has while a job that has left its network waits for its containers to go: that it was the
 * last on it gives it nothing back. Fails with: it left it a second time, and two jobs were on it. The next listing gives it
 * to one of them: the other, if it had no containers yet, waited for it ever after. */
static void one_that_was_left_is_taken_once_though_all_is_listed_anew(void **state)
{
	struct bench *bench = *state;
	const int64_t first = running(bench, "first", 0);
	const struct replica_key master = key_of(first, ROLE_MASTER, 0);
	int64_t second, third;

	fake_engine_hold_removals(bench->fake, true);
	fake_engine_exit(bench->fake, &master, 0);
	while (fake_engine_calls(bench->fake, FAKE_REMOVE) < 1)
		usleep(1000);
	/* The order for the removal has already left the network; this event comes later. */
	fake_engine_list(bench->fake, 0);
	second = running(bench, "second", 0);
	third = running(bench, "third", 0);
	assert_int_equal(fake_engine_shared(bench->fake), 0);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_NETWORK), 2);
	fake_engine_list(bench->fake, 0);
	fake_engine_hold_removals(bench->fake, false);
	job_await(bench, first, JOB_SUCCEEDED);
	end(bench, second);
	end(bench, third);
	all_is_gone(bench, third);
}

static void a_cancel_at_any_moment_leaves_nothing(void **state)
{
	struct bench *bench = *state;
	int64_t id = 0;

	for (int i = 0; i < 30; i++) {
		char name[16];

		snprintf(name, sizeof(name), "job_%d", i);
		id = bench_submit(bench, name, 1, 0);
		usleep((unsigned)i * 150);
		assert_int_equal(job_cancel(bench->store, "p", name, "The job was cancelled.", NULL),
				 STATUS_OK);
	}
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "The job was cancelled.");
	assert_int_equal(fake_engine_shared(bench->fake), 0);
}

#define ALONE(name)   cmocka_unit_test(name)
#define KEEPING(name) cmocka_unit_test_setup_teardown(name, setup_keeping, bench_teardown)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(the_smallest_that_holds_a_job_is_taken),
		ALONE(turns_are_counted),
		ALONE(it_is_kept_for_a_moment_and_longer_while_others_start),
		ALONE(of_too_many_the_oldest_goes),
		ALONE(none_is_kept_at_the_end),
		ALONE(one_that_is_still_made_goes),
		ALONE(one_that_could_not_be_removed_is_looked_for),
		KEEPING(the_next_job_takes_it_over),
		KEEPING(jobs_side_by_side_have_one_each),
		KEEPING(a_restart_finds_who_is_on_it),
		KEEPING(after_a_restart_it_goes),
		KEEPING(an_engine_that_goes_and_comes_leaves_none),
		KEEPING(one_that_somebody_removed_is_made_anew),
		KEEPING(addresses_that_nobody_uses_are_given_back),
		KEEPING(a_job_stays_queued_until_there_is_a_block_for_its_network),
		KEEPING(jobs_that_come_together_need_one_look),
		KEEPING(a_job_whose_block_others_took_waits_for_one),
		KEEPING(where_blocks_are_short_one_asks_and_the_others_stay_queued),
		KEEPING(one_that_was_left_is_taken_once_though_all_is_listed_anew),
		KEEPING(a_cancel_at_any_moment_leaves_nothing),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
