/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/devices.h"

#include "tests/unit/scheduler/plan/placement_testing.h"
#include "tests/unit/testing.h"

static enum status test_devices_place(const struct plan *plan, const struct room *room,
				      struct assignment *assignment, struct error *err)
{
	AUTO(uses) struct device_use *uses = device_uses(room);

	return devices_place(plan, &room->capacity, uses, assignment, err);
}

/* Sets the existing leases: one letter for each device from 0: "x" exclusive, "s" shared, "2" two sharers. */
static void leases_set(struct room *room, const char *held)
{
	for (unsigned i = 0; held[i]; i++) {
		char device[8];
		int holders = held[i] >= '1' && held[i] <= '9' ? held[i] - '0' : held[i] != '-';

		snprintf(device, sizeof(device), "%u", i);
		for (int j = 0; j < holders; j++)
			test_lease_add(room, 1000 + j, device, held[i] != 'x');
	}
}

/* "0,1|2": the master has devices 0 and 1, a worker has 2; pools are separated by '/'. */
static char *devices_text(const struct assignment *assignment)
{
	struct text text AUTO_TEXT = { 0 };
	const char *parting = "";

	for (int role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < json_array_size(assignment->devices[role]); i++) {
			const json_t *ids = assignment_devices(assignment, (enum role)role, i);

			text_puts(&text, parting);
			for (size_t j = 0; j < json_array_size(ids); j++)
				text_printf(&text, "%s%s", j ? "," : "",
					    json_string_value(json_array_get(ids, j)));
			parting = "|";
		}
	}
	return text_take(&text);
}

struct row {
	enum accelerator_policy policy;
	unsigned devices;        /* number of the host's devices */
	const char *held;        /* as for leases_set() */
	unsigned master, worker; /* GPUs of the master, and of each of two workers */
	const char *placed;      /* devices_text(); NULL: RESOURCE_EXHAUSTED */
	bool shared;
	const char *codes; /* codes of the deviations, in their order */
};

#define PRETEND ACCELERATORS_PRETEND
#define REQUIRE ACCELERATORS_REQUIRE
#define WAIT    ACCELERATORS_WAIT
#define SHARE   ACCELERATORS_SHARE

/* clang-format off */
static const struct row rows[] = {
	/* No device is requested. */
	{ PRETEND, 0, "", 0, 0, "", false, "" },
	{ SHARE, 4, "xxxx", 0, 0, "", false, "" },
	/* The lowest free devices, in the order of the replicas. */
	{ PRETEND, 4, "", 1, 0, "0", false, "gpu-model " },
	{ REQUIRE, 4, "", 2, 1, "0,1|2|3", false, "gpu-model " },
	{ WAIT, 4, "", 0, 2, "0,1|2,3", false, "gpu-model " },
	{ REQUIRE, 4, "x-x-", 2, 0, "1,3", false, "gpu-model " },
	{ REQUIRE, 5, "-x-x-", 1, 1, "0|2|4", false, "gpu-model " },
	/* Devices held by other jobs, exclusively or shared. */
	{ PRETEND, 4, "xxx-", 2, 0, NULL, false, "" },
	{ REQUIRE, 4, "xxxx", 1, 0, NULL, false, "" },
	{ WAIT, 4, "ssss", 1, 0, NULL, false, "" },
	{ REQUIRE, 2, "s-", 1, 0, "1", false, "gpu-model " },
	{ REQUIRE, 4, "x---", 2, 1, NULL, false, "" },
	/* More devices than the host has. */
	{ PRETEND, 0, "", 1, 0, "", false, "gpu-pretended " },
	{ PRETEND, 4, "", 1, 2, "", false, "gpu-pretended " },
	{ PRETEND, 4, "xxxx", 8, 0, "", false, "gpu-pretended " },
	/* Sharing is not used while there are enough devices. */
	{ SHARE, 4, "", 2, 1, "0,1|2|3", true, "gpu-model " },
	{ SHARE, 4, "s-s-", 2, 0, "1,3", true, "gpu-model " },
	/* The devices with the fewest holders are used next. */
	{ SHARE, 4, "s-ss", 2, 0, "1,0", true, "gpu-model gpu-shared " },
	{ SHARE, 4, "3211", 1, 0, "2", true, "gpu-model gpu-shared " },
	{ SHARE, 4, "3211", 2, 1, "2,3|1|2", true, "gpu-model gpu-shared " },
	{ SHARE, 1, "", 1, 1, "0|0|0", true, "gpu-model gpu-shared " },
	{ SHARE, 2, "", 1, 2, "0|1,0|1,0", true, "gpu-model gpu-shared " },
	/* A device that is held exclusively is not shared. */
	{ SHARE, 4, "xx-x", 1, 1, "2|2|2", true, "gpu-model gpu-shared " },
	{ SHARE, 2, "x-", 1, 1, "1|1|1", true, "gpu-model gpu-shared " },
	{ SHARE, 4, "xxxx", 1, 0, NULL, false, "" },
	{ SHARE, 4, "xxx-", 2, 0, NULL, false, "" },
	/* Each replica gets fewer than it requested. */
	{ SHARE, 2, "", 4, 0, "0,1", true, "gpu-fewer gpu-model " },
	{ SHARE, 1, "", 1, 2, "0|0|0", true, "gpu-fewer gpu-model gpu-shared " },
	{ SHARE, 2, "x-", 4, 0, NULL, false, "" },
};
/* clang-format on */

static char *codes_text(const json_t *deviations)
{
	struct text text AUTO_TEXT = { 0 };

	for (size_t i = 0; i < json_array_size(deviations); i++)
		text_printf(&text, "%s ", json_text_at(json_array_get(deviations, i), "code"));
	return text_take(&text);
}

static void check_row(const struct row *row)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = assignment_new();
	struct room room AUTO_ROOM = test_room(8, 32 * GIB, row->devices);
	AUTO(string) char *placed = NULL;
	AUTO(string) char *codes = NULL;
	enum status rc;

	test_pool_set(plan, ROLE_MASTER, 1, NULL, K80, row->master);
	test_pool_set(plan, ROLE_WORKER, 2, NULL, K80, row->worker);
	room.capacity.accelerators = row->policy;
	leases_set(&room, row->held);
	assert_int_equal(devices_possible(plan, &room.capacity, NULL), STATUS_OK);
	rc = test_devices_place(plan, &room, assignment, NULL);
	assert_int_equal(rc, row->placed ? STATUS_OK : STATUS_RESOURCE_EXHAUSTED);
	placed = devices_text(assignment);
	codes = codes_text(assignment->deviations);
	assert_string_equal(placed, row->placed ? row->placed : "");
	assert_string_equal(codes, row->codes);
	assert_int_equal(assignment->shared, row->shared);
}

static void devices_are_placed_as_the_policy_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_row(&rows[i]);
}

#define QUOTA_0 "0 A100, 0 K80, 0 P100, 0 P4, 0 T4, 0 TPU_V2, 0 TPU_V2_POD, 0 TPU_V3, 0 TPU_V3_POD, 0 V100"
#define QUOTA_2 "2 A100, 2 K80, 2 P100, 2 P4, 2 T4, 0 TPU_V2, 0 TPU_V2_POD, 0 TPU_V3, 0 TPU_V3_POD, 2 V100"

static void more_than_the_host_has_is_answered_as_the_policy_says(void **state)
{
	static const struct {
		enum accelerator_policy policy;
		unsigned devices, k80, v100; /* GPUs of the master, and of the only worker */
		enum status status;
		const char *text;
	} impossible[] = {
		{ ACCELERATORS_REQUIRE, 0, 2, 0, STATUS_FAILED_PRECONDITION,
		  "Quota failure for project p. The request for 2 K80 accelerators exceeds the allowed maximum "
		  "of " QUOTA_0 " accelerators." },
		{ ACCELERATORS_SHARE, 0, 1, 0, STATUS_FAILED_PRECONDITION,
		  "Quota failure for project p. The request for 1 K80 accelerators exceeds the allowed maximum "
		  "of " QUOTA_0 " accelerators." },
		{ ACCELERATORS_REQUIRE, 2, 1, 4, STATUS_FAILED_PRECONDITION,
		  "Quota failure for project p. The request for 4 V100 accelerators exceeds the allowed "
		  "maximum of " QUOTA_2 " accelerators." },
		{ ACCELERATORS_REQUIRE, 2, 4, 8, STATUS_FAILED_PRECONDITION,
		  "Quota failure for project p. The request for 4 K80 accelerators exceeds the allowed maximum "
		  "of " QUOTA_2 " accelerators." },
		{ ACCELERATORS_REQUIRE, 2, 1, 2, STATUS_FAILED_PRECONDITION,
		  "Quota failure for project p. The request for 3 accelerators of several types exceeds the "
		  "allowed maximum of 2 accelerators of all types together." },
		{ ACCELERATORS_WAIT, 2, 1, 2, STATUS_RESOURCE_EXHAUSTED,
		  "The job waits for 3 GPUs; this host has 2." },
		{ ACCELERATORS_WAIT, 0, 1, 0, STATUS_RESOURCE_EXHAUSTED,
		  "The job waits for 1 GPU; this host has 0." },
		{ ACCELERATORS_PRETEND, 2, 1, 2, STATUS_OK, NULL },
		{ ACCELERATORS_SHARE, 1, 1, 2, STATUS_OK, NULL },
		{ ACCELERATORS_REQUIRE, 2, 1, 1, STATUS_OK, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(impossible); i++) {
		AUTO(plan) struct plan *plan = test_plan_new();
		struct room room AUTO_ROOM = test_room(8, 32 * GIB, impossible[i].devices);
		struct error err AUTO_ERROR = { 0 };

		test_pool_set(plan, ROLE_MASTER, 1, NULL, K80, impossible[i].k80);
		test_pool_set(plan, ROLE_WORKER, 1, NULL, V100, impossible[i].v100);
		room.capacity.accelerators = impossible[i].policy;
		assert_int_equal(devices_possible(plan, &room.capacity, &err), impossible[i].status);
		if (impossible[i].text)
			assert_string_equal(err.text, impossible[i].text);
	}
}

static void tpus_are_never_attached(void **state)
{
	static const enum accelerator_policy policies[] = { ACCELERATORS_PRETEND, ACCELERATORS_REQUIRE,
							    ACCELERATORS_WAIT, ACCELERATORS_SHARE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(policies); i++) {
		AUTO(plan) struct plan *plan = test_plan_new();
		AUTO(assignment) struct assignment *assignment = assignment_new();
		struct room room AUTO_ROOM = test_room(8, 32 * GIB, 1);

		test_pool_set(plan, ROLE_WORKER, 2, NULL, TPU_V2, 8);
		room.capacity.accelerators = policies[i];
		assert_int_equal(devices_possible(plan, &room.capacity, NULL), STATUS_OK);
		assert_int_equal(test_devices_place(plan, &room, assignment, NULL), STATUS_OK);
		assert_null(assignment->devices[ROLE_WORKER]);
		assert_int_equal(json_array_size(assignment->deviations), 0);
	}
}

/* If a device no longer exists, its lease stays, but is not in the way of others. */
static void leases_of_devices_that_are_gone_count_for_nothing(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = assignment_new();
	struct room room AUTO_ROOM = test_room(8, 32 * GIB, 2);

	(void)state;
	test_lease_add(&room, 1, "7", false);
	test_pool_set(plan, ROLE_MASTER, 1, NULL, K80, 2);
	assert_int_equal(test_devices_place(plan, &room, assignment, NULL), STATUS_OK);
	assert_int_equal(json_array_size(assignment_devices(assignment, ROLE_MASTER, 0)), 2);
}

static void numbers_are_told(void **state)
{
	AUTO(plan) struct plan *plan = test_plan_new();
	AUTO(assignment) struct assignment *assignment = assignment_new();
	AUTO(assignment) struct assignment *pretended = assignment_new();
	struct room room AUTO_ROOM = test_room(8, 32 * GIB, 1);
	const json_t *fewer;

	(void)state;
	test_pool_set(plan, ROLE_WORKER, 3, NULL, K80, 2);
	assert_int_equal(test_devices_place(plan, &room, pretended, NULL), STATUS_OK);
	assert_string_equal(json_text_at(test_deviation(pretended->deviations, "gpu-pretended"), "text"),
			    "The job asked for 6 GPUs and this host has 1: it runs without any.");
	room.capacity.accelerators = ACCELERATORS_SHARE;
	assert_int_equal(test_devices_place(plan, &room, assignment, NULL), STATUS_OK);
	fewer = test_deviation(assignment->deviations, "gpu-fewer");
	assert_string_equal(json_text_at(fewer, "text"), "Each worker has 1 GPU here; 2 were asked for.");
	assert_string_equal(json_text_at(fewer, "field"), "pools.worker.accelerator_count");
	assert_string_equal(json_text_at(test_deviation(assignment->deviations, "gpu-shared"), "text"),
			    "The job asked for 6 GPUs; several replicas share this host's 1.");
}

/* The host's devices, those that an earlier job holds, and those that the next job gets; NULL: it waits. */
static const struct {
	const char *devices[3], *held, *placed;
} names[] = {
	{ { "0", "1" }, "0", "1" },
	{ { "0", "1" }, "7", "0" },
	{ { "GPU-a", "GPU-b" }, "GPU-a", "GPU-b" },
	{ { "GPU-a", "GPU-b" }, "GPU-c", "GPU-a" },
	{ { "nvidia.com/gpu=0", "nvidia.com/gpu=1" }, "0", "nvidia.com/gpu=1" },
	{ { "0", "1" }, "nvidia.com/gpu=0", "1" },
	{ { "GPU-a", "GPU-b" }, "nvidia.com/gpu=GPU-a", "GPU-b" },
	{ { "0", "GPU-a" }, "0", "GPU-a" },
	{ { "amd.com/gpu=0", "nvidia.com/gpu=0" }, "amd.com/gpu=0", "nvidia.com/gpu=0" },
	{ { "GPU-a", "GPU-b" }, "0", NULL },
	{ { "0", "1" }, "GPU-a", NULL },
	{ { "nvidia.com/gpu=0", "nvidia.com/gpu=1" }, "GPU-a", NULL },
};

static void a_device_that_changed_its_name_is_not_given_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		AUTO(plan) struct plan *plan = test_plan_new();
		AUTO(assignment) struct assignment *assignment = assignment_new();
		AUTO(string) char *placed = NULL;
		struct room room AUTO_ROOM = test_room(8, 32 * GIB, 2);
		enum status rc;

		for (int j = 0; j < 2; j++) {
			free(room.capacity.host.devices[j]);
			room.capacity.host.devices[j] = strdup(names[i].devices[j]);
		}
		test_lease_add(&room, 1, names[i].held, false);
		test_pool_set(plan, ROLE_MASTER, 1, NULL, K80, 1);
		rc = test_devices_place(plan, &room, assignment, NULL);
		assert_int_equal(rc, names[i].placed ? STATUS_OK : STATUS_RESOURCE_EXHAUSTED);
		placed = devices_text(assignment);
		if (names[i].placed)
			assert_string_equal(placed, names[i].placed);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_changed_its_name_is_not_given_twice),
		cmocka_unit_test(devices_are_placed_as_the_policy_says),
		cmocka_unit_test(more_than_the_host_has_is_answered_as_the_policy_says),
		cmocka_unit_test(tpus_are_never_attached),
		cmocka_unit_test(leases_of_devices_that_are_gone_count_for_nothing),
		cmocka_unit_test(numbers_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
