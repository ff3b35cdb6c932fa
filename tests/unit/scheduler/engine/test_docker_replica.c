/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_replica.c: calls that overlap, and refusals. */
#include "tests/unit/scheduler/engine/docker_testing.h"

#define INSPECT "/ty-t-1-master-0-a1/json"

struct failure {
	struct rule rule;
	enum status status;
	const char *text; /* NULL: not checked */
};

static void create(struct lab *lab)
{
	struct replica_spec spec = spec_of();

	lab->engine->ops->create_replica(lab->engine, &spec);
}

static void start_master(struct lab *lab)
{
	lab->engine->ops->start_replica(lab->engine, &master);
}

static void stop_master(struct lab *lab)
{
	lab->engine->ops->stop_replica(lab->engine, &master, 7);
}

static void remove_master(struct lab *lab)
{
	lab->engine->ops->remove_replica(lab->engine, &master);
}

static void assert_failures(struct lab *lab, void (*ask)(struct lab *lab), enum engine_event_kind kind,
			    const struct failure *failures, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t failed;

		rule_set(lab, 0, failures[i].rule);
		ask(lab);
		failed = expect_event(lab, kind);
		assert_int_equal(lab->events[failed].status, failures[i].status);
		assert_true(docker_key_equal(&lab->events[failed].replica.key, &master));
		if (failures[i].text)
			assert_string_equal(lab->events[failed].text, failures[i].text);
	}
}

/* Connects; the stream of events sends an event only when the test says so. */
static void up_with_events_held(struct lab *lab)
{
	rule_set(lab, RULES_MAX - 2, (struct rule){ "/events", HOLD });
	for (size_t i = 0; i < RULES_MAX - 2; i++) /* none of them ends the rules */
		if (!lab->rules[i].request)
			rule_set(lab, i, (struct rule){ "no such request", 200 });
	up(lab);
}

static void events_tell(struct lab *lab, const char *events)
{
	rule_set(lab, RULES_MAX - 2, (struct rule){ "/events", 200, events });
	settle(lab);
}

/* ---- tests ---- */

static void a_refused_create_is_told_with_the_engines_words(void **state)
{
	static const struct failure failures[] = {
		{ { "/containers/create", 400, "{\"message\":\"Range of CPUs is from 0.01 to 2.00\"}" },
		  STATUS_INVALID_ARGUMENT,
		  "Range of CPUs is from 0.01 to 2.00" },
		{ { "/containers/create", 404, "{\"message\":\"No such image: i\"}" },
		  STATUS_NOT_FOUND,
		  "No such image: i" },
		{ { "/containers/create", 500, "no space left on device\n" },
		  STATUS_INTERNAL,
		  "no space left on device" },
		{ { "/containers/create", 201, "{\"Id\":", .cut = true }, STATUS_UNAVAILABLE },
	};
	struct lab *lab = *state;

	up(lab);
	assert_failures(lab, create, ENGINE_REPLICA_FAILED, failures, COUNT_OF(failures));
}

/* Podman answers 500 if a name is in use. Fails with: create_done() without it: the job failed. */
static void a_container_of_an_earlier_daemon_is_taken_over(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/containers/create", 500, "{\"message\":\"the name is already in use\"}" });
	rule_set(lab, 1, (struct rule){ INSPECT, 200, CREATED_MASTER });
	up(lab);
	create(lab);
	expect_event(lab, ENGINE_REPLICA_CREATED);
}

static void a_taken_name_that_nobody_has_is_not_waited_for_for_ever(void **state)
{
	static const struct failure failure = { { INSPECT, 500, "{\"message\":\"broken\"}" },
						STATUS_INTERNAL,
						"broken" };
	struct lab *lab = *state;
	size_t failed;

	rule_set(lab, 0, (struct rule){ INSPECT, 404, "{\"message\":\"No such container\"}" });
	rule_set(lab, 1, (struct rule){ "/containers/create", 409, "{\"message\":\"Conflict\"}" });
	up(lab);
	create(lab);
	failed = expect_event(lab, ENGINE_REPLICA_FAILED);
	assert_string_equal(lab->events[failed].text, "No such container");
	assert_failures(lab, create, ENGINE_REPLICA_FAILED, &failure, 1);
}

static void a_description_that_is_no_text_is_refused(void **state)
{
	struct lab *lab = *state;
	struct replica_spec spec = spec_of();

	spec.hostname = "\xff";
	up(lab);
	lab->engine->ops->create_replica(lab->engine, &spec);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_REPLICA_FAILED)].status,
			 STATUS_INVALID_ARGUMENT);
	assert_false(was_asked(lab, "/containers/create"));
}

/* Fails with: refusal_status() that takes each 500 for the engine's own fault: the job was tried four times. */
static void a_refused_start_is_told_with_the_engines_words(void **state)
{
	static const struct failure failures[] = {
		{ { "/start", 500, "{\"message\":\"could not select device driver\"}" },
		  STATUS_FAILED_PRECONDITION,
		  "could not select device driver" },
		{ { "/start", 500, "{\"message\":\"unable to find user nosuch: no matching entries\"}" },
		  STATUS_FAILED_PRECONDITION,
		  "unable to find user nosuch: no matching entries" },
		{ { "/start", 500, "{\"message\":\"failed to create shim task\"}" },
		  STATUS_INTERNAL,
		  "failed to create shim task" },
		{ { "/start", 400, "{\"message\":\"exec: /nosuch: no such file\"}" },
		  STATUS_INVALID_ARGUMENT,
		  "exec: /nosuch: no such file" },
		{ { "/start", 0 }, STATUS_UNAVAILABLE },
		{ { INSPECT, 500, "{\"message\":\"broken\"}" }, STATUS_INTERNAL, "broken" },
		{ { INSPECT, 200, "{\"State\":{}}" },
		  STATUS_INTERNAL,
		  "the engine's account of the container cannot be understood" },
	};
	struct lab *lab = *state;

	rule_set(lab, 1, (struct rule){ INSPECT, 200, CREATED_MASTER });
	up(lab);
	assert_failures(lab, start_master, ENGINE_REPLICA_FAILED, failures, COUNT_OF(failures));
}

/* The start is repeated after a crash. Fails with: start_looked() that starts whatever it sees: an exited program ran
 * twice. */
static void what_was_started_before_is_not_started_again(void **state)
{
	struct lab *lab = *state;
	size_t exited;

	rule_set(lab, 0, (struct rule){ INSPECT, 200, RUNNING_MASTER });
	up(lab);
	start_master(lab);
	expect_event(lab, ENGINE_REPLICA_STARTED);
	rule_set(lab, 0, (struct rule){ INSPECT, 200, EXITED_MASTER });
	start_master(lab);
	expect_event(lab, ENGINE_REPLICA_STARTED);
	exited = expect_event(lab, ENGINE_REPLICA_EXITED);
	assert_int_equal(lab->events[exited].replica.exit_code, 3);
	assert_false(was_asked(lab, "/start"));
}

/* Fails with: start_revoke() false: the engine said "not running" to the stop, and the program ran on. */
static void a_stop_waits_for_a_start_that_has_begun(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ INSPECT, 200, CREATED_MASTER });
	rule_set(lab, 1, (struct rule){ "/start", HOLD });
	rule_set(lab, 2, (struct rule){ "/stop?t=7 ", 204 });
	up(lab);
	start_master(lab);
	expect_asked(lab, 1, 1);
	start_master(lab); /* the repeated start has no effect */
	stop_master(lab);
	settle(lab);
	assert_int_equal(rule_asked(lab, 2), 0);
	rule_set(lab, 1, (struct rule){ "/start", 204 });
	expect_event(lab, ENGINE_REPLICA_STARTED);
	expect_asked(lab, 2, 1);
	assert_int_equal(rule_asked(lab, 1), 1);
}

/* Fails with: start_send() without stop_wanted: it was started after all. */
static void a_stop_before_the_start_takes_it_back(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ INSPECT, HOLD });
	up(lab);
	start_master(lab);
	expect_asked(lab, 0, 1);
	stop_master(lab);
	settle(lab);
	rule_set(lab, 0, (struct rule){ INSPECT, 200, CREATED_MASTER });
	expect_event(lab, ENGINE_REPLICA_CREATED);
	assert_false(was_asked(lab, "/start"));
	assert_false(was_asked(lab, "/stop"));
}

/* Fails with: start_send() without stop_wanted: it was started after all, and only then stopped. */
static void a_stop_while_a_start_is_about_to_be_tried_again_takes_it_back(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ INSPECT, 200, CREATED_MASTER });
	rule_set(lab, 1, (struct rule){ "/start", HOLD });
	up(lab);
	start_master(lab);
	expect_asked(lab, 1, 1);
	stop_master(lab);
	settle(lab);
	rule_set(lab, 2, (struct rule){ "/start", 204 });
	rule_set(lab, 1,
		 (struct rule){ "/start", 403, "{\"message\":\"Address already in use\"}", .times = 1 });
	expect_event(lab, ENGINE_REPLICA_CREATED);
	assert_int_equal(rule_asked(lab, 2), 0);
	assert_false(was_asked(lab, "/stop"));
}

/* Fails with: replica_died() without the start: EXITED came before STARTED. */
static void an_exit_before_the_answer_to_the_start_is_told_after_it(void **state)
{
	struct lab *lab = *state;
	size_t started, exited;

	rule_set(lab, 0, (struct rule){ INSPECT, 200, CREATED_MASTER });
	rule_set(lab, 1, (struct rule){ "/start", HOLD });
	up_with_events_held(lab);
	start_master(lab);
	expect_asked(lab, 1, 1);
	rule_set(lab, 0, (struct rule){ INSPECT, 200, EXITED_MASTER });
	events_tell(lab, DIE_MASTER);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 0);
	rule_set(lab, 1, (struct rule){ "/start", 204 });
	started = expect_event(lab, ENGINE_REPLICA_STARTED);
	exited = expect_event(lab, ENGINE_REPLICA_EXITED);
	assert_true(started < exited);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 1);
}

/* The event comes before the engine has updated the container's state. Fails with: exit_inspected() that does not ask
 * again: the exit was lost. */
static void an_exit_that_the_engine_has_not_written_down_yet_is_asked_for_again(void **state)
{
	struct lab *lab = *state;
	size_t exited;

	rule_set(lab, 0, (struct rule){ INSPECT, 200, RUNNING_MASTER, .times = 2 });
	rule_set(lab, 1, (struct rule){ INSPECT, 200, EXITED_MASTER });
	rule_set(lab, 2, (struct rule){ "/events", 200, DIE_MASTER });
	up(lab);
	exited = expect_event(lab, ENGINE_REPLICA_EXITED);
	assert_int_equal(lab->events[exited].replica.exit_code, 3);
	assert_int_equal(rule_asked(lab, 0), 2);
}

static void a_stop_of_what_has_ended_tells_the_exit(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/stop", 304 });
	rule_set(lab, 1, (struct rule){ INSPECT, 200, EXITED_MASTER });
	up(lab);
	stop_master(lab);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_REPLICA_EXITED)].replica.exit_code, 3);
	rule_set(lab, 0, (struct rule){ "/stop", 404, "{\"message\":\"No such container\"}" });
	stop_master(lab);
	expect_event(lab, ENGINE_REPLICA_REMOVED);
	assert_int_equal(events_count(lab, ENGINE_FAILED), 0);
}

/* Fails with: stop_looked() that lets such an answer be: the exit was told by the next listing, half a minute later. */
static void a_stop_whose_end_cannot_be_looked_at_has_failed(void **state)
{
	static const struct rule answers[] = {
		{ INSPECT, 500, "{\"message\":\"busy\"}" },
		{ INSPECT, 200, "[]" },
		{ INSPECT, 200, RUNNING_MASTER }, /* its network is not removed yet */
	};
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/stop", 304 });
	up(lab);
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		rule_set(lab, 1, answers[i]);
		stop_master(lab);
		assert_int_equal(lab->events[expect_event(lab, ENGINE_FAILED)].status, STATUS_UNAVAILABLE);
	}
	rule_set(lab, 1, (struct rule){ INSPECT, 404, "{\"message\":\"No such container\"}" });
	stop_master(lab);
	expect_event(lab, ENGINE_REPLICA_REMOVED);
}

static void a_refused_stop_or_removal_is_told(void **state)
{
	static const struct failure stops[] = {
		{ { "/stop", 500, "{\"message\":\"cannot kill\"}" }, STATUS_INTERNAL, "cannot kill" },
		{ { "/stop", 0 }, STATUS_UNAVAILABLE },
	};
	static const struct failure removals[] = {
		{ { "DELETE", 400, "{\"message\":\"no\"}" }, STATUS_INVALID_ARGUMENT, "no" },
		{ { "DELETE", 0 }, STATUS_UNAVAILABLE },
	};
	struct lab *lab = *state;

	up(lab);
	assert_failures(lab, stop_master, ENGINE_FAILED, stops, COUNT_OF(stops));
	assert_failures(lab, remove_master, ENGINE_FAILED, removals, COUNT_OF(removals));
}

/* Fails with: remove_done() without announced: told twice. */
static void a_removal_that_its_event_has_told_is_not_told_again(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "DELETE", HOLD });
	up_with_events_held(lab);
	remove_master(lab);
	expect_asked(lab, 0, 1);
	events_tell(lab, EVENT_MASTER("destroy", "") EVENT_MASTER("destroy", ""));
	expect_event(lab, ENGINE_REPLICA_REMOVED);
	rule_set(lab, 0, (struct rule){ "DELETE", 204 });
	settle(lab);
	settle(lab);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_REMOVED), 1);
}

static void no_engine_no_replica(void **state)
{
	static void (*const asks[])(struct lab * lab) = { create, start_master, stop_master, remove_master };
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/_ping", 500, "{\"message\":\"starting up\"}" });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
	for (size_t i = 0; i < COUNT_OF(asks); i++) {
		size_t failed;

		asks[i](lab);
		failed = expect_event(lab, i < 2 ? ENGINE_REPLICA_FAILED : ENGINE_FAILED);
		assert_int_equal(lab->events[failed].status, STATUS_UNAVAILABLE);
		assert_string_equal(lab->events[failed].text, "starting up");
	}
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_refused_create_is_told_with_the_engines_words),
		LAB_TEST(a_container_of_an_earlier_daemon_is_taken_over),
		LAB_TEST(a_taken_name_that_nobody_has_is_not_waited_for_for_ever),
		LAB_TEST(a_description_that_is_no_text_is_refused),
		LAB_TEST(a_refused_start_is_told_with_the_engines_words),
		LAB_TEST(what_was_started_before_is_not_started_again),
		LAB_TEST(a_stop_waits_for_a_start_that_has_begun),
		LAB_TEST(a_stop_before_the_start_takes_it_back),
		LAB_TEST(a_stop_while_a_start_is_about_to_be_tried_again_takes_it_back),
		LAB_TEST(an_exit_before_the_answer_to_the_start_is_told_after_it),
		LAB_TEST(an_exit_that_the_engine_has_not_written_down_yet_is_asked_for_again),
		LAB_TEST(a_stop_of_what_has_ended_tells_the_exit),
		LAB_TEST(a_stop_whose_end_cannot_be_looked_at_has_failed),
		LAB_TEST(a_refused_stop_or_removal_is_told),
		LAB_TEST(a_removal_that_its_event_has_told_is_not_told_again),
		LAB_TEST(no_engine_no_replica),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker replica", tests, start, NULL);
}
