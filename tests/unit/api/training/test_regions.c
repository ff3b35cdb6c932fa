/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/regions.h"

#include <string.h>

#include "api/ml/messages.h"
#include "daemon/base/text.h"
#include "tests/unit/testing.h"

static void the_table_is_in_rising_order(void **state)
{
	(void)state;
	for (const struct region *region = regions; region[1].name; region++)
		assert_true(strcmp(region[0].name, region[1].name) < 0);
}

static void accelerators_are_known(void **state)
{
	(void)state;
	for (const struct region *region = regions; region->name; region++)
		for (size_t i = 0; region->accelerators[i]; i++) {
			int number = 0;

			assert_true(enum_number(&ml_accelerator_type, region->accelerators[i], &number));
			assert_true(region_has_accelerator(region->name, region->accelerators[i]));
		}
}

static void vertex_ai_trains_with_its_accelerators(void **state)
{
	size_t regions_of_l4 = 0;

	(void)state;
	for (const struct region *region = regions; region->name; region++)
		regions_of_l4 += region_trains_with(region->name, "NVIDIA_L4");
	assert_int_equal(regions_of_l4, 11);
	assert_true(region_trains_with("us-east5", "NVIDIA_H200_141GB"));
	assert_true(region_trains_with("us-central1", "NVIDIA_TESLA_A100"));
	assert_true(region_trains_with("us-central1", "tpu7x"));
	assert_false(region_trains_with("europe-west4", "ct5lp")); /* it serves with them only */
	assert_false(region_trains_with("europe-west6", "NVIDIA_L4"));
	assert_false(region_trains_with("mars-east1", "NVIDIA_L4"));
	assert_false(region_trains_with("us-central1", "NVIDIA_TESLA_K80"));
}

static void what_is_not_in_the_table_is_not_there(void **state)
{
	(void)state;
	assert_true(region_known("us-central1"));
	assert_false(region_known("us-central"));
	assert_false(region_known("us-east5"));
	assert_true(region_find("us-east5")->vertex_only);
	assert_false(region_known(""));
	assert_null(region_find("mars-east1"));
	assert_false(region_has_accelerator("us-west3", "NVIDIA_TESLA_T4"));
	assert_false(region_has_accelerator("mars-east1", "NVIDIA_TESLA_T4"));
	assert_false(region_has_accelerator("us-central1", "TPU_V4_POD"));
}

static void the_list_names_those_of_ai_platform(void **state)
{
	struct text text AUTO_TEXT = { 0 };

	(void)state;
	regions_list(&text);
	assert_int_equal(strncmp(text.data, "asia-east1, asia-east2, ", 24), 0);
	for (const struct region *region = regions; region->name; region++)
		assert_int_equal(strstr(text.data, region->name) != NULL, !region->vertex_only);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_in_rising_order),
		cmocka_unit_test(accelerators_are_known),
		cmocka_unit_test(vertex_ai_trains_with_its_accelerators),
		cmocka_unit_test(what_is_not_in_the_table_is_not_there),
		cmocka_unit_test(the_list_names_those_of_ai_platform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
