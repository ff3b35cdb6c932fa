/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/ml_units.h"

#include <string.h>

#include "scheduler/plan/machine.h"

static const double dollars_per_unit = 0.49;

/* What one vCPU and one GiB of memory cost in an hour, by the name of the machine type or its beginning; the first
 * row that fits counts. Accelerators come on top, also where they are part of the machine's name: all eight
 * legacy types with accelerators are listed at the price of an N1 machine of their size and that of the
 * accelerators, and each scale tier at the sum of its machines.
 *
 * Listed are the legacy types, n1-standard and n1-highmem-2. The price of n1-highcpu is derived from the legacy types
 * and the tiers that are made of it. The prices of the other families are not checked against a page: they are Compute
 * Engine's own in us-central1, as the listed prices of N1 machines are. */
static const struct {
	const char *beginning;
	double vcpu, gib; /* dollars */
} machine_prices[] = {
	{ "large_model", 0.0592, 0 },      { "complex_model_s", 0.03545, 0 },
	{ "complex_model_m_", 0.0475, 0 }, { "complex_model_m", 0.03545, 0 },
	{ "complex_model_l_", 0.0475, 0 }, { "complex_model_l", 0.03545, 0 },
	{ "standard", 0.0475, 0 },         { "n1-standard-", 0.0475, 0 },
	{ "n1-highmem-", 0.0592, 0 },      { "n1-highcpu-", 0.03545, 0 },
	{ "e2-", 0.021811, 0.002923 },     { "n2-", 0.031611, 0.004237 },
	{ "n2d-", 0.027502, 0.003686 },    { "c2-", 0.03398, 0.00455 },
	{ "a2-", 0.031611, 0.004237 },     { "m1-", 0.0348, 0.0051 },
};

/* The price of one card, or of one core of a TPU, for an hour. Derived: K80, P100 and V100 from the legacy types, TPU_V2
 * from BASIC_TPU, which has a TPU of eight cores. The others are not checked against a page: they are the prices of
 * Compute Engine and Cloud TPU. */
static const struct {
	const char *type;
	double price; /* dollars */
} accelerator_prices[] = {
	{ "NVIDIA_TESLA_K80", 0.45 },
	{ "NVIDIA_TESLA_P100", 1.46 },
	{ "NVIDIA_TESLA_V100", 2.48 },
	{ "NVIDIA_TESLA_P4", 0.60 },
	{ "NVIDIA_TESLA_T4", 0.35 },
	{ "NVIDIA_TESLA_A100", 2.933908 },
	{ "TPU_V2", 4.50 / 8 },
	{ "TPU_V3", 8.00 / 8 },
	{ "TPU_V2_POD", 24.00 / 32 },
	{ "TPU_V3_POD", 32.00 / 32 },
	{ "TPU_V4_POD", 3.22 / 2 /* per chip */ },
};

static double machine_price(const char *name)
{
	struct machine machine;

	if (!name || !machine_find(name, &machine))
		return 0;
	for (size_t i = 0; i < sizeof(machine_prices) / sizeof(machine_prices[0]); i++)
		if (strncmp(name, machine_prices[i].beginning, strlen(machine_prices[i].beginning)) == 0)
			return machine.vcpus * machine_prices[i].vcpu +
			       machine.memory_mib / 1024.0 * machine_prices[i].gib;
	return 0;
}

double accelerator_ml_units_per_hour(const char *type, unsigned count)
{
	if (!type)
		return 0;
	for (size_t i = 0; i < sizeof(accelerator_prices) / sizeof(accelerator_prices[0]); i++)
		if (strcmp(accelerator_prices[i].type, type) == 0)
			return accelerator_prices[i].price * count / dollars_per_unit;
	return 0;
}

double plan_ml_units_per_hour(const struct plan *plan)
{
	double units = 0;

	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];
		double each = machine_price(pool->machine_type) / dollars_per_unit +
			      accelerator_ml_units_per_hour(pool->accelerator_type, pool->accelerator_count);

		units += pool->count * each;
	}
	return units;
}

double ml_units_consumed(double per_hour, int64_t us)
{
	double hundredths = per_hour * ((double)us / 3600e6) * 100;

	return us > 0 && per_hour > 0 ? (double)(int64_t)(hundredths + 0.5) / 100 : 0;
}
