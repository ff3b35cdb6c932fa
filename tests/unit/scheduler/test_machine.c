/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/machine.h"

#include <string.h>

#include "tests/unit/testing.h"

static void machines_are_found_by_name(void **state)
{
	static const struct {
		const char *name;
		enum machine_category category;
		unsigned vcpus, memory_mib;
		const char *accelerator_type;
		unsigned accelerator_count;
	} rows[] = {
		{ "standard", MACHINE_LEGACY, 4, 15360, NULL, 0 },
		{ "complex_model_l_v100", MACHINE_LEGACY, 32, 122880, "NVIDIA_TESLA_V100", 8 },
		{ "cloud_tpu", MACHINE_TPU, 0, 0, NULL, 0 },
		{ "n1-standard-96", MACHINE_COMPUTE_ENGINE, 96, 368640, NULL, 0 },
		{ "n1-highmem-2", MACHINE_COMPUTE_ENGINE, 2, 13312, NULL, 0 },
		{ "n1-highcpu-8", MACHINE_OF_TIER, 8, 7372, NULL, 0 },
		{ "a2-megagpu-16g", MACHINE_COMPUTE_ENGINE, 96, 1392640, "NVIDIA_TESLA_A100", 16 },
		{ "e2-standard-4", MACHINE_COMPUTE_ENGINE, 4, 16384, NULL, 0 },
		{ "n2-highmem-16", MACHINE_COMPUTE_ENGINE, 16, 131072, NULL, 0 },
		{ "n2d-highcpu-32", MACHINE_COMPUTE_ENGINE, 32, 32768, NULL, 0 },
		{ "c2-standard-60", MACHINE_COMPUTE_ENGINE, 60, 245760, NULL, 0 },
		{ "m1-ultramem-40", MACHINE_COMPUTE_ENGINE, 40, 984064, NULL, 0 },
		{ "e2-medium", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
		{ "e2-standard-99999999999999999999", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct machine machine = { 0 };

		assert_true(machine_find(rows[i].name, &machine));
		assert_string_equal(machine.name, rows[i].name);
		assert_int_equal(machine.category, rows[i].category);
		assert_int_equal(machine.vcpus, rows[i].vcpus);
		assert_int_equal(machine.memory_mib, rows[i].memory_mib);
		assert_int_equal(machine.accelerator_count, rows[i].accelerator_count);
		if (rows[i].accelerator_type)
			assert_string_equal(machine.accelerator_type, rows[i].accelerator_type);
	}
}

static void other_names_are_no_machines(void **state)
{
	static const char *const names[] = {
		"",       "n1-standard-1", "n1-standard-2", "n1-highcpu-4",  "Standard", "e2-",
		"e2-a b", "e2-A",          "n1-",           "g2-standard-4", "n2",       "xe2-standard-4"
	};
	struct machine machine;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		assert_false(machine_find(names[i], &machine));
}

#define K80  "NVIDIA_TESLA_K80"
#define P4   "NVIDIA_TESLA_P4"
#define P100 "NVIDIA_TESLA_P100"
#define T4   "NVIDIA_TESLA_T4"
#define V100 "NVIDIA_TESLA_V100"
#define A100 "NVIDIA_TESLA_A100"

/* Which numbers from 1 to 16 are taken, and no other. */
static void accelerators_come_in_fixed_numbers(void **state)
{
	static const struct {
		const char *name, *type;
		unsigned counts;
	} rows[] = {
		{ "n1-standard-4", K80, 1 | 2 | 4 | 8 },
		{ "n1-standard-4", P4, 1 | 2 | 4 },
		{ "n1-standard-8", P100, 1 | 2 | 4 },
		{ "n1-highmem-2", T4, 1 | 2 | 4 },
		{ "n1-highmem-8", V100, 1 | 2 | 4 | 8 },
		{ "n1-standard-16", K80, 2 | 4 | 8 },
		{ "n1-highmem-16", P4, 1 | 2 | 4 },
		{ "n1-highcpu-16", V100, 2 | 4 | 8 },
		{ "n1-standard-32", K80, 4 | 8 },
		{ "n1-highmem-32", T4, 2 | 4 },
		{ "n1-highcpu-32", V100, 4 | 8 },
		{ "n1-standard-64", K80, 0 },
		{ "n1-standard-64", P4, 4 },
		{ "n1-highmem-64", P100, 0 },
		{ "n1-highmem-64", V100, 8 },
		{ "n1-highcpu-64", K80, 8 },
		{ "n1-highcpu-64", P100, 4 },
		{ "n1-standard-96", K80, 0 },
		{ "n1-highcpu-96", P100, 0 },
		{ "n1-highmem-96", T4, 4 },
		{ "n1-highcpu-96", V100, 8 },
		{ "n1-standard-4", A100, 0 },
		{ "n1-standard-4", "TPU_V2", 0 },
		{ "a2-highgpu-1g", A100, 1 },
		{ "a2-highgpu-8g", A100, 8 },
		{ "a2-megagpu-16g", A100, 16 },
		{ "a2-highgpu-8g", V100, 0 },
		{ "standard_gpu", K80, 0 },
		{ "n1-highcpu-8", K80, 0 },
		{ "n2-standard-4", T4, 0 },
		{ "e2-standard-4", K80, 0 },
		{ "cloud_tpu", "TPU_V2", 8 },
		{ "cloud_tpu", "TPU_V3", 8 },
		{ "cloud_tpu", K80, 0 },
		{ "n1-standard-4", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct machine machine;

		assert_true(machine_find(rows[i].name, &machine));
		assert_int_equal(machine_accelerator_counts(&machine, rows[i].type), rows[i].counts);
		for (int64_t count = -1; count <= 17; count++) {
			bool listed =
				count > 0 && (count & (count - 1)) == 0 && (rows[i].counts & (unsigned)count);

			assert_int_equal(machine_takes(&machine, rows[i].type, count), listed);
		}
		assert_false(machine_takes(&machine, rows[i].type, INT64_MAX));
		assert_false(machine_takes(&machine, rows[i].type, INT64_C(0x100000000)));
		assert_false(machine_takes(&machine, rows[i].type, INT64_MIN));
	}
}

static void pods_are_larger_than_slices(void **state)
{
	struct machine tpu;

	(void)state;
	assert_true(machine_find("cloud_tpu", &tpu));
	assert_true(machine_takes(&tpu, "TPU_V2_POD", 32));
	assert_true(machine_takes(&tpu, "TPU_V2_POD", 512));
	assert_false(machine_takes(&tpu, "TPU_V2_POD", 8));
	assert_false(machine_takes(&tpu, "TPU_V2_POD", 1024));
	assert_true(machine_takes(&tpu, "TPU_V3_POD", 2048));
	assert_false(machine_takes(&tpu, "TPU_V3", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_found_by_name),
		cmocka_unit_test(other_names_are_no_machines),
		cmocka_unit_test(accelerators_come_in_fixed_numbers),
		cmocka_unit_test(pods_are_larger_than_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
