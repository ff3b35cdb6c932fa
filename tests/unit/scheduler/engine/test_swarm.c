/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/swarm.h"

#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

/* An answer of Docker 20.10, reduced to what is read. */
static const char answer[] =
	"[{\"ID\":\"zt44kdx14x0nixr3up0p1n2ss\",\"Spec\":{\"Labels\":{\"gpu\":\"a100\",\"zone\":\"b\"},\"Role\":\"manager\","
	"\"Availability\":\"active\"},\"Description\":{\"Hostname\":\"node-1\",\"Resources\":{\"NanoCPUs\":2000000000,"
	"\"MemoryBytes\":25276514304,\"GenericResources\":[{\"NamedResourceSpec\":{\"Kind\":\"NVIDIA-GPU\",\"Value\":\"GPU-1-0\"}},"
	"{\"NamedResourceSpec\":{\"Kind\":\"NVIDIA-GPU\",\"Value\":\"GPU-1-1\"}},{\"DiscreteResourceSpec\":{\"Kind\":\"SSD\","
	"\"Value\":3}}]}},\"Status\":{\"State\":\"ready\",\"Addr\":\"198.19.221.1\"},\"ManagerStatus\":{\"Leader\":true,"
	"\"Reachability\":\"reachable\",\"Addr\":\"198.19.221.1:2377\"}},"
	"{\"ID\":\"5qlb7cvbvkhzpp1o0n2cs1x3a\",\"Spec\":{\"Labels\":{},\"Role\":\"worker\",\"Availability\":\"drain\"},"
	"\"Description\":{\"Hostname\":\"a-node\",\"Resources\":{\"NanoCPUs\":64000000000,\"MemoryBytes\":8589934592,"
	"\"GenericResources\":[{\"DiscreteResourceSpec\":{\"Kind\":\"gpu\",\"Value\":2}}]}},\"Status\":{\"State\":\"ready\","
	"\"Addr\":\"198.19.221.2\"}},"
	"{\"ID\":\"00000000000000000000000a3\",\"Spec\":{\"Role\":\"worker\",\"Availability\":\"active\"},\"Description\":{"
	"\"Hostname\":\"b-node\"},\"Status\":{\"State\":\"down\"}}]";

static struct swarm read_swarm(const char *text)
{
	AUTO(json) json_t *nodes = json_loads(text, 0, NULL);
	struct swarm swarm;

	assert_non_null(nodes);
	swarm_nodes_read(nodes, &swarm);
	return swarm;
}

static void nodes_are_read_as_the_manager_reports_them(void **state)
{
	struct swarm swarm AUTO_SWARM = read_swarm(answer);
	const struct swarm_node *node = swarm.nodes;

	(void)state;
	assert_int_equal(swarm.count, 3);
	assert_string_equal(node->name, "a-node");
	assert_int_equal(node->state, HOST_DRAINED);
	assert_true(node->is_gone);
	assert_false(node->is_manager);
	assert_int_equal(node->host.cpus, 64);
	assert_int_equal(node->host.device_count, 2);
	assert_string_equal(node->host.devices[1], "1");
	node++;
	assert_string_equal(node->name, "b-node");
	assert_int_equal(node->state, HOST_DOWN);
	assert_true(node->is_gone);
	assert_false(node->host.known);
	node++;
	assert_string_equal(node->name, "node-1");
	assert_string_equal(node->id, "zt44kdx14x0nixr3up0p1n2ss");
	assert_string_equal(node->address, "198.19.221.1");
	assert_int_equal(node->state, HOST_UP);
	assert_false(node->is_gone);
	assert_true(node->is_manager && node->host.known);
	assert_true(node->host.memory_bytes == INT64_C(25276514304));
	assert_string_equal(json_text_at(node->labels, "gpu"), "a100");
	assert_int_equal(node->host.device_count, 2);
	assert_string_equal(node->host.devices[0], "GPU-1-0");
}

/* Fails with: HOST_DRAINED and HOST_DOWN as gone: a paused node, and each node of a manager that has just started. */
static void a_node_is_gone_if_it_is_down_or_drained(void **state)
{
	static const struct {
		const char *status, *availability;
		bool is_gone;
	} rows[] = {
		{ "ready", "active", false }, { "ready", "pause", false },  { "unknown", "active", false },
		{ "ready", "drain", true },   { "unknown", "drain", true }, { "down", "active", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[160];

		snprintf(text, sizeof(text),
			 "[{\"ID\":\"i1\",\"Status\":{\"State\":\"%s\"},\"Spec\":{\"Availability\":\"%s\"}}]",
			 rows[i].status, rows[i].availability);
		struct swarm swarm AUTO_SWARM = read_swarm(text);

		assert_int_equal(swarm.nodes->is_gone, rows[i].is_gone);
	}
}

#define NODE(id, host) "{\"ID\":\"" id "\",\"Description\":{\"Hostname\":\"" host "\"}}"

static void names_are_unique_whatever_nodes_are_called(void **state)
{
	static const struct {
		const char *nodes;
		const char *names[4];
	} rows[] = {
		{ "[" NODE("i1", "h") "," NODE("i2", "h") "," NODE("i3", "g") "]", { "g", "h-i1", "h-i2" } },
		{ "[" NODE("i1", "") "," NODE("i2", "../etc") "]", { "i1", "i2" } },
		{ "[" NODE("i1", "h") "," NODE("i2", "h") "," NODE("i3", "h-i1") "]", { "i1", "i2", "i3" } },
		{ "[" NODE("i1", "h") "," NODE("i1", "g") "]", { "h" } },
		{ "[" NODE("", "h") "," NODE("I", "g") "," NODE("i/1", "f") ",7,null,[],{}]", { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct swarm swarm AUTO_SWARM = read_swarm(rows[i].nodes);

		for (size_t k = 0; k < swarm.count; k++)
			assert_string_equal(swarm.nodes[k].name, rows[i].names[k]);
		assert_null(rows[i].names[swarm.count]);
	}
}

/* Items beyond the limits, and invalid values, are left out. */
static void what_a_node_reports_is_bounded(void **state)
{
	AUTO(json) json_t *labels = json_object();
	AUTO(json) json_t *nodes = json_array();
	struct swarm swarm AUTO_SWARM = { 0 };
	char name[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "label%d", i);
		json_object_set_new(labels, name, i ? json_string("v") : json_integer(1));
	}
	for (int i = 0; i < SWARM_NODES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "i%d", i);
		json_array_append_new(nodes, json_pack("{ss}", "ID", name));
	}
	json_object_set_new(json_array_get(nodes, 0), "Spec", json_pack("{sO}", "Labels", labels));
	json_object_set_new(json_array_get(nodes, 0), "Description",
			    json_pack("{s{sI sI s[{s{ss sI}} {s{ss ss}} {s{ss ss}}]}}", "Resources",
				      "NanoCPUs", INT64_MAX, "MemoryBytes", (json_int_t)-5,
				      "GenericResources", "DiscreteResourceSpec", "Kind", "gpu", "Value",
				      INT64_MAX, "NamedResourceSpec", "Kind", "gpu", "Value", "a b",
				      "NamedResourceSpec", "Kind", "gpu", "Value", "7"));
	swarm_nodes_read(nodes, &swarm);
	assert_int_equal(swarm.count, SWARM_NODES_MAX);
	assert_string_equal(swarm.nodes[0].id, "i0");
	assert_int_equal(json_object_size(swarm.nodes[0].labels), SWARM_LABELS_MAX);
	assert_false(swarm.nodes[0].host.known);
	assert_int_equal(swarm.nodes[0].host.device_count, 1024);
	swarm_deinit(&swarm);
	swarm_nodes_read(NULL, &swarm);
	assert_int_equal(swarm.count, 0);
}

static void an_engine_that_is_no_manager_is_told_what_to_do(void **state)
{
	static const struct {
		const char *info, *text; /* @text: NULL: it is a swarm manager */
	} rows[] = {
		{ "{\"Swarm\":{\"LocalNodeState\":\"active\",\"ControlAvailable\":true}}", NULL },
		{ "{\"Swarm\":{\"LocalNodeState\":\"active\",\"ControlAvailable\":false}}",
		  "docker node promote" },
		{ "{\"Swarm\":{\"LocalNodeState\":\"inactive\"}}", "docker swarm init" },
		{ "{\"Swarm\":{\"LocalNodeState\":\"locked\"}}", "docker swarm unlock" },
		{ "{\"Swarm\":{\"LocalNodeState\":\"error\",\"Error\":\"no address\"}}",
		  "it is error: no address" },
		{ "{}", "docker swarm init" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *info = json_loads(rows[i].info, 0, NULL);
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(swarm_manager_check(info, &err),
				 rows[i].text ? STATUS_FAILED_PRECONDITION : STATUS_OK);
		if (rows[i].text)
			assert_non_null(strstr(err.text, rows[i].text));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_read_as_the_manager_reports_them),
		cmocka_unit_test(a_node_is_gone_if_it_is_down_or_drained),
		cmocka_unit_test(names_are_unique_whatever_nodes_are_called),
		cmocka_unit_test(what_a_node_reports_is_bounded),
		cmocka_unit_test(an_engine_that_is_no_manager_is_told_what_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
