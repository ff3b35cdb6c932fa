/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that calls are not delayed by followed output, which may never end, even if the maximum number of outputs is
 * followed. */
#include "scheduler/engine/docker_core.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

static const struct log_position beginning;
static const struct replica_key worker = { .job = 1, .attempt = 1, .role = ROLE_WORKER };

#define FRAME(text) "\1\0\0\0\0\0\0\41" text
#define LAST_LINE   FRAME("2026-11-20T21:29:51.000000001Z a\n")

static void limit_run(struct docker *docker, struct command *command)
{
	http_set_limit(docker->http, LANE_FOLLOW, command->number);
}

/* From now on, at most this many outputs are followed at once. */
static void followers_limit(struct lab *lab, unsigned most)
{
	struct command *command = calloc(1, sizeof(*command));

	*command = (struct command){ .run = limit_run, .number = most };
	docker_hand_over((struct docker *)lab->engine, command);
}

/* Follows an output that does not end, which takes the only slot. */
static void worker_follow(struct lab *lab)
{
	followers_limit(lab, 1);
	lab->engine->ops->follow_logs(lab->engine, &worker, &beginning);
	expect_asked(lab, 0, 1);
}

/* Fails with: events_open() in the lane of the followers: the holder of the place kept it from the other, and the connection was up
 * without events. */
static void events_do_not_wait_for_outputs(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "worker-0-a1/logs", -1 });
	rule_set(lab, 1, (struct rule){ "/events", 200 });
	up(lab);
	worker_follow(lab);
	rule_set(lab, 2, (struct rule){ "/containers/json?all=1", 503, "{}", .times = 1 });
	lab->engine->ops->list(lab->engine); /* this call fails and so loses the engine */
	expect_event(lab, ENGINE_DOWN);
	expect_asked(lab, 1, 2);
	expect_event(lab, ENGINE_UP);
}

/* Fails with: open_stream() with one lane for all: the last lines waited behind the output that was waiting itself. */
static void the_last_lines_do_not_wait_for_outputs(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "worker-0-a1/logs", -1 });
	rule_set(lab, 1, (struct rule){ "master-0-a1/json", 200, EXITED_MASTER });
	rule_set(lab, 2, (struct rule){ "follow=1", HOLD });
	rule_set(lab, 3, (struct rule){ "tail=256", 200, LAST_LINE, .length = sizeof(LAST_LINE) - 1 });
	rule_set(lab, 4, (struct rule){ "timestamps=1 ", 200, LAST_LINE, .length = sizeof(LAST_LINE) - 1 });
	up(lab);
	followers_limit(lab, 1);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	expect_asked(lab, 2, 1);
	/* is followed next, once the other has ended */
	lab->engine->ops->follow_logs(lab->engine, &worker, &beginning);
	rule_set(lab, 2, (struct rule){ "follow=1", 200 });
	expect_event(lab, ENGINE_LOGS_ENDED);
	expect_asked(lab, 0, 1);
	assert_string_equal(lab->lines.data, "a\n");
}

/* Fails with: follower_note_exit() that lets it wait on: its job never ended. */
static void an_output_that_waits_is_read_once_its_container_has_exited(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "worker-0-a1/logs", -1 });
	rule_set(lab, 1, (struct rule){ "master-0-a1/json", 200, EXITED_MASTER });
	rule_set(lab, 2, (struct rule){ "tail=256", 200, LAST_LINE, .length = sizeof(LAST_LINE) - 1 });
	rule_set(lab, 3, (struct rule){ "timestamps=1 ", 200, LAST_LINE, .length = sizeof(LAST_LINE) - 1 });
	rule_set(lab, 4, (struct rule){ "/stop", 304 });
	up(lab);
	worker_follow(lab);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	lab->engine->ops->stop_replica(lab->engine, &master, 1);
	expect_event(lab, ENGINE_REPLICA_EXITED);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_string_equal(lab->lines.data, "a\n");
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 1);
}

/* Fails with: http_new() without CURLMOPT_MAXCONNECTS: four connections were kept for each output that is followed, and the
 * engine, or the daemon, had no descriptors left. */
static void connections_are_not_kept_for_each_output(void **state)
{
	enum { OUTPUTS = 20 };
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/logs", -1 });
	rule_set(lab, 1, (struct rule){ "POST", 403, "{\"message\":\"Pool overlaps with other one\"}" });
	up(lab);
	for (unsigned i = 0; i < OUTPUTS; i++) {
		struct replica_key key = worker;

		key.index = i;
		lab->engine->ops->follow_logs(lab->engine, &key, &beginning);
	}
	expect_asked(lab, 0, OUTPUTS);
	lab->engine->ops->create_network(lab->engine, 1, 1); /* each of the 64 calls needs a new connection */
	expect_event(lab, ENGINE_NETWORK_FAILED);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(events_do_not_wait_for_outputs),
		LAB_TEST(the_last_lines_do_not_wait_for_outputs),
		LAB_TEST(connections_are_not_kept_for_each_output),
		LAB_TEST(an_output_that_waits_is_read_once_its_container_has_exited),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker lanes", tests, start, NULL);
}
