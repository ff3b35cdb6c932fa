/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/aiplatform.h"

#include "api/aiplatform/messages.h"
#include "tests/unit/testing.h"

static void known_paths_pass(void **state)
{
	static const char *const good[] = {
		"name",     "name,displayName,createTime",         "jobSpec.scheduling.timeout",
		"labels.a", "jobSpec.workerPoolSpecs.machineSpec", "error.message",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		const char *mask = NULL;

		if (read_mask_check(&aiplatform_custom_job, good[i], &mask, NULL))
			fail_msg("%s was refused", good[i]);
		assert_ptr_equal(mask, good[i]);
	}
}

static void everything_is_no_mask(void **state)
{
	static const char *const all[] = { NULL, "", "*" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		const char *mask = "left";

		assert_int_equal(read_mask_check(&aiplatform_custom_job, all[i], &mask, NULL), STATUS_OK);
		assert_null(mask);
	}
}

static void other_paths_are_refused(void **state)
{
	static const char *const bad[] = { "nosuch",      "name.x",      "jobSpec.nosuch",
					   "name,,state", "name,nosuch", "jobSpec..timeout",
					   ",",           "state.x" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct error err AUTO_ERROR = { 0 };
		const char *mask = NULL;

		if (read_mask_check(&aiplatform_custom_job, bad[i], &mask, &err) != STATUS_INVALID_ARGUMENT)
			fail_msg("%s was taken", bad[i]);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_paths_pass),
		cmocka_unit_test(everything_is_no_mask),
		cmocka_unit_test(other_paths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
