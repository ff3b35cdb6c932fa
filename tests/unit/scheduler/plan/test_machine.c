/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/machine.h"

#include <string.h>

#include "tests/unit/testing.h"

#define K80  "NVIDIA_TESLA_K80"
#define P4   "NVIDIA_TESLA_P4"
#define P100 "NVIDIA_TESLA_P100"
#define T4   "NVIDIA_TESLA_T4"
#define V100 "NVIDIA_TESLA_V100"
#define A100 "NVIDIA_TESLA_A100"

/* clang-format off */
static const struct {
	const char *name;
	enum machine_category category;
	unsigned vcpus, memory_mib;
	const char *accelerator_type;
	unsigned accelerator_count;
} catalogue[] = {
	{ "standard", MACHINE_LEGACY, 4, 15360, NULL, 0 },
	{ "large_model", MACHINE_LEGACY, 8, 53248, NULL, 0 },
	{ "complex_model_s", MACHINE_LEGACY, 8, 7372, NULL, 0 },
	{ "complex_model_m", MACHINE_LEGACY, 16, 14745, NULL, 0 },
	{ "complex_model_l", MACHINE_LEGACY, 32, 29491, NULL, 0 },
	{ "standard_gpu", MACHINE_LEGACY, 8, 30720, K80, 1 },
	{ "complex_model_m_gpu", MACHINE_LEGACY, 16, 61440, K80, 4 },
	{ "complex_model_l_gpu", MACHINE_LEGACY, 32, 122880, K80, 8 },
	{ "standard_p100", MACHINE_LEGACY, 8, 30720, P100, 1 },
	{ "complex_model_m_p100", MACHINE_LEGACY, 16, 61440, P100, 4 },
	{ "standard_v100", MACHINE_LEGACY, 8, 30720, V100, 1 },
	{ "large_model_v100", MACHINE_LEGACY, 8, 53248, V100, 1 },
	{ "complex_model_m_v100", MACHINE_LEGACY, 16, 61440, V100, 4 },
	{ "complex_model_l_v100", MACHINE_LEGACY, 32, 122880, V100, 8 },
	{ "cloud_tpu", MACHINE_TPU, 0, 0, NULL, 0 },
	{ "n1-standard-4", MACHINE_COMPUTE_ENGINE, 4, 15360, NULL, 0 },
	{ "n1-standard-8", MACHINE_COMPUTE_ENGINE, 8, 30720, NULL, 0 },
	{ "n1-standard-16", MACHINE_COMPUTE_ENGINE, 16, 61440, NULL, 0 },
	{ "n1-standard-32", MACHINE_COMPUTE_ENGINE, 32, 122880, NULL, 0 },
	{ "n1-standard-64", MACHINE_COMPUTE_ENGINE, 64, 245760, NULL, 0 },
	{ "n1-standard-96", MACHINE_COMPUTE_ENGINE, 96, 368640, NULL, 0 },
	{ "n1-highmem-2", MACHINE_COMPUTE_ENGINE, 2, 13312, NULL, 0 },
	{ "n1-highmem-4", MACHINE_COMPUTE_ENGINE, 4, 26624, NULL, 0 },
	{ "n1-highmem-8", MACHINE_COMPUTE_ENGINE, 8, 53248, NULL, 0 },
	{ "n1-highmem-16", MACHINE_COMPUTE_ENGINE, 16, 106496, NULL, 0 },
	{ "n1-highmem-32", MACHINE_COMPUTE_ENGINE, 32, 212992, NULL, 0 },
	{ "n1-highmem-64", MACHINE_COMPUTE_ENGINE, 64, 425984, NULL, 0 },
	{ "n1-highmem-96", MACHINE_COMPUTE_ENGINE, 96, 638976, NULL, 0 },
	{ "n1-highcpu-8", MACHINE_OF_TIER, 8, 7372, NULL, 0 },
	{ "n1-highcpu-16", MACHINE_COMPUTE_ENGINE, 16, 14745, NULL, 0 },
	{ "n1-highcpu-32", MACHINE_COMPUTE_ENGINE, 32, 29491, NULL, 0 },
	{ "n1-highcpu-64", MACHINE_COMPUTE_ENGINE, 64, 58982, NULL, 0 },
	{ "n1-highcpu-96", MACHINE_COMPUTE_ENGINE, 96, 88473, NULL, 0 },
	{ "a2-highgpu-1g", MACHINE_COMPUTE_ENGINE, 12, 87040, A100, 1 },
	{ "a2-highgpu-2g", MACHINE_COMPUTE_ENGINE, 24, 174080, A100, 2 },
	{ "a2-highgpu-4g", MACHINE_COMPUTE_ENGINE, 48, 348160, A100, 4 },
	{ "a2-highgpu-8g", MACHINE_COMPUTE_ENGINE, 96, 696320, A100, 8 },
	{ "a2-megagpu-16g", MACHINE_COMPUTE_ENGINE, 96, 1392640, A100, 16 },
	{ "m1-ultramem-40", MACHINE_COMPUTE_ENGINE, 40, 984064, NULL, 0 },
	{ "m1-ultramem-80", MACHINE_COMPUTE_ENGINE, 80, 1968128, NULL, 0 },
	{ "m1-ultramem-160", MACHINE_COMPUTE_ENGINE, 160, 3936256, NULL, 0 },
	{ "m1-megamem-96", MACHINE_COMPUTE_ENGINE, 96, 1468006, NULL, 0 },
	{ "e2-standard-4", MACHINE_COMPUTE_ENGINE, 4, 16384, NULL, 0 },
	{ "e2-standard-8", MACHINE_COMPUTE_ENGINE, 8, 32768, NULL, 0 },
	{ "e2-standard-16", MACHINE_COMPUTE_ENGINE, 16, 65536, NULL, 0 },
	{ "e2-standard-32", MACHINE_COMPUTE_ENGINE, 32, 131072, NULL, 0 },
	{ "e2-highmem-2", MACHINE_COMPUTE_ENGINE, 2, 16384, NULL, 0 },
	{ "e2-highmem-4", MACHINE_COMPUTE_ENGINE, 4, 32768, NULL, 0 },
	{ "e2-highmem-8", MACHINE_COMPUTE_ENGINE, 8, 65536, NULL, 0 },
	{ "e2-highmem-16", MACHINE_COMPUTE_ENGINE, 16, 131072, NULL, 0 },
	{ "e2-highcpu-16", MACHINE_COMPUTE_ENGINE, 16, 16384, NULL, 0 },
	{ "e2-highcpu-32", MACHINE_COMPUTE_ENGINE, 32, 32768, NULL, 0 },
	{ "n2-standard-2", MACHINE_COMPUTE_ENGINE, 2, 8192, NULL, 0 },
	{ "n2-standard-128", MACHINE_COMPUTE_ENGINE, 128, 524288, NULL, 0 },
	{ "n2-highmem-2", MACHINE_COMPUTE_ENGINE, 2, 16384, NULL, 0 },
	{ "n2-highmem-96", MACHINE_COMPUTE_ENGINE, 96, 786432, NULL, 0 },
	{ "n2-highcpu-2", MACHINE_COMPUTE_ENGINE, 2, 2048, NULL, 0 },
	{ "n2-highcpu-96", MACHINE_COMPUTE_ENGINE, 96, 98304, NULL, 0 },
	{ "n2d-standard-2", MACHINE_COMPUTE_ENGINE, 2, 8192, NULL, 0 },
	{ "n2d-standard-224", MACHINE_COMPUTE_ENGINE, 224, 917504, NULL, 0 },
	{ "n2d-highmem-2", MACHINE_COMPUTE_ENGINE, 2, 16384, NULL, 0 },
	{ "n2d-highmem-96", MACHINE_COMPUTE_ENGINE, 96, 786432, NULL, 0 },
	{ "n2d-highcpu-2", MACHINE_COMPUTE_ENGINE, 2, 2048, NULL, 0 },
	{ "n2d-highcpu-224", MACHINE_COMPUTE_ENGINE, 224, 229376, NULL, 0 },
	{ "c2-standard-4", MACHINE_COMPUTE_ENGINE, 4, 16384, NULL, 0 },
	{ "c2-standard-8", MACHINE_COMPUTE_ENGINE, 8, 32768, NULL, 0 },
	{ "c2-standard-16", MACHINE_COMPUTE_ENGINE, 16, 65536, NULL, 0 },
	{ "c2-standard-30", MACHINE_COMPUTE_ENGINE, 30, 122880, NULL, 0 },
	{ "c2-standard-60", MACHINE_COMPUTE_ENGINE, 60, 245760, NULL, 0 },
	{ "n2-highmem-128", MACHINE_COMPUTE_ENGINE, 128, 884736, NULL, 0 },
	{ "e2-medium", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
	{ "e2-standard-3", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
	{ "e2-standard-64", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
	{ "e2-standard-99999999999999999999", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
	{ "n2-custom-4-8192", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
	{ "c2-standard", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
	{ "m1-megamem-97", MACHINE_COMPUTE_ENGINE, 0, 0, NULL, 0 },
};
/* clang-format on */

static void machines_are_found_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(catalogue); i++) {
		struct machine machine = { 0 };

		assert_true(machine_find(catalogue[i].name, &machine));
		assert_string_equal(machine.name, catalogue[i].name);
		assert_int_equal(machine.category, catalogue[i].category);
		assert_int_equal(machine.vcpus, catalogue[i].vcpus);
		assert_int_equal(machine.memory_mib, catalogue[i].memory_mib);
		assert_int_equal(machine.accelerator_count, catalogue[i].accelerator_count);
		if (catalogue[i].accelerator_type)
			assert_string_equal(machine.accelerator_type, catalogue[i].accelerator_type);
		else
			assert_null(machine.accelerator_type);
	}
}

static void other_names_are_no_machines(void **state)
{
	static const char *const names[] = {
		"",
		"n1-standard-1",
		"n1-standard-2",
		"n1-standard-5",
		"n1-standard-128",
		"n1-highmem-1",
		"n1-highmem-128",
		"n1-highcpu-2",
		"n1-highcpu-4",
		"n1-highcpu-128",
		"n1-",
		"n1",
		"a2-highgpu-3g",
		"a2-highgpu-16g",
		"a2-ultragpu-1g",
		"g2-standard-4",
		"n4-standard-4",
		"c3-standard-4",
		"standard ",
		"Standard",
		"standard_k80",
		"complex_model",
		"complex_model_l_p100",
		"large_model_gpu",
		"cloud_tpu_v2",
		"e2-",
		"e2-a b",
		"e2-A",
		"e2-\xc3\xa9",
		"n2",
		"xe2-standard-4",
		"e2-a234567890123456789012345678901234567890123456789012345678901234"
	};
	struct machine machine;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		assert_false(machine_find_in(names[i], MACHINE_OF_ML, &machine));
}

/* The service's table of GPUs, each row with all of its machines. */
/* clang-format off */
static const struct {
	const char *machines[9]; /* ends with NULL */
	unsigned k80, p4, p100, t4, v100, a100;
} gpu_rows[] = {
	{ { "n1-standard-4", "n1-standard-8", "n1-highmem-2", "n1-highmem-4", "n1-highmem-8" },
	  1 | 2 | 4 | 8, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4 | 8, 0 },
	{ { "n1-standard-16", "n1-highmem-16", "n1-highcpu-16" },
	  2 | 4 | 8, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4, 2 | 4 | 8, 0 },
	{ { "n1-standard-32", "n1-highmem-32", "n1-highcpu-32" },
	  4 | 8, 2 | 4, 2 | 4, 2 | 4, 4 | 8, 0 },
	{ { "n1-standard-64", "n1-highmem-64" }, 0, 4, 0, 4, 8, 0 },
	{ { "n1-highcpu-64" }, 8, 4, 4, 4, 8, 0 },
	{ { "n1-standard-96", "n1-highmem-96", "n1-highcpu-96" }, 0, 4, 0, 4, 8, 0 },
	{ { "a2-highgpu-1g" }, 0, 0, 0, 0, 0, 1 },
	{ { "a2-highgpu-2g" }, 0, 0, 0, 0, 0, 2 },
	{ { "a2-highgpu-4g" }, 0, 0, 0, 0, 0, 4 },
	{ { "a2-highgpu-8g" }, 0, 0, 0, 0, 0, 8 },
	{ { "a2-megagpu-16g" }, 0, 0, 0, 0, 0, 16 },
	{ { "n1-highcpu-8", "standard", "standard_gpu", "complex_model_l_v100", "e2-standard-4",
	    "n2-standard-4", "n2d-standard-4", "c2-standard-4", "m1-ultramem-40" }, 0, 0, 0, 0, 0, 0 },
	{ { "cloud_tpu" }, 0, 0, 0, 0, 0, 0 },
};
/* clang-format on */

/* Checks that of the counts -1 to 33, exactly the listed ones are valid, and no large ones. */
static void check_counts(const char *name, const char *type, unsigned counts)
{
	struct machine machine;

	assert_true(machine_find(name, &machine));
	assert_int_equal(machine_accelerator_counts(&machine, type), counts);
	for (int64_t count = -1; count <= 33; count++) {
		bool listed = count > 0 && (count & (count - 1)) == 0 && (counts & (unsigned)count);

		assert_int_equal(machine_takes(&machine, type, count), listed);
	}
	assert_false(machine_takes(&machine, type, INT64_MAX));
	assert_false(machine_takes(&machine, type, INT64_C(0x100000000)));
	assert_false(machine_takes(&machine, type, INT64_MIN));
}

static void gpus_come_in_fixed_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(gpu_rows); i++) {
		for (size_t j = 0; j < COUNT_OF(gpu_rows[i].machines) && gpu_rows[i].machines[j]; j++) {
			const char *name = gpu_rows[i].machines[j];

			check_counts(name, K80, gpu_rows[i].k80);
			check_counts(name, P4, gpu_rows[i].p4);
			check_counts(name, P100, gpu_rows[i].p100);
			check_counts(name, T4, gpu_rows[i].t4);
			check_counts(name, V100, gpu_rows[i].v100);
			check_counts(name, A100, gpu_rows[i].a100);
			check_counts(name, "NVIDIA_TESLA_H100", 0);
			check_counts(name, "", 0);
			if (strcmp(name, "cloud_tpu") != 0)
				check_counts(name, "TPU_V2", 0);
		}
	}
}

static void cloud_tpus_come_with_eight_cores(void **state)
{
	(void)state;
	check_counts("cloud_tpu", "TPU_V2", 8);
	check_counts("cloud_tpu", "TPU_V3", 8);
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

/* Machine types that only the second API has, that both have, and that it lacks. */
static void each_api_has_its_own_machines(void **state)
{
	static const struct {
		const char *name;
		unsigned apis, vcpus, memory_mib;
		const char *accelerator_type;
		unsigned accelerator_count;
	} rows[] = {
		{ "n1-standard-4", MACHINE_OF_ML | MACHINE_OF_VERTEX, 4, 15360, NULL, 0 },
		{ "standard_gpu", MACHINE_OF_ML, 8, 30720, K80, 1 },
		{ "cloud_tpu", MACHINE_OF_ML, 0, 0, NULL, 0 },
		{ "e2-standard-2", MACHINE_OF_ML, 2, 8192, NULL, 0 },
		{ "n2-standard-96", MACHINE_OF_ML, 96, 393216, NULL, 0 },
		{ "n2d-standard-4", MACHINE_OF_ML, 4, 16384, NULL, 0 },
		{ "e2-standard-3", MACHINE_OF_ML, 0, 0, NULL, 0 },
		{ "a2-megagpu-16g", MACHINE_OF_ML | MACHINE_OF_VERTEX, 96, 1392640, A100, 16 },
		{ "a2-ultragpu-4g", MACHINE_OF_VERTEX, 48, 696320, "NVIDIA_A100_80GB", 4 },
		{ "a3-highgpu-1g", MACHINE_OF_VERTEX, 26, 239616, "NVIDIA_H100_80GB", 1 },
		{ "a3-megagpu-8g", MACHINE_OF_VERTEX, 208, 1916928, "NVIDIA_H100_MEGA_80GB", 8 },
		{ "a4x-highgpu-4g", MACHINE_OF_VERTEX, 140, 905216, "NVIDIA_GB200", 4 },
		{ "g2-standard-24", MACHINE_OF_VERTEX, 24, 98304, "NVIDIA_L4", 2 },
		{ "g4-standard-384", MACHINE_OF_VERTEX, 384, 1474560, "NVIDIA_RTX_PRO_6000", 8 },
		{ "n4-highmem-80", MACHINE_OF_VERTEX, 80, 655360, NULL, 0 },
		{ "cloud-tpu", MACHINE_OF_VERTEX, 0, 0, NULL, 0 },
		{ "ct6e-standard-8t", MACHINE_OF_VERTEX, 180, 1474560, NULL, 0 },
		{ "m2-ultramem-208", 0, 0, 0, NULL, 0 },
		{ "c3-standard-4", 0, 0, 0, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct machine machine = { 0 };

		assert_int_equal(machine_find_in(rows[i].name, MACHINE_OF_ML, &machine),
				 !!(rows[i].apis & MACHINE_OF_ML));
		assert_int_equal(machine_find_in(rows[i].name, MACHINE_OF_VERTEX, &machine),
				 !!(rows[i].apis & MACHINE_OF_VERTEX));
		assert_int_equal(machine_find(rows[i].name, &machine), rows[i].apis != 0);
		if (!rows[i].apis)
			continue;
		assert_int_equal(machine.apis, rows[i].apis);
		assert_int_equal(machine.vcpus, rows[i].vcpus);
		assert_int_equal(machine.memory_mib, rows[i].memory_mib);
		assert_int_equal(machine.accelerator_count, rows[i].accelerator_count);
		if (rows[i].accelerator_type)
			assert_string_equal(machine.accelerator_type, rows[i].accelerator_type);
	}
}

static void tpus_have_the_types_of_their_api(void **state)
{
	struct machine machine;

	(void)state;
	assert_true(machine_find("cloud-tpu", &machine));
	assert_int_equal(machine.category, MACHINE_TPU_VM);
	assert_true(machine_takes(&machine, "TPU_V2", 8));
	assert_true(machine_takes(&machine, "TPU_V3", 2048));
	assert_false(machine_takes(&machine, "TPU_V2", 16));
	assert_false(machine_takes(&machine, "TPU_V2_POD", 32));
	assert_true(machine_find("ct5lp-hightpu-1t", &machine));
	assert_int_equal(machine_accelerator_counts(&machine, "TPU_V2"), 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_api_has_its_own_machines),
		cmocka_unit_test(tpus_have_the_types_of_their_api),
		cmocka_unit_test(machines_are_found_by_name),
		cmocka_unit_test(other_names_are_no_machines),
		cmocka_unit_test(gpus_come_in_fixed_numbers),
		cmocka_unit_test(cloud_tpus_come_with_eight_cores),
		cmocka_unit_test(pods_are_larger_than_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
