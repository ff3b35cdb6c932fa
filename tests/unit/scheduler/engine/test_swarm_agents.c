/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/swarm_agents.h"

#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_wire.h"
#include "tests/unit/testing.h"

/* An answer of Docker 20.10, reduced to what is read. */
#define TASK(node, created, wanted, state, rest)                                                                    \
	"{\"NodeID\":\"" node "\",\"CreatedAt\":\"2026-11-27T20:18:" created "Z\",\"DesiredState\":\"" wanted       \
	"\",\"Status\":{\"State\":\"" state "\"" rest "}"
#define CONTAINER ",\"ContainerStatus\":{\"ContainerID\":\"0123abcd\"}"
#define ADDRESS   ",\"NetworksAttachments\":[{\"Addresses\":[\"198.18.252.5/26\"]}]}"

static struct swarm_agents read_agents_of(const struct swarm_version *version, const char *text)
{
	AUTO(json) json_t *tasks = json_loads(text, 0, NULL);
	struct swarm_agents agents;

	assert_non_null(tasks);
	swarm_agents_read(tasks, version, &agents);
	return agents;
}

static struct swarm_agents read_agents(const char *text)
{
	return read_agents_of(NULL, text);
}

static enum agent_state state_of(const char *text)
{
	struct swarm_agents agents AUTO_AGENTS = read_agents(text);
	const struct swarm_agent *agent = swarm_agent_of(&agents, "n1");

	return agent ? agent->state : AGENT_NONE;
}

static void agents_are_read_from_the_tasks_of_their_nodes(void **state)
{
	struct swarm_agents agents AUTO_AGENTS = read_agents(
		"[" TASK("n1", "30.9", "shutdown", "rejected", ",\"Err\":\"No such image: later\"") "},"
		TASK("n1", "30.1", "shutdown", "failed", ",\"Err\":\"earlier\"") "},"
		TASK("n2", "30.9", "shutdown", "failed", ",\"Err\":\"before it ran\"") "},"
		TASK("n2", "40.0", "running", "running", CONTAINER) ADDRESS ","
		TASK("n3", "40.0", "running", "preparing", "") "}]");
	const struct swarm_agent *agent = swarm_agent_of(&agents, "n1");

	(void)state;
	assert_int_equal(agents.count, 3);
	assert_int_equal(agent->state, AGENT_FAILS);
	assert_string_equal(agent->problem, "No such image: later");
	assert_string_equal(agent->failed, "2026-11-27T20:18:30.9Z");
	agent = swarm_agent_of(&agents, "n2");
	assert_int_equal(agent->state, AGENT_RUNS);
	assert_string_equal(agent->container, "0123abcd");
	assert_int_equal(agent->address, 0xc612fc05);
	assert_int_equal(swarm_agent_of(&agents, "n3")->state, AGENT_STARTS);
	assert_null(swarm_agent_of(&agents, "n4"));
}

/* Fails with: task_read() without is_wanted took a task that is about to end for one that can be called. */
static void a_task_that_cannot_be_called_is_no_agent_that_runs(void **state)
{
	(void)state;
	assert_int_equal(state_of("[" TASK("n1", "40.0", "running", "running", CONTAINER) ADDRESS "]"), AGENT_RUNS);
	assert_int_equal(state_of("[" TASK("n1", "40.0", "shutdown", "running", CONTAINER) ADDRESS "]"), AGENT_NONE);
	assert_int_equal(state_of("[" TASK("n1", "40.0", "running", "running", CONTAINER) "}]"), AGENT_STARTS);
	assert_int_equal(state_of("[" TASK("n1", "40.0", "running", "running", "") ADDRESS "]"), AGENT_STARTS);
	assert_int_equal(state_of("[" TASK("n1", "40.0", "running", "running",
					   ",\"ContainerStatus\":{\"ContainerID\":\"../x\"}") ADDRESS "]"),
			 AGENT_STARTS);
	assert_int_equal(state_of("[" TASK("../n1", "40.0", "running", "running", CONTAINER) ADDRESS "]"), AGENT_NONE);
	assert_int_equal(state_of("[null, 1, {}, {\"NodeID\":\"n1\"}, {\"NodeID\":\"n1\",\"Status\":[]}]"), AGENT_NONE);
	assert_int_equal(state_of("{}"), AGENT_NONE);
}

/* Fails with: without is_of_version() the task that the update was about to end was the agent. */
static void an_agent_of_another_version_is_none_of_those_waited_for(void **state)
{
#define OF(image, socket)                                                                                    \
	",\"Spec\":{\"ContainerSpec\":{\"Image\":\"" image "\",\"Mounts\":[{\"Source\":\"" socket "\"}]}}"
#define RUNS(created, container, spec)                                                                       \
	TASK("n1", created, "running", "running", ",\"ContainerStatus\":{\"ContainerID\":\"" container "\"}")   \
	spec ADDRESS
#define NEW RUNS("40.0", "4567", OF("new", "/new"))
	static const struct swarm_version wanted = { "new", "/new" };
	static const char *const others[] = {
		RUNS("30.0", "0123", OF("old", "/new")),
		RUNS("30.0", "0123", OF("new", "/old")),
		RUNS("30.0", "0123", ""),
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		AUTO(string) char *alone = memory_printf("[%s]", others[i]);
		AUTO(string) char *both = memory_printf("[%s," NEW "]", others[i]);
		struct swarm_agents before AUTO_AGENTS = read_agents_of(&wanted, alone);
		struct swarm_agents after AUTO_AGENTS = read_agents_of(&wanted, both);
		struct swarm_agents any AUTO_AGENTS = read_agents(alone);

		assert_null(swarm_agent_of(&before, "n1"));
		assert_string_equal(swarm_agent_of(&after, "n1")->container, "4567");
		assert_int_equal(swarm_agent_of(&any, "n1")->state, AGENT_RUNS);
	}
}

static void keys_are_whole_or_none(void **state)
{
	const char *good = "{\"key\":\"k\",\"certificate\":\"c\",\"trusted\":\"t\"}";
	const char *const bad[] = { "", "[]", "{}", "{\"key\":\"k\",\"certificate\":\"c\"}",
				    "{\"key\":\"k\",\"certificate\":\"\",\"trusted\":\"t\"}",
				    "{\"key\":1,\"certificate\":\"c\",\"trusted\":\"t\"}" };
	struct wire_keys keys = { 0 };

	(void)state;
	assert_true(wire_keys_read(good, strlen(good), &keys));
	assert_string_equal(keys.trusted, "t");
	wire_keys_deinit(&keys);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(wire_keys_read(bad[i], strlen(bad[i]), &keys));
	assert_null(keys.key);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agents_are_read_from_the_tasks_of_their_nodes),
		cmocka_unit_test(a_task_that_cannot_be_called_is_no_agent_that_runs),
		cmocka_unit_test(an_agent_of_another_version_is_none_of_those_waited_for),
		cmocka_unit_test(keys_are_whole_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
