/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what follows from the engine's past events: which replicas ended by themselves while it ran. */
#include "scheduler/engine/docker_history.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define START EVENT_MASTER("start", "")
#define KILL  EVENT_MASTER("kill", "\"signal\":\"15\",")
#define USR1  EVENT_MASTER("kill", "\"signal\":\"10\",")
/* A container of an image with such a label. */
#define DIE_LABELLED EVENT_MASTER("die", "\"signal\":\"10\",")
#define OTHERS                                                                                               \
	"{\"Type\":\"container\",\"Action\":\"kill\",\"Actor\":{\"ID\":\"d\",\"Attributes\":{"               \
	"\"name\":\"ty-t-1-worker-0-a1\",\"trainyard.instance\":\"t\","                                      \
	"\"trainyard.job\":\"1\",\"trainyard.pool\":\"worker\",\"trainyard.replica\":\"worker-0\","          \
	"\"trainyard.attempt\":\"1\"}}}\n"

static bool is_witnessed(const char *events, enum replica_observed observed)
{
	struct replica_status replicas[] = {
		{ .key = { .job = 2, .attempt = 1, .role = ROLE_MASTER }, .observed = REPLICA_EXITED },
		{ .key = master, .observed = observed },
	};

	history_read(events, strlen(events), replicas, COUNT_OF(replicas));
	assert_false(replicas[0].witnessed || replicas[0].signalled);
	assert_int_equal(replicas[1].signalled,
			 observed == REPLICA_EXITED &&
				 (strstr(events, KILL DIE_MASTER) || strstr(events, USR1 DIE_LABELLED)));
	return replicas[1].witnessed;
}

/* dockerd without live-restore, killed and started again: "kill" and "die", and no "start".
 * Fails with: past_note() that takes every die, or one after a kill, or before a start: what the engine ended was the program's
 * fault. */
static void only_one_that_saw_all_of_it_is_a_witness(void **state)
{
	static const struct {
		const char *events;
		bool witnessed;
	} cases[] = {
		{ START DIE_MASTER, true },
		{ START OTHERS DIE_MASTER, true },
		{ START "{}\nno JSON\n\n" DIE_MASTER "{\"Type\":", true },
		{ DIE_MASTER, false },
		{ DIE_MASTER START, false },
		{ KILL DIE_MASTER, false },
		{ START KILL DIE_MASTER, false },
		{ START USR1 DIE_MASTER, true },
		{ START USR1 DIE_LABELLED, false },
		{ START USR1 KILL DIE_MASTER, false },
		{ USR1 DIE_MASTER, false },
		{ START, false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		if (is_witnessed(cases[i].events, REPLICA_EXITED) != cases[i].witnessed)
			fail_msg("case %zu", i);
	assert_false(is_witnessed(START DIE_MASTER, REPLICA_RUNNING));
}

/* Fails with: past_note() that overlooks ACTION_OOM: a job that ran out of memory while the daemon was away was only killed. */
static void a_kill_for_memory_is_remembered(void **state)
{
	struct replica_status gone[] = { { .key = master, .observed = REPLICA_EXITED } };
	struct replica_status there[] = { { .key = master, .observed = REPLICA_RUNNING } };
	static const char past[] = START DIE_MASTER EVENT_MASTER("oom", "");

	(void)state;
	history_read(past, strlen(past), gone, 1);
	history_read(past, strlen(past), there, 1);
	assert_true(gone[0].out_of_memory && gone[0].witnessed);
	assert_false(there[0].out_of_memory);
}

/* Fails with: docker_signals_end() that knows SIGTERM and SIGKILL alone: a program that SIGUSR1 ended had ended itself. */
static void a_signal_that_ended_it_is_told_by_the_status(void **state)
{
	(void)state;
	assert_true(docker_signals_end(UINT64_C(1) << 10, 128 + 10));
	assert_false(docker_signals_end(UINT64_C(1) << 10, 128 + 15));
	assert_false(docker_signals_end(UINT64_C(1) << 10, 10));
	assert_true(docker_signals_end(UINT64_C(1) << 15, 3));
	assert_true(docker_signals_end(UINT64_MAX, 0));
	assert_false(docker_signals_end(0, 137));
	assert_false(docker_signals_end(UINT64_C(1) << 10, 255));
}

static void engine_with_an_exit(struct lab *lab, struct rule history)
{
	rule_set(lab, 0, history);
	rule_set(lab, 1,
		 (struct rule){ "/info", 200,
				"{\"ServerVersion\":\"9\",\"NCPU\":2,\"MemTotal\":1000,"
				"\"SystemTime\":\"2026-11-22T06:15:49.012345678Z\"}" });
	rule_set(lab, 2,
		 (struct rule){ "/containers/json?all=1", 200,
				"[{\"Id\":\"c\",\"Names\":[\"/ty-t-1-master-0-a1\"],\"State\":\"exited\","
				"\"Labels\":" LABELS "}]" });
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
}

/* Fails with: history_epoch never set: each listing asks. */
static void the_past_is_asked_for_once_a_connection(void **state)
{
	struct lab *lab = *state;

	engine_with_an_exit(lab,
			    (struct rule){ "/events?since=1&until=1795328149.012345678&filters=%7B%22label",
					   200, START DIE_MASTER });
	lab_open(lab);
	assert_true(lab->events[expect_event(lab, ENGINE_LISTING)].replica.witnessed);
	settle(lab);
	assert_int_equal(rule_asked(lab, 0), 1);
}

/* Fails with: history_answered() that fails the listing: no job was admitted. */
static void an_engine_that_tells_nothing_of_the_past_witnesses_nothing(void **state)
{
	static const struct rule answers[] = {
		{ "&until=", 200, "" },
		{ "&until=", 400, "{\"message\":\"invalid filter\"}" },
		{ "&until=", 200, START DIE_MASTER, .cut = true },
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		size_t listing;

		engine_with_an_exit(lab, answers[i]);
		lab_open(lab);
		listing = expect_event(lab, ENGINE_LISTING);
		lab_close(lab);
		assert_int_equal(rule_asked(lab, 0), 1);
		assert_int_equal(lab->events[listing].replica_count, 1);
		assert_false(lab->events[listing].replica.witnessed);
	}
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(only_one_that_saw_all_of_it_is_a_witness),
		LAB_TEST(a_signal_that_ended_it_is_told_by_the_status),
		LAB_TEST(a_kill_for_memory_is_remembered),
		LAB_TEST(the_past_is_asked_for_once_a_connection),
		LAB_TEST(an_engine_that_tells_nothing_of_the_past_witnesses_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker history", tests, start, NULL);
}
