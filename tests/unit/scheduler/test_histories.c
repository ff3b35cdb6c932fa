/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler through random histories: clients submit and cancel, programs end, operations fail or their answers are lost,
 * the engine goes, dies and comes back, containers vanish or are paused, faults are ordered, networks are kept for the next
 * job, GPUs are given out, searches begin trials, which report, fail and are stopped early, the daemon dies between any two
 * effects, clocks move and are set. At the end everything works again, and every job must end as the truth says, with nothing
 * left.
 *
 * TRAINYARD_HISTORIES=COUNT runs so many, TRAINYARD_HISTORY=SEED one of them, with all that happens in it. A history that
 * breaks a rule is made shorter before it is shown. */
#include "tests/unit/testing.h"

#include "tests/unit/scheduler/world_acts_testing.h"

enum { STEPS_MAX = 160, TURNS_MAX = 4000, SECOND_US = 1000000 };

/* ---- what happens ---- */

static void time_go(int64_t deadline_us)
{
	static const int64_t steps_us[] = { 1000, SECOND_US, 3 * SECOND_US, 30 * SECOND_US };
	const unsigned step = choose(5);
	bool streams = false; /* an event may be late by less than a second */

	for (size_t i = 0; i < world.event_count; i++)
		streams = streams || world.events[i].streamed;
	if (streams)
		time_pass(steps_us[0]);
	else if (step < 4)
		time_pass(steps_us[step]);
	else if (deadline_us < INT64_MAX && deadline_us > world.mono_us)
		time_pass(deadline_us - world.mono_us);
}

static void client_act(void)
{
	static const int64_t limits_us[] = { 0, 0, 0, 20 * SECOND_US };
	struct client_job *job;

	if (!world.job_count || (world.client_count < CLIENT_JOBS_MAX && choose(3))) {
		const unsigned workers = choose(3), gpus = choose(4);
		const int64_t running_us = limits_us[choose(4)];

		if (choose(4) == 1)
			search_submit(1 + choose(TRIALS_MAX), 1 + choose(3), choose(3), choose(2));
		else
			client_submit(workers, gpus > DEVICES ? 0 : gpus, running_us, limits_us[choose(4)]);
		return;
	}
	job = &world.jobs[choose((unsigned)world.job_count)];
	switch (choose(3)) {
	case 1:
		client_cancel(job);
		break;
	case 2:
		world.cancels_when_read = job->row.id;
		break;
	}
}

static void happen(int64_t deadline_us)
{
	switch (choose(46)) {
	case 0 ... 6:
		operation_do();
		break;
	case 7 ... 14:
		event_deliver();
		break;
	case 15 ... 17:
		barrier_pass();
		break;
	case 18 ... 21:
		client_act();
		break;
	case 22 ... 24:
		program_end();
		break;
	case 25 ... 26:
		time_go(deadline_us);
		break;
	case 27:
		operation_go_wrong();
		break;
	case 28:
		engine_go(choose(2));
		break;
	case 29:
		if (!world.engine_up)
			engine_come();
		break;
	case 30:
		if (choose(2))
			outside_snatch();
		else
			outside_kill();
		break;
	case 31:
		daemon_restart();
		break;
	case 32:
		world.effects_left = (int)choose(4);
		break;
	case 33:
		listing_post();
		break;
	case 34:
		world.stores_failing = 1;
		break;
	case 35:
		outside_network_remove();
		break;
	case 36 ... 37:
		outside_pause();
		break;
	case 38:
		clock_step();
		break;
	case 39 ... 41:
		trial_report();
		break;
	case 42 ... 45:
		suggestion_compute(false);
		break;
	}
}

/* ---- one history ---- */

static void world_begin(void)
{
	world.choice_at = 0;
	world.violation[0] = '\0';
	world.mono_us = 1000 * (int64_t)SECOND_US;
	world.wall_us = INT64_C(1700000000) * SECOND_US;
	world.clock = (struct clock){ world_wall_ns, world_mono_us, NULL, NULL };
	world.job_count = world.client_count = world.container_count = world.network_count = 0;
	world.operation_count = world.event_count = world.barrier_count = 0;
	world.stores_failing = 0;
	world.cancels_when_read = 0;
	world.lease_count = 0;
	world.clock_set = false;
	world.pooled_network_ms = choose(2) ? 3000 : 0;
	world.fault_seed = choose(2) ? choose(60000) : 0;
	world.engine = (struct engine){ &world_ops };
	world.engine_up = true;
	world.list_asked = world.image_refused = false;
	world.effects = 0;
	daemon_start();
}

static void world_end(void)
{
	daemon_die();
	for (size_t i = 0; i < world.job_count; i++) {
		for (size_t at = 0; at < world.jobs[i].trial_count; at++) {
			free(world.jobs[i].trials[at].parameters);
			free(world.jobs[i].trials[at].final);
		}
		job_deinit(&world.jobs[i].row);
	}
}

static bool jobs_are_over(void)
{
	for (size_t i = 0; i < world.job_count; i++)
		if (!job_state_is_final(world.jobs[i].row.state))
			return false;
	return true;
}

/* From here on nothing fails: everything that was begun is completed, programs end with 0, and time passes if nothing
 * else happens. */
static void world_settle(void)
{
	TELL("from here on all goes well");
	world.stores_failing = 0;
	world.cancels_when_read = 0;
	world.effects_left = -1;
	if (!world.engine_up)
		engine_come();
	for (size_t i = 0; i < world.container_count; i++)
		if (runs(&world.containers[i]) && world.containers[i].status.paused)
			container_pause(&world.containers[i], false);
	for (int i = 0; i < TURNS_MAX && !world.violation[0]; i++) {
		const int64_t deadline_us = turn();

		idle_check();
		if (!world.reported_up)
			up_post();
		else if (operation_do() || suggestion_compute(true))
			continue;
		else if (world.event_count)
			event_deliver();
		else if (world.barrier_count)
			barrier_pass();
		else if (world.list_asked)
			listing_post();
		else if (jobs_are_over() && !world.network_count &&
			 network_pool_is_empty(&world.scheduler->nodes[0].pool))
			return;
		else if (deadline_us <= world.mono_us + 2 * SECOND_US && i % 8) /* a search is looked at every 2 s */
			time_pass(deadline_us > world.mono_us ? deadline_us - world.mono_us : 1);
		else if (container_choose(true))
			container_end(container_choose(true), BY_ITSELF, 0, true);
		else if (deadline_us < INT64_MAX)
			time_pass(deadline_us > world.mono_us + 60 * SECOND_US ? deadline_us - world.mono_us
									       : 60 * SECOND_US);
		else
			break;
	}
	VIOLATE("nothing goes on: jobs %s, %zu networks, %u networks are going",
		jobs_are_over() ? "over" : "not over", world.network_count, world.scheduler->nodes[0].pool.going);
}

static void ends_check(void)
{
	for (size_t i = 0; i < world.container_count; i++)
		if (world.containers[i].exists)
			VIOLATE("%s is left", key_text(&world.containers[i].status.key));
	for (size_t i = 0; i < world.job_count; i++) {
		const struct job *row = &world.jobs[i].row;

		if (row->state != JOB_SUCCEEDED && !row->error_message)
			VIOLATE("job %d ended without a reason", (int)row->id);
		if (world.jobs[i].has_directory)
			VIOLATE("the reports of job %d are left", (int)row->id);
		if (row->state == JOB_SUCCEEDED && world.jobs[i].cancelled)
			VIOLATE("job %d was cancelled and succeeds", (int)row->id);
	}
}

static void history_run(void)
{
	unsigned steps;

	world_begin();
	steps = choose(STEPS_MAX);
	if (choose(8))
		up_post();
	if (world.reported_up)
		listing_post();
	for (unsigned i = 0; i < steps && !world.violation[0]; i++) {
		int64_t deadline_us = INT64_MAX;

		if (choose(3) != 1)
			deadline_us = turn();
		happen(deadline_us);
	}
	if (!world.violation[0])
		world_settle();
	if (!world.violation[0])
		ends_check();
	world_end();
}

static bool history_fails(const uint16_t *choices, size_t count)
{
	memcpy(world.choices, choices, count * sizeof(*choices));
	world.choice_count = count;
	world.random = 0;
	history_run();
	return world.violation[0];
}

/* Simplifies the history: leaves choices out or makes them 0, while it still breaks a rule. */
static void history_shrink(void)
{
	static uint16_t best[CHOICES_MAX], tried[CHOICES_MAX];
	size_t count = world.choice_count;
	bool better = true;

	memcpy(best, world.choices, count * sizeof(*best));
	while (better) {
		better = false;
		for (size_t length = count / 2 + 1; length; length /= 2)
			for (size_t at = 0; at + length <= count;) {
				memcpy(tried, best, at * sizeof(*tried));
				memcpy(tried + at, best + at + length,
				       (count - at - length) * sizeof(*tried));
				if (history_fails(tried, count - length)) {
					count -= length;
					memcpy(best, tried, count * sizeof(*best));
					better = true;
				} else {
					at += length;
				}
			}
		for (size_t at = 0; at < count; at++)
			while (best[at]) {
				memcpy(tried, best, count * sizeof(*tried));
				tried[at] = best[at] / 2;
				if (!history_fails(tried, count))
					break;
				best[at] = tried[at];
				better = true;
			}
	}
	memcpy(tried, best, count * sizeof(*tried));
	world.tells = true;
	history_fails(tried, count);
	world.tells = false;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void every_job_ends_as_the_truth_says_through_any_history(void **state)
{
	const uint64_t seed = number_from("TRAINYARD_HISTORY", 0);
	const uint64_t count = number_from("TRAINYARD_HISTORIES", 2000);
	const uint64_t first = number_from("TRAINYARD_HISTORIES_FROM", 1);
	const int64_t began_us = clock_mono_us(&system_clock);

	(void)state;
	for (uint64_t i = first; i < first + (seed ? 1 : count); i++) {
		world.random = (seed ? seed : i) * 0x9e3779b97f4a7c15u;
		world.choice_count = 0;
		history_run();
		if (world.violation[0]) {
			const uint64_t failed = seed ? seed : i;

			history_shrink();
			fflush(stdout);
			fail_msg("history %llu: %s", (unsigned long long)failed, world.violation);
		}
	}
	if (!seed)
		printf("# %llu histories, %.0f a second\n", (unsigned long long)count,
		       (double)count * SECOND_US / (double)(clock_mono_us(&system_clock) - began_us + 1));
}

static struct operation *asked(enum verb verb)
{
	for (size_t i = 0; i < world.operation_count; i++)
		if (world.operations[i].verb == verb && !world.operations[i].answered)
			return &world.operations[i];
	return NULL;
}

/* Nothing fails until @verb is asked for. */
static struct operation *ask_await(enum verb verb)
{
	for (int i = 0; i < 100 && !asked(verb); i++) {
		operation_do();
		while (world.event_count)
			event_take(0);
		turn();
	}
	assert_non_null(asked(verb));
	return asked(verb);
}

static void history_end(void)
{
	world_settle();
	ends_check();
	world_end();
	if (world.violation[0])
		fail_msg("%s", world.violation);
}

static void history_begin(void)
{
	world.random = 0;
	world.choice_count = 0;
	world_begin();
	up_post();
	listing_post();
	client_submit(0, 0, 0, 0);
	turn();
}

static void a_network_that_was_made_without_an_answer_is_removed_with_its_job(void **state)
{
	(void)state;
	history_begin();
	answer_lose(ask_await(CREATE_NETWORK));
	event_take(0);
	client_cancel(&world.jobs[0]);
	history_end();
}

static void a_program_that_a_first_loss_of_the_engine_killed_is_not_blamed_after_a_second(void **state)
{
	(void)state;
	history_begin();
	operation_run(ask_await(START));
	assert_true(runs(&world.containers[0]));
	engine_go(true);
	turn();
	time_pass(60 * (int64_t)SECOND_US);
	engine_come();
	turn();
	engine_go(false); /* before anything was listed */
	turn();
	history_end();
}

/* Fails with: is_of_loss() without clock_set_in_loss: the end lay after the engine's return, and the program was blamed. */
static void a_program_that_the_engine_killed_is_not_blamed_when_the_clock_is_put_back(void **state)
{
	(void)state;
	history_begin();
	operation_run(ask_await(START));
	while (world.event_count)
		event_take(0);
	turn();
	engine_go(true);
	turn();
	world.wall_us -= 3600 * (int64_t)SECOND_US;
	world.clock_set = true;
	engine_come();
	turn();
	listing_post();
	turn();
	history_end();
}

static void a_container_whose_start_fails_late_is_removed_with_its_job(void **state)
{
	struct operation *start;

	(void)state;
	history_begin();
	start = ask_await(START);
	key_event(ENGINE_REPLICA_CREATED, &start->key, NULL);
	event_take(0);
	operation_fail(start, STATUS_INVALID_ARGUMENT);
	event_take(0);
	history_end();
}

/* Submits jobs until two of four have to wait. */
static void waiting_begin(int64_t max_wait_us)
{
	history_begin();
	for (int i = 0; i < 3; i++)
		client_submit(0, 0, 0, max_wait_us);
	for (int i = 0; i < 100; i++) {
		operation_do();
		while (world.event_count)
			event_take(0);
		turn();
	}
}

/* Fails with: jobs_rest() that leaves nothing to the store: the last one was in memory. */
static void a_job_that_only_waits_is_in_the_store_alone(void **state)
{
	(void)state;
	waiting_begin(0);
	assert_int_equal(world.scheduler->queue_count, 2);
	assert_non_null(world.scheduler->queue[0]->run);
	assert_null(world.scheduler->queue[1]->run);
	history_end();
}

/* Fails with: jobs_open() that reckons the limit anew: the clock that was put back gave the job as long again. */
static void a_limit_of_a_job_that_only_waits_stays_when_the_clock_is_put_back(void **state)
{
	(void)state;
	waiting_begin(20 * SECOND_US);
	assert_null(world.scheduler->queue[1]->run);
	world.wall_us -= 3600 * (int64_t)SECOND_US;
	world.clock_set = true;
	time_pass(21 * SECOND_US);
	turn();
	assert_int_equal(world.jobs[3].row.outcome, JOB_CANCELLED);
	history_end();
}

/* Fails with: jobs_open() without logged_loss: told once more. */
static void a_job_that_only_waits_tells_once_that_the_engine_is_away(void **state)
{
	(void)state;
	waiting_begin(0);
	engine_go(false);
	turn();
	assert_int_equal(world.jobs[3].engine_lines, 1);
	assert_null(world.scheduler->queue[1]->run);
	scheduler_wake(world.scheduler, 4);
	turn();
	assert_int_equal(world.jobs[3].engine_lines, 1);
	history_end();
}

/* The walk along the queue reads the row from the store. Fails with: wait_report() for a run that is stale: the job was told that
 * it waits for its turn. */
static void a_job_that_is_cancelled_while_it_waits_is_not_told_that_it_waits(void **state)
{
	(void)state;
	waiting_begin(0);
	daemon_restart();
	assert_null(world.scheduler->queue[1]->run);
	world.cancels_when_read = 4;
	up_post();
	listing_post();
	turn();
	assert_int_equal(world.cancels_when_read, 0);
	history_end();
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_only_waits_is_in_the_store_alone),
		cmocka_unit_test(a_limit_of_a_job_that_only_waits_stays_when_the_clock_is_put_back),
		cmocka_unit_test(a_job_that_only_waits_tells_once_that_the_engine_is_away),
		cmocka_unit_test(a_job_that_is_cancelled_while_it_waits_is_not_told_that_it_waits),
		cmocka_unit_test(a_network_that_was_made_without_an_answer_is_removed_with_its_job),
		cmocka_unit_test(
			a_program_that_a_first_loss_of_the_engine_killed_is_not_blamed_after_a_second),
		cmocka_unit_test(a_program_that_the_engine_killed_is_not_blamed_when_the_clock_is_put_back),
		cmocka_unit_test(a_container_whose_start_fails_late_is_removed_with_its_job),
		cmocka_unit_test(every_job_ends_as_the_truth_says_through_any_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
