/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/assignment.h"

#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/deviation.h"
#include "tests/unit/testing.h"

static struct assignment *full_assignment(void)
{
	struct assignment *assignment = assignment_new();

	assignment->limits[ROLE_MASTER] =
		(struct limits){ INT64_C(4000000000), INT64_C(15) << 30, INT64_C(1) << 30 };
	assignment->limits[ROLE_WORKER] = (struct limits){ 1, INT64_MAX, 2 };
	assignment->devices[ROLE_MASTER] = json_pack("[[s]]", "GPU-0");
	assignment->devices[ROLE_WORKER] = json_pack("[[ss][]]", "1", "2");
	assignment->shared = true;
	deviation_add(assignment->deviations, DONE_OTHERWISE, "gpu-model", NULL, "Other.");
	return assignment;
}

static void an_assignment_survives_being_text(void **state)
{
	AUTO(assignment) struct assignment *assignment = full_assignment();
	AUTO(assignment) struct assignment *again = NULL;
	AUTO(string) char *text = assignment_to_text(assignment);
	AUTO(string) char *same = NULL;

	(void)state;
	assert_int_equal(assignment_from_text(text, &again, NULL), STATUS_OK);
	same = assignment_to_text(again);
	assert_string_equal(text, same);
	for (int role = 0; role < ROLE_COUNT; role++) {
		assert_memory_equal(&again->limits[role], &assignment->limits[role], sizeof(struct limits));
		assert_true(json_equal(again->devices[role], assignment->devices[role]) ||
			    again->devices[role] == assignment->devices[role]);
	}
	assert_true(again->shared);
	assert_true(json_equal(again->deviations, assignment->deviations));
}

static void each_replica_has_its_own_devices(void **state)
{
	AUTO(assignment) struct assignment *assignment = full_assignment();
	const json_t *ids = assignment_devices(assignment, ROLE_WORKER, 0);

	(void)state;
	assert_int_equal(json_array_size(ids), 2);
	assert_string_equal(json_string_value(json_array_get(ids, 1)), "2");
	assert_int_equal(json_array_size(assignment_devices(assignment, ROLE_WORKER, 1)), 0);
	assert_null(assignment_devices(assignment, ROLE_WORKER, 2));
	assert_null(assignment_devices(assignment, ROLE_PS, 0));
}

static void every_device_becomes_a_lease(void **state)
{
	static const struct lease wanted[] = {
		{ 7, ROLE_MASTER, 0, (char *)"GPU-0", true },
		{ 7, ROLE_WORKER, 0, (char *)"1", true },
		{ 7, ROLE_WORKER, 0, (char *)"2", true },
	};
	AUTO(assignment) struct assignment *assignment = full_assignment();
	size_t count = 0;
	struct lease *leases = assignment_leases(assignment, 7, &count);

	(void)state;
	assert_int_equal(count, COUNT_OF(wanted));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(leases[i].job, wanted[i].job);
		assert_int_equal(leases[i].role, wanted[i].role);
		assert_int_equal(leases[i].replica, wanted[i].replica);
		assert_string_equal(leases[i].device, wanted[i].device);
		assert_int_equal(leases[i].shared, wanted[i].shared);
	}
	leases_free(leases, count);
}

static void without_devices_there_are_no_leases(void **state)
{
	AUTO(assignment) struct assignment *assignment = assignment_new();
	size_t count = 1;

	(void)state;
	assert_null(assignment_leases(assignment, 7, &count));
	assert_int_equal(count, 0);
	assignment_free(NULL);
}

#define LIMIT "{\"nano_cpus\":0,\"memory_bytes\":0,\"shm_bytes\":0}"
#define LIMITS                                                                                               \
	"\"limits\":{\"master\":" LIMIT ",\"worker\":" LIMIT ",\"ps\":" LIMIT ",\"evaluator\":" LIMIT "}"
#define REST "\"shared\":false,\"differences\":[]"

static void text_that_is_no_assignment_is_refused(void **state)
{
	static const struct {
		const char *text;
		enum status status;
	} rows[] = {
		{ "{" LIMITS ",\"devices\":{}," REST "}", STATUS_OK },
		{ "{" LIMITS ",\"devices\":{\"ps\":[[\"0\"],[]]}," REST "}", STATUS_OK },
		{ "", STATUS_INTERNAL },
		{ "[]", STATUS_INTERNAL },
		{ "{}", STATUS_INTERNAL },
		{ "{" REST "}", STATUS_INTERNAL },
		{ "{" LIMITS "}", STATUS_INTERNAL },
		{ "{" LIMITS ",\"differences\":[{}]}", STATUS_INTERNAL },
		{ "{\"limits\":{\"master\":" LIMIT "}," REST "}", STATUS_INTERNAL },
		{ "{" LIMITS ",\"devices\":{\"ps\":{}}," REST "}", STATUS_INTERNAL },
		{ "{" LIMITS ",\"devices\":{\"ps\":[\"0\"]}," REST "}", STATUS_INTERNAL },
		{ "{" LIMITS ",\"devices\":{\"ps\":[[0]]}," REST "}", STATUS_INTERNAL },
		{ "{" LIMITS ",\"devices\":{\"ps\":[[\"\"]]}," REST "}", STATUS_INTERNAL },
		{ "{\"limits\":{\"master\":{\"nano_cpus\":-1,\"memory_bytes\":0,\"shm_bytes\":0},\"worker\":" LIMIT
		  ",\"ps\":" LIMIT ",\"evaluator\":" LIMIT "}," REST "}",
		  STATUS_INTERNAL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(assignment) struct assignment *assignment = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(assignment_from_text(rows[i].text, &assignment, &err), rows[i].status);
		assert_int_equal(assignment != NULL, rows[i].status == STATUS_OK);
	}
	assert_int_equal(assignment_from_text(NULL, NULL, NULL), STATUS_INTERNAL);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_assignment_survives_being_text),
		cmocka_unit_test(each_replica_has_its_own_devices),
		cmocka_unit_test(every_device_becomes_a_lease),
		cmocka_unit_test(without_devices_there_are_no_leases),
		cmocka_unit_test(text_that_is_no_assignment_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
