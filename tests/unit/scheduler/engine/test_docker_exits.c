/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how the engine reports an exit, which events, listings and the end of output can all show. */
#include "tests/unit/scheduler/engine/docker_testing.h"

/* Fails with: replica_died() that takes no signal, or takes that of another container: what was stopped from outside was the
 * program's fault; or of an earlier life of the link; signal_note() that takes any signal for a deadly one, or believes a label. */
static void an_exit_tells_whether_a_signal_was_sent(void **state)
{
	static const struct {
		const char *events;
		bool signalled;
	} cases[] = {
		{ DIE_MASTER, false },
		{ EVENT_MASTER("kill", "\"signal\":\"15\",") DIE_MASTER, true },
		{ EVENT_MASTER("kill", "") EVENT_MASTER("kill", "") DIE_MASTER, true },
		{ EVENT_OF("kill", "by-hand") DIE_MASTER, false },
		/* `docker kill -s USR1`, and later `exit 143`. */
		{ EVENT_MASTER("kill", "\"signal\":\"10\",") DIE_MASTER, false },
		{ EVENT_MASTER("kill", "\"signal\":\"15\",")
				  EVENT_MASTER("kill", "\"signal\":\"10\",") DIE_MASTER,
		  true },
		/* LABEL signal=10, and `docker stop`. */
		{ EVENT_MASTER("kill", "\"signal\":\"10\",") EVENT_MASTER("die", "\"signal\":\"10\","), true },
		{ EVENT_MASTER("die", "\"signal\":\"15\","), false },
		{ EVENT_MASTER("kill", "") EVENT_MASTER("destroy", "") DIE_MASTER, false },
	};
	struct lab *lab = *state;

	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct replica_status *seen;

		rule_set(lab, 0, (struct rule){ "/events", 200, cases[i].events });
		lab_open(lab);
		seen = &lab->events[expect_event(lab, ENGINE_REPLICA_EXITED)].replica;
		lab_close(lab);
		if (seen->signalled != cases[i].signalled || seen->witnessed == seen->signalled)
			fail_msg("case %zu", i);
	}
}

static void an_exit_is_told_once_and_after_the_start(void **state)
{
	struct lab *lab = *state;
	size_t exited;

	rule_set(lab, 0, (struct rule){ "/events", 200, DIE_MASTER, 0, 0 });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER, 0, 0 });
	up(lab);
	exited = expect_event(lab, ENGINE_REPLICA_EXITED);
	assert_int_equal(lab->events[exited].replica.exit_code, 3);
	assert_int_equal(lab->events[exited].replica.finished_ns, INT64_C(1795210192000000000));
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 1);
}

/* Fails with: exit_inspected() that takes the code of the event, as it did: a label of the image had said 5. */
static void an_exit_of_a_vanished_container_is_left_to_the_event_of_its_removal(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0,
		 (struct rule){ "/events", 200, "garbage\n{}\n" DIE_MASTER EVENT_MASTER("destroy", "") });
	up(lab);
	expect_event(lab, ENGINE_REPLICA_REMOVED);
	settle(lab);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 0);
}

/* Fails with: event_is_of_its_name() true: a running replica was taken for gone. */
static void events_of_a_container_with_the_labels_of_ours_are_not_of_ours(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0,
		 (struct rule){ "/events", 200,
				EVENT_OF("destroy", "by-hand") EVENT_OF("pause", "by-hand")
					EVENT_MASTER("unpause", "") });
	up(lab);
	assert_false(lab->events[expect_event(lab, ENGINE_REPLICA_PAUSED)].replica.paused);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_REMOVED), 0);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_PAUSED), 1);
}

/* dockerd 20.10 reports the end, and after it the kernel's kill, which its inspection then never shows.
 * Fails with: exit_inspected() without exit_lacks_reason(), or replica_ran_out_of_memory() that marks nothing: a plain 137. */
static void a_kill_for_memory_that_is_reported_after_the_end_is_its_reason(void **state)
{
	struct lab *lab = *state;
	struct replica_status seen;

	rule_set(lab, 0, (struct rule){ "/events", 200, DIE_MASTER EVENT_MASTER("oom", "") });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, KILLED_MASTER });
	lab_open(lab);
	seen = lab->events[expect_event(lab, ENGINE_REPLICA_EXITED)].replica;
	lab_close(lab);
	assert_true(seen.out_of_memory && seen.witnessed);
	/* Without such a report the exit is reported after the second look. */
	rule_set(lab, 0, (struct rule){ "/events", 200, DIE_MASTER });
	lab_open(lab);
	seen = lab->events[expect_event(lab, ENGINE_REPLICA_EXITED)].replica;
	lab_close(lab);
	assert_int_equal(seen.exit_code, 137);
	assert_false(seen.out_of_memory);
}

/* Fails with: exit_inspected() that leaves to the next listing what broke alone: an exit was told half a minute late. */
static void an_exit_whose_inspection_breaks_is_looked_at_again(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/events", 200, DIE_MASTER });
	rule_set(lab, 1,
		 (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER, .times = 1, .cut = true });
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	lab_open(lab);
	expect_event(lab, ENGINE_REPLICA_EXITED);
	assert_int_equal(rule_asked(lab, 1), 1);
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Fails with: likewise; it was never told. */
static void an_exit_whose_inspections_all_break_is_told_by_a_listing(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/events", 200, DIE_MASTER });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, CREATED_MASTER, .cut = true });
	lab_open(lab);
	expect_event(lab, ENGINE_LISTING);
	expect_event(lab, ENGINE_LISTING); /* so it did not wait for the next regular listing, after half a minute */
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 0);
}

/* The event of the exit came before this daemon subscribed, and the listing still shows the container as running, as
 * dockerd does while it removes the network of an ended container. Fails with: follower_end() without the exit: the job
 * waited for the next listing, half a minute. */
static void an_exit_that_neither_event_nor_listing_tells_comes_with_the_end_of_its_output(void **state)
{
	struct lab *lab = *state;
	static const struct log_position beginning;
	size_t exited, ended;

	rule_set(lab, 0,
		 (struct rule){ "/containers/json?all=1", 200, "[{\"State\":\"running\",\"Labels\":" LABELS "}]", 0,
				0 });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER, 0, 0 });
	rule_set(lab, 2, (struct rule){ "/logs", 200, NULL, 0, 0 });
	up(lab);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	ended = expect_event(lab, ENGINE_LOGS_ENDED);
	exited = expect_event(lab, ENGINE_REPLICA_EXITED);
	assert_true(exited < ended);
	assert_int_equal(lab->events[exited].replica.exit_code, 3);
}

/* The event of the exit is still to come, or came before the output was followed. Fails with: exit_is_unreported() without
 * the engine's time: told here, and by the event. */
static void an_exit_after_the_events_that_were_asked_for_is_left_to_them(void **state)
{
	struct lab *lab = *state;
	static const struct log_position beginning;

	rule_set(lab, 0,
		 (struct rule){ "/containers/json?all=1", 200, "[{\"State\":\"running\",\"Labels\":" LABELS "}]", 0,
				0 });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER, 0, 0 });
	rule_set(lab, 2, (struct rule){ "/logs", 200, NULL, 0, 0 });
	rule_set(lab, 3,
		 (struct rule){ "/info", 200,
				"{\"NCPU\":2,\"MemTotal\":1000,\"SystemTime\":\"2026-11-20T21:29:51.9Z\"}", 0,
				0 });
	up(lab);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 0);
}

/* Fails with: follower_note_exit() left out: told twice. */
static void an_exit_that_an_event_has_told_does_not_come_again_with_the_end_of_its_output(void **state)
{
	struct lab *lab = *state;
	static const struct log_position beginning;

	rule_set(lab, 0, (struct rule){ "/events", 200, DIE_MASTER, 0, 0 });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER, 0, 0 });
	rule_set(lab, 2, (struct rule){ "/logs", 500, "{}", 0, 2 });
	rule_set(lab, 3, (struct rule){ "/logs", 200, NULL, 0, 0 });
	rule_set(lab, 4, (struct rule){ "/_ping", 0, NULL, 0, 0 });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	rule_set(lab, 4, (struct rule){ "/_ping", 200, "OK", 0, 0 });
	expect_event(lab, ENGINE_REPLICA_EXITED);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 1);
}

static void a_listing_does_not_contradict_an_event_before_it(void **state)
{
	struct lab *lab = *state;
	size_t listing;

	/* The list was made before the exit, and arrives after its event. */
	rule_set(lab, 0,
		 (struct rule){ "/containers/json?all=1", 200, "[{\"State\":\"running\",\"Labels\":" LABELS "}]", 0,
				0 });
	rule_set(lab, 1, (struct rule){ "/events", 200, DIE_MASTER, 0, 0 });
	rule_set(lab, 2, (struct rule){ "GET /v1.41/networks?", -1, NULL, 0, 1 });
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	expect_event(lab, ENGINE_REPLICA_EXITED);
	lab->engine->ops->list(lab->engine); /* waits for the call that hangs */
	lab_close(lab);
	assert_int_equal(events_count(lab, ENGINE_LISTING), 0);
	/* Now a removal is answered while the listing is being made. */
	rule_set(lab, 2, (struct rule){ NULL, 0, NULL, 0, 0 });
	rule_set(lab, 0, (struct rule){ "DELETE", 204, NULL, 0, 0 });
	rule_set(lab, 1,
		 (struct rule){ "/containers/json?all=1", 200, "[{\"State\":\"running\",\"Labels\":" LABELS "}]", 0,
				0 });
	up(lab);
	lab->engine->ops->list(lab->engine);
	lab->engine->ops->remove_replica(lab->engine, &master);
	expect_event(lab, ENGINE_REPLICA_REMOVED);
	listing = expect_event(lab, ENGINE_LISTING);
	pthread_mutex_lock(&lab->lock);
	for (size_t i = 0; i < listing; i++)
		if (lab->events[i].kind == ENGINE_REPLICA_REMOVED)
			assert_int_equal(lab->events[listing].replica_count, 0);
	pthread_mutex_unlock(&lab->lock);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(an_exit_tells_whether_a_signal_was_sent),
		LAB_TEST(an_exit_is_told_once_and_after_the_start),
		LAB_TEST(an_exit_of_a_vanished_container_is_left_to_the_event_of_its_removal),
		LAB_TEST(events_of_a_container_with_the_labels_of_ours_are_not_of_ours),
		LAB_TEST(a_kill_for_memory_that_is_reported_after_the_end_is_its_reason),
		LAB_TEST(an_exit_whose_inspection_breaks_is_looked_at_again),
		LAB_TEST(an_exit_whose_inspections_all_break_is_told_by_a_listing),
		LAB_TEST(an_exit_that_neither_event_nor_listing_tells_comes_with_the_end_of_its_output),
		LAB_TEST(an_exit_after_the_events_that_were_asked_for_is_left_to_them),
		LAB_TEST(an_exit_that_an_event_has_told_does_not_come_again_with_the_end_of_its_output),
		LAB_TEST(a_listing_does_not_contradict_an_event_before_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker exits", tests, start, NULL);
}
