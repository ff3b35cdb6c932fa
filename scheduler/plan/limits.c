/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/limits.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/plan/deviation.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/machine.h"
#include "scheduler/plan/placement.h"

#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)

/* The least size of /dev/shm, even on a host with little memory: the engine's own default. */
#define SHM_BYTES_MIN (64 * MIB)

const char *gib_text(int64_t bytes, char ret_text[GIB_TEXT_SIZE])
{
	int length = snprintf(ret_text, GIB_TEXT_SIZE, "%.1f", (double)bytes / (double)GIB);

	if (length > 2 && strcmp(&ret_text[length - 2], ".0") == 0)
		ret_text[length - 2] = '\0';
	return ret_text;
}

static int64_t shm_of(int64_t memory_bytes)
{
	return memory_bytes / 2 > SHM_BYTES_MIN ? memory_bytes / 2 : SHM_BYTES_MIN;
}

/* Returns the value, but at most @bound; 0: no bound. */
static int64_t bounded(int64_t value, int64_t bound)
{
	return bound > 0 && bound < value ? bound : value;
}

/* Writes the path of the field in the plan; each API family translates it to its own spelling. */
static const char *field_text(enum role role, char ret_text[64])
{
	snprintf(ret_text, 64, "pools.%s.machine_type", role_name(role));
	return ret_text;
}

/* The pools with the same machine type as @role's, a bit each. A deviation is reported once for all of them. */
static unsigned roles_alike(const struct plan *plan, enum role role)
{
	const char *type = plan->pools[role].machine_type;
	unsigned roles = 0;

	for (int other = 0; other < ROLE_COUNT; other++)
		if (plan->pools[other].count && plan->pools[other].machine_type &&
		    strcmp(plan->pools[other].machine_type, type) == 0)
			roles |= 1U << other;
	return roles;
}

static void fitted_add(json_t *deviations, const struct plan *plan, enum role role,
		       const struct machine *machine, const struct limits *limits)
{
	const unsigned roles = roles_alike(plan, role);
	char field[64], pools[POOLS_TEXT_SIZE], memory[GIB_TEXT_SIZE], cloud_memory[GIB_TEXT_SIZE];
	unsigned vcpus = (unsigned)(limits->nano_cpus / NANO_PER_CPU);

	if (roles & ((1U << role) - 1))
		return;
	deviation_add(deviations, DONE_OTHERWISE, "machine-fitted", field_text(role, field),
		      "%s ha%s %u vCPU%s and %s GiB of memory at most here; %s has %u and %s.",
		      pools_text(plan, roles, pools), roles == 1U << role ? "s" : "ve", vcpus,
		      vcpus == 1 ? "" : "s", gib_text(limits->memory_bytes, memory),
		      plan->pools[role].machine_type, machine->vcpus,
		      gib_text(machine->memory_mib * MIB, cloud_memory));
}

static void unknown_add(json_t *deviations, const struct plan *plan, enum role role)
{
	const unsigned roles = roles_alike(plan, role);
	char field[64], pools[POOLS_TEXT_SIZE];

	if (roles & ((1U << role) - 1))
		return;
	deviation_add(deviations, DONE_OTHERWISE, "machine-unknown", field_text(role, field),
		      "%s run%s without limits: the size of %s is not known.", pools_text(plan, roles, pools),
		      roles == 1U << role ? "s" : "", plan->pools[role].machine_type);
}

static void pool_fit(const struct plan *plan, enum role role, const struct capacity *capacity,
		     struct assignment *assignment)
{
	const struct pool *pool = &plan->pools[role];
	struct limits *limits = &assignment->limits[role];
	struct machine machine;
	int64_t nano_cpus, memory_bytes;

	limits->shm_bytes = shm_of(capacity->host.memory_bytes);
	if (capacity->fit == FIT_NONE || !pool->machine_type)
		return;
	if (!machine_find(pool->machine_type, &machine) || !machine.vcpus || !machine.memory_mib) {
		unknown_add(assignment->deviations, plan, role);
		return;
	}
	nano_cpus = machine.vcpus * NANO_PER_CPU;
	memory_bytes = machine.memory_mib * MIB;
	*limits = (struct limits){ .nano_cpus = nano_cpus, .memory_bytes = memory_bytes };
	if (capacity->fit == FIT_HOST) {
		limits->nano_cpus = bounded(nano_cpus, capacity->host.cpus * NANO_PER_CPU);
		limits->memory_bytes = bounded(memory_bytes, capacity->host.memory_bytes / 10 * 9);
	}
	limits->shm_bytes = shm_of(limits->memory_bytes);
	if (limits->nano_cpus != nano_cpus || limits->memory_bytes != memory_bytes)
		fitted_add(assignment->deviations, plan, role, &machine, limits);
}

void limits_fit(const struct plan *plan, const struct capacity *capacity, struct assignment *assignment)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		if (plan->pools[role].count)
			pool_fit(plan, (enum role)role, capacity, assignment);
	if (capacity->fit == FIT_NONE)
		deviation_add(
			assignment->deviations, DONE_OTHERWISE, "machine-unlimited", NULL,
			"Machine types set no limits here: each replica may use all %u CPUs of the host.",
			capacity->host.cpus);
}
