/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/swarm_nodes.h"

#include <string.h>

#include "daemon/base/json.h"
#include "daemon/config.h"
#include "daemon/nodes.h"
#include "scheduler/engine/swarm.h"
#include "tests/unit/testing.h"

#define MANAGER "ssh://me@first"

static void expect_list(const struct config_list *list, const char *const *expected, size_t count)
{
	assert_int_equal(list->count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(list->values[i], expected[i]);
}

/* Fails with: without is_named(), two nodes were "gpu-1", and the daemon did not start. */
static void nodes_of_a_swarm_are_as_if_they_were_named(void **state)
{
	AUTO(json)
	json_t *answer = json_loads("[{\"ID\":\"own1\",\"Description\":{\"Hostname\":\"first\"},\"Spec\":{\"Labels\":{\"zone\":\"a\"}}},"
				    "{\"ID\":\"n2\",\"Description\":{\"Hostname\":\"GPU.1\"},\"Spec\":{\"Labels\":{\"gpu\":\"a100\","
				    "\"no:label\":\"x\"}}},"
				    "{\"ID\":\"n3\",\"Description\":{\"Hostname\":\"gpu-1\"}},"
				    "{\"ID\":\"n4\",\"Description\":{\"Hostname\":\"main\"}},"
				    "{\"ID\":\"n5\",\"Description\":{\"Hostname\":\"-x\"}}]",
				    0, NULL);
	static const char *const nodes[] = { "n5=swarm:n5:" MANAGER, "gpu-1=swarm:n2:" MANAGER, "n3=swarm:n3:" MANAGER,
					     "n4=swarm:n4:" MANAGER };
	static const char *const labels[] = { "gpu-1=gpu:a100", "main=zone:a" };
	struct config config AUTO_CONFIG = { 0 };
	struct swarm swarm AUTO_SWARM = { 0 };

	(void)state;
	assert_non_null(answer);
	swarm_nodes_read(answer, &swarm);
	swarm_nodes_list(&swarm, "own1", MANAGER, &config);
	expect_list(&config.nodes, nodes, sizeof(nodes) / sizeof(nodes[0]));
	expect_list(&config.node_labels, labels, sizeof(labels) / sizeof(labels[0]));
	for (size_t i = 0; i < config.nodes.count; i++)
		assert_true(node_rule_valid(config.nodes.values[i]));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_a_swarm_are_as_if_they_were_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
