/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/accelerator.h"

#include <stdlib.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

static void types_have_short_names(void **state)
{
	static const struct {
		const char *type, *short_name;
		bool known, tpu;
	} rows[] = {
		{ "NVIDIA_TESLA_K80", "K80", true, false },
		{ "NVIDIA_TESLA_P100", "P100", true, false },
		{ "NVIDIA_TESLA_V100", "V100", true, false },
		{ "NVIDIA_TESLA_P4", "P4", true, false },
		{ "NVIDIA_TESLA_T4", "T4", true, false },
		{ "NVIDIA_TESLA_A100", "A100", true, false },
		{ "TPU_V2", "TPU_V2", true, true },
		{ "TPU_V3", "TPU_V3", true, true },
		{ "TPU_V2_POD", "TPU_V2_POD", true, true },
		{ "TPU_V3_POD", "TPU_V3_POD", true, true },
		{ "TPU_V4_POD", "TPU_V4_POD", false, true },
		{ "NVIDIA_L4", "NVIDIA_L4", false, false },
		{ "", "", false, false },
	};
	enum accelerator accelerator;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(accelerator_parse(rows[i].type, &accelerator), rows[i].known);
		if (rows[i].known)
			assert_string_equal(accelerator_name(accelerator), rows[i].type);
		assert_int_equal(accelerator_is_tpu(rows[i].type), rows[i].tpu);
		assert_string_equal(accelerator_short_name(rows[i].type), rows[i].short_name);
	}
}

static void the_quota_names_every_type_in_order(void **state)
{
	static const unsigned none[ACCELERATOR_COUNT] = { 0 };
	static const unsigned some[ACCELERATOR_COUNT] = { [ACCELERATOR_K80] = 2, [ACCELERATOR_TPU_V3] = 8 };
	AUTO(string) char *without = accelerator_quota_text("my-project", "NVIDIA_TESLA_K80", 2, none);
	AUTO(string) char *with = accelerator_quota_text("p", "TPU_V2", 8, some);

	(void)state;
	assert_string_equal(
		without, "Quota failure for project my-project. The request for 2 K80 accelerators exceeds "
			 "the allowed maximum of 0 A100, 0 K80, 0 P100, 0 P4, 0 T4, 0 TPU_V2, 0 TPU_V2_POD, "
			 "0 TPU_V3, 0 TPU_V3_POD, 0 V100 accelerators.");
	assert_string_equal(with,
			    "Quota failure for project p. The request for 8 TPU_V2 accelerators exceeds the "
			    "allowed maximum of 0 A100, 2 K80, 0 P100, 0 P4, 0 T4, 0 TPU_V2, 0 TPU_V2_POD, "
			    "8 TPU_V3, 0 TPU_V3_POD, 0 V100 accelerators.");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_have_short_names),
		cmocka_unit_test(the_quota_names_every_type_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
