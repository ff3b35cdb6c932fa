/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/plan/fleet_testing.h: short functions that make fleets. */
#include "scheduler/plan/fleet.h"
#include "tests/unit/scheduler/plan/placement_testing.h"

enum { TEST_NODES = 16 };

struct test_node {
	const char *name;
	enum host_state state;
	unsigned cpus, gib, devices;
	const char *gpu; /* value of its label; NULL: none */
};

/* The data that a fleet borrows. */
struct test_fleet {
	struct room common, rooms[TEST_NODES];
	json_t *labels[TEST_NODES];
	struct fleet fleet;
};

static inline void test_fleet_deinit(struct test_fleet *test)
{
	fleet_deinit(&test->fleet);
	for (int i = 0; i < TEST_NODES; i++) {
		room_deinit(&test->rooms[i]);
		json_decref(test->labels[i]);
	}
}
#define AUTO_TEST_FLEET __attribute__((cleanup(test_fleet_deinit)))

/* Makes nodes up to the first one without a name; a node with 0 CPUs has not reported its size. */
static inline void test_fleet_init(struct test_fleet *test, const struct test_node *nodes, size_t count,
				   enum machine_fit fit, enum accelerator_policy accelerators,
				   const struct place_rule *rules, size_t rule_count)
{
	*test = (struct test_fleet){ .common = test_room(0, 0, 0) };
	test->common.capacity.fit = fit;
	test->common.capacity.accelerators = accelerators;
	fleet_init(&test->fleet, &test->common, rules, rule_count);
	test->fleet.spans = true;
	for (size_t i = 0; i < count && nodes[i].name; i++) {
		test->rooms[i] = test_room(nodes[i].cpus, nodes[i].gib * GIB, nodes[i].devices);
		test->rooms[i].capacity.host.known = nodes[i].cpus > 0;
		test->labels[i] = nodes[i].gpu ? json_pack("{s:s}", "gpu", nodes[i].gpu) : NULL;
		fleet_add(&test->fleet, nodes[i].name, nodes[i].state, test->labels[i], &test->rooms[i]);
	}
}
