/* SPDX-License-Identifier: Apache-2.0 */
/* Machines without a common network: each job is placed completely on one of them. */
#include "scheduler/plan/fleet.h"

#include "scheduler/plan/place_rule.h"
#include "tests/unit/scheduler/plan/placement_testing.h"
#include "tests/unit/testing.h"

/* A machine of 8 CPUs and 32 GiB. */
struct machine_row {
	bool unknown, away;
	unsigned devices, leased, containers;
	bool full; /* no further job fits */
};

struct row {
	const char *what;
	struct machine_row machines[3];
	unsigned gpus;
	enum accelerator_policy policy;
	const char *placed; /* the node, or the status, the shortage and the error's text */
};

static const struct row rows[] = {
	{ "equally empty: the first", { { 0 }, { 0 }, { 0 } }, .placed = "main" },
	{ "the least loaded",
	  { { .containers = 3 }, { .containers = 1 }, { .containers = 2 } },
	  .placed = "b" },
	{ "GPUs count as load",
	  { { .devices = 2, .leased = 1 }, { .containers = 4 }, { .full = true } },
	  .placed = "b" },
	{ "one is away", { { .away = true }, { .containers = 9 }, { .full = true } }, .placed = "b" },
	{ "one was never heard of",
	  { { .unknown = true }, { .containers = 9 }, { .full = true } },
	  .placed = "b" },
	{ "all are full",
	  { { .full = true }, { .full = true }, { .away = true } },
	  .placed =
		  "RESOURCE_EXHAUSTED 1 The nodes have too little room now. main, b run as many jobs as they may (2). "
		  "c is down (The container engine does not answer: gone)." },
	{ "a full one and one that is away: others wait for the room",
	  { { .full = true }, { .away = true }, { .away = true } },
	  .placed =
		  "RESOURCE_EXHAUSTED 1 The nodes have too little room now. main runs as many jobs as it may (2). "
		  "b, c are down." },
	{ "GPUs are where they are, though the machine is loaded",
	  { { 0 }, { .devices = 2, .containers = 50 }, { 0 } },
	  .gpus = 1,
	  .placed = "b" },
	{ "they are all taken: it waits",
	  { { 0 }, { .devices = 2, .leased = 2 }, { 0 } },
	  .gpus = 1,
	  .placed =
		  "RESOURCE_EXHAUSTED 2 Too few GPUs are free now. main, b, c have too few free GPUs (0 at most; each "
		  "master takes 1)." },
	{ "the machine with them is away: it waits, and others do not wait for it",
	  { { 0 }, { .devices = 2, .away = true }, { 0 } },
	  .gpus = 1,
	  .placed =
		  "RESOURCE_EXHAUSTED 5 The job needs nodes that do not answer. main, c have too few free GPUs (0 at most; "
		  "each master takes 1). b is down (The container engine does not answer: gone)." },
	{ "the fewest free ones that are enough",
	  { { .devices = 4 }, { .devices = 4, .leased = 3 }, { .devices = 8, .leased = 6 } },
	  .gpus = 2,
	  .placed = "c" },
	{ "shared ones: those that are free",
	  { { .devices = 4, .leased = 3 }, { .devices = 4, .leased = 1 }, { .devices = 1, .leased = 1 } },
	  .gpus = 1,
	  .policy = ACCELERATORS_SHARE,
	  .placed = "main" },
	{ "none has so many: pretended",
	  { { .devices = 1, .leased = 1 }, { .devices = 1 }, { 0 } },
	  .gpus = 2,
	  .placed = "main" },
	{ "a machine that was never heard of may have them",
	  { { 0 }, { .unknown = true }, { 0 } },
	  .gpus = 1,
	  .placed =
		  "RESOURCE_EXHAUSTED 5 The job needs nodes that do not answer. main, c have too few free GPUs (0 at most; "
		  "each master takes 1). b has not reported its size." },
	{ "required, and none has so many: what the largest has counts",
	  { { 0 }, { .devices = 2 }, { .devices = 1 } },
	  .gpus = 3,
	  .policy = ACCELERATORS_REQUIRE,
	  .placed =
		  "FAILED_PRECONDITION 4 Quota failure for project p. The request for 3 K80 accelerators exceeds the "
		  "allowed maximum of 2 A100, 2 K80, 2 P100, 2 P4, 2 T4, 0 TPU_V2, 0 TPU_V2_POD, 0 TPU_V3, 0 TPU_V3_POD, "
		  "2 V100 accelerators." },
	{ "required, but one was never heard of",
	  { { 0 }, { .unknown = true }, { .devices = 1 } },
	  .gpus = 3,
	  .policy = ACCELERATORS_REQUIRE,
	  .placed =
		  "RESOURCE_EXHAUSTED 5 The job needs nodes that do not answer. main, c have too few free GPUs (1 at most; "
		  "each master takes 3). b has not reported its size." },
	{ "waits for another machine",
	  { { 0 }, { .devices = 2 }, { 0 } },
	  .gpus = 3,
	  .policy = ACCELERATORS_WAIT,
	  .placed = "RESOURCE_EXHAUSTED 4 The job waits for 3 GPUs; the largest node has 2." },
};

static struct room room_of(const struct machine_row *machine, enum accelerator_policy policy)
{
	struct room room = test_room(8, 32 * GIB, machine->devices);
	char device[12];

	room.capacity.host.known = !machine->unknown;
	room.capacity.accelerators = policy;
	room.capacity.max_jobs = 2;
	room.capacity.max_containers = 100;
	room.usage.jobs = machine->full ? 2 : 0;
	room.usage.containers = machine->containers;
	for (unsigned i = 0; i < machine->leased; i++) {
		snprintf(device, sizeof(device), "%u", i);
		test_lease_add(&room, 7, device, policy == ACCELERATORS_SHARE);
	}
	if (machine->away)
		engine_lack_set(&room, "gone");
	return room;
}

static char *placed_text(const struct plan *plan, const struct rooms *rooms)
{
	AUTO(assignment) struct assignment *assignment = NULL;
	struct fleet fleet AUTO_FLEET = fleet_of(rooms, false);
	enum shortage shortage = SHORTAGE_NONE;
	struct error err AUTO_ERROR = { 0 };
	AUTO(nodes) unsigned *nodes = NULL;
	char *text = NULL;
	const enum status rc = fleet_place(&fleet, plan, &assignment, &nodes, &shortage, &err);

	if (rc) {
		assert_true(asprintf(&text, "%s %d %s", status_name(rc), (int)shortage, err.text) > 0);
		assert_null(assignment);
		return text;
	}
	for (unsigned i = 1; i < plan_replica_count(plan); i++)
		assert_int_equal(nodes[i], nodes[0]);
	/* In the store, the first node has no name. */
	if (nodes[0])
		assert_string_equal(assignment->node, rooms->nodes[nodes[0]].name);
	else
		assert_null(assignment->node);
	assert_null(assignment->nodes[ROLE_MASTER]);
	return strdup(rooms->nodes[nodes[0]].name);
}

static bool row_holds(const struct row *row)
{
	static const char *const names[] = { "main", "b", "c" };
	AUTO(plan) struct plan *plan = test_plan_new();
	struct rooms rooms AUTO_ROOMS = { calloc(3, sizeof(struct node_room)), 3, false };
	AUTO(string) char *placed = NULL;

	test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-4", row->gpus ? K80 : NULL, row->gpus);
	for (size_t i = 0; i < 3; i++)
		rooms.nodes[i] = (struct node_room){ names[i], room_of(&row->machines[i], row->policy) };
	placed = placed_text(plan, &rooms);
	if (strcmp(placed, row->placed) != 0)
		print_error("%s: \"%s\", not \"%s\"\n", row->what, placed, row->placed);
	return strcmp(placed, row->placed) == 0;
}

static void a_job_gets_one_machine_as_a_whole(void **state)
{
	bool hold = true;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		hold = row_holds(&rows[i]) && hold;
	assert_true(hold);
}

static void a_rule_keeps_a_job_on_the_nodes_with_its_label(void **state)
{
	static const char *const names[] = { "main", "b", "c" };
	static const struct {
		const char *rule, *placed;
	} cases[] = {
		{ "n1-standard-4=gpu:a100", "c" },
		{ "master=node:b", "b" },
		{ "master=gpu:t4",
		  "FAILED_PRECONDITION 4 No node may run the job. main, b, c lack the label gpu:t4 (--place "
		  "master=gpu:t4)." },
		/* The job has no such pool. */
		{ "worker=node:b", "main" },
		{ "n1-standard-8=node:b", "main" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(plan) struct plan *plan = test_plan_new();
		struct rooms rooms AUTO_ROOMS = { calloc(3, sizeof(struct node_room)), 3, false };
		struct place_rules rules = { calloc(1, sizeof(struct place_rule)), 1,
					     json_pack("{s{ss} s{ss}}", "b", "gpu", "v100", "c", "gpu",
						       "a100") };
		AUTO(string) char *placed = NULL;

		assert_int_equal(place_rule_parse(cases[i].rule, rules.rules, NULL), STATUS_OK);
		test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-4", NULL, 0);
		for (size_t k = 0; k < 3; k++) {
			rooms.nodes[k] = (struct node_room){ names[k], test_room(8, 32 * GIB, 0) };
			rooms.nodes[k].room.capacity.node = names[k];
			rooms.nodes[k].room.capacity.placing = &rules;
		}
		placed = placed_text(plan, &rooms);
		assert_string_equal(placed, cases[i].placed);
		place_rules_deinit(&rules);
	}
}

static void an_emptied_machine_keeps_its_capacity_alone(void **state)
{
	const struct machine_row machine = { .away = true, .devices = 2, .leased = 2, .full = true };
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = NULL;
	struct rooms rooms AUTO_ROOMS = { calloc(2, sizeof(struct node_room)), 2, false };
	struct fleet empty AUTO_FLEET;
	AUTO(nodes) unsigned *nodes = NULL;
	enum shortage shortage;

	(void)state;
	test_pool_set(plan, ROLE_MASTER, 1, "n1-standard-4", K80, 2);
	rooms.nodes[0] = (struct node_room){ "main", room_of(&machine, ACCELERATORS_REQUIRE) };
	rooms.nodes[1] = (struct node_room){ "b", room_of(&machine, ACCELERATORS_REQUIRE) };
	empty = fleet_of(&rooms, true);
	assert_int_equal(fleet_place(&empty, plan, &assignment, &nodes, &shortage, NULL), STATUS_OK);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_gets_one_machine_as_a_whole),
		cmocka_unit_test(a_rule_keeps_a_job_on_the_nodes_with_its_label),
		cmocka_unit_test(an_emptied_machine_keeps_its_capacity_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
