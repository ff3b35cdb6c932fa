/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/ml_units.h"

#include "tests/unit/testing.h"

#define LITERAL(text) ((char *)(uintptr_t)(text))

/* The service's tables are rounded to four digits. */
static bool is_near(double a, double b)
{
	double deviation = a - b;

	return deviation < 0.0001 && deviation > -0.0001;
}

static struct pool pool_of(unsigned count, const char *machine, const char *accelerator,
			   unsigned accelerators)
{
	return (struct pool){ .count = count,
			      .machine_type = LITERAL(machine),
			      .accelerator_type = LITERAL(accelerator),
			      .accelerator_count = accelerators };
}

/* The consumption of each machine in the service's price list, including accelerators. */
static void machines_consume_what_the_price_list_says(void **state)
{
	static const struct {
		const char *machine, *accelerator;
		unsigned accelerators;
		double units;
	} rows[] = {
		{ "standard", NULL, 0, 0.3878 },
		{ "large_model", NULL, 0, 0.9665 },
		{ "complex_model_s", NULL, 0, 0.5788 },
		{ "complex_model_m", NULL, 0, 1.1576 },
		{ "complex_model_l", NULL, 0, 2.3151 },
		{ "standard_gpu", "NVIDIA_TESLA_K80", 1, 0.83 / 0.49 },
		{ "complex_model_m_gpu", "NVIDIA_TESLA_K80", 4, 2.56 / 0.49 },
		{ "complex_model_l_gpu", "NVIDIA_TESLA_K80", 8, 5.12 / 0.49 },
		{ "standard_p100", "NVIDIA_TESLA_P100", 1, 1.84 / 0.49 },
		{ "complex_model_m_p100", "NVIDIA_TESLA_P100", 4, 6.60 / 0.49 },
		{ "standard_v100", "NVIDIA_TESLA_V100", 1, 2.86 / 0.49 },
		{ "large_model_v100", "NVIDIA_TESLA_V100", 1, 2.9536 / 0.49 },
		{ "complex_model_m_v100", "NVIDIA_TESLA_V100", 4, 10.68 / 0.49 },
		{ "complex_model_l_v100", "NVIDIA_TESLA_V100", 8, 21.36 / 0.49 },
		{ "n1-standard-4", NULL, 0, 0.3878 },
		{ "n1-standard-8", NULL, 0, 0.7755 },
		{ "n1-standard-16", NULL, 0, 1.5510 },
		{ "n1-standard-32", NULL, 0, 3.1020 },
		{ "n1-standard-64", NULL, 0, 6.2041 },
		{ "n1-standard-96", NULL, 0, 9.3061 },
		{ "n1-highmem-2", NULL, 0, 0.2416 },
		{ "n1-highcpu-16", NULL, 0, 1.1576 },
		{ "n1-standard-8", "NVIDIA_TESLA_T4", 2, (0.38 + 0.70) / 0.49 },
		{ "a2-highgpu-1g", "NVIDIA_TESLA_A100", 1, 3.673385 / 0.49 },
		{ "e2-standard-4", NULL, 0, 0.134012 / 0.49 },
		{ "no-such-machine", NULL, 0, 0 },
		{ "e2-medium", NULL, 0, 0 },
		{ NULL, NULL, 0, 0 },
		{ "n1-standard-4", "NVIDIA_H100", 8, 0.3878 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct plan plan = { .pools = { [ROLE_MASTER] =
							pool_of(1, rows[i].machine, rows[i].accelerator,
								rows[i].accelerators) } };
		double units = plan_ml_units_per_hour(&plan);

		if (!is_near(units, rows[i].units))
			fail_msg("%s: %f, not %f", rows[i].machine, units, rows[i].units);
	}
}

static void scale_tiers_are_the_sums_of_their_machines(void **state)
{
	const struct {
		struct pool master, workers, ps;
		double units;
	} rows[] = {
		{ pool_of(1, "n1-standard-4", NULL, 0), { 0 }, { 0 }, 0.3878 },
		{ pool_of(1, "n1-highcpu-8", NULL, 0), pool_of(4, "n1-highcpu-8", NULL, 0),
		  pool_of(3, "n1-standard-4", NULL, 0), 4.0571 },
		{ pool_of(1, "n1-highcpu-16", NULL, 0), pool_of(19, "n1-highcpu-16", NULL, 0),
		  pool_of(11, "n1-highmem-8", NULL, 0), 33.7829 },
		{ pool_of(1, "n1-standard-8", "NVIDIA_TESLA_K80", 1), { 0 }, { 0 }, 1.6939 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct plan plan = { .pools = { [ROLE_MASTER] = rows[i].master,
						[ROLE_WORKER] = rows[i].workers,
						[ROLE_PS] = rows[i].ps } };

		if (!is_near(plan_ml_units_per_hour(&plan), rows[i].units))
			fail_msg("row %zu: %f, not %f", i, plan_ml_units_per_hour(&plan), rows[i].units);
	}
}

static void a_tpu_counts_by_its_cores(void **state)
{
	(void)state;
	/* BASIC_TPU without its master. */
	assert_true(is_near(accelerator_ml_units_per_hour("TPU_V2", 8), 9.5714 - 0.3878));
	assert_true(is_near(accelerator_ml_units_per_hour("TPU_V3", 8), 8 / 0.49));
	assert_true(is_near(accelerator_ml_units_per_hour("TPU_V2_POD", 64), 48 / 0.49));
	assert_true(is_near(accelerator_ml_units_per_hour("TPU_V2", 0), 0));
	assert_true(is_near(accelerator_ml_units_per_hour("TPU_V9", 8), 0));
	assert_true(is_near(accelerator_ml_units_per_hour(NULL, 8), 0));
}

static void consumption_is_told_in_hundredths(void **state)
{
	static const struct {
		double per_hour;
		int64_t us;
		double reported;
	} rows[] = {
		{ 0.3878, INT64_C(386000000), 0.04 },
		{ 1, INT64_C(1620000000), 0.45 },
		{ 1.6939, INT64_C(7311000000), 3.44 },
		{ 0.3878, INT64_C(46000000), 0 },
		{ 0.3878, INT64_C(47000000), 0.01 },
		{ 4.0571, 0, 0 },
		{ 4.0571, -1000000, 0 },
		{ 0, INT64_C(3600000000), 0 },
		{ -1, INT64_C(3600000000), 0 },
		{ 33.7829, INT64_C(604800000000), 5675.53 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		double reported = ml_units_consumed(rows[i].per_hour, rows[i].us);

		if (!is_near(reported, rows[i].reported))
			fail_msg("row %zu: %.17g, not %.17g", i, reported, rows[i].reported);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_consume_what_the_price_list_says),
		cmocka_unit_test(scale_tiers_are_the_sums_of_their_machines),
		cmocka_unit_test(a_tpu_counts_by_its_cores),
		cmocka_unit_test(consumption_is_told_in_hundredths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
