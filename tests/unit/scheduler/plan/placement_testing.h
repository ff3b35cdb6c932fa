/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/plan/placement_testing.h: short functions that make plans and rooms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/devices.h"
#include "scheduler/plan/placement.h"
#include "tests/unit/scheduler/plan/plan_testing.h"

#define GIB ((int64_t)1 << 30)
#define CPU INT64_C(1000000000)

#define K80    "NVIDIA_TESLA_K80"
#define V100   "NVIDIA_TESLA_V100"
#define TPU_V2 "TPU_V2"

static inline struct plan *test_plan_new(void)
{
	return plan_named("p", "j");
}

/* @machine and @accelerator may be NULL. */
static inline void test_pool_set(struct plan *plan, enum role role, unsigned count, const char *machine,
				 const char *accelerator, unsigned accelerator_count)
{
	plan->pools[role] = (struct pool){ .count = count,
					   .image = strdup("i"),
					   .machine_type = machine ? strdup(machine) : NULL,
					   .accelerator_type = accelerator ? strdup(accelerator) : NULL,
					   .accelerator_count = accelerator_count };
}

/* A host with the devices "0", "1" … and high limits. */
static inline struct room test_room(unsigned cpus, int64_t memory_bytes, unsigned device_count)
{
	struct room room = { .capacity = { .host = { .known = true,
						     .cpus = cpus,
						     .memory_bytes = memory_bytes,
						     .device_count = device_count },
					   .max_jobs = 1000,
					   .max_containers = 4000000 } };
	struct host *host = &room.capacity.host;

	host->devices = device_count ? calloc(device_count, sizeof(*host->devices)) : NULL;
	for (unsigned i = 0; i < device_count; i++)
		if (asprintf(&host->devices[i], "%u", i) < 0)
			abort();
	return room;
}

static inline enum status test_place(const struct plan *plan, const struct room *room,
				     struct assignment **ret_assignment, enum shortage *ret_shortage,
				     struct error *err)
{
	AUTO(uses) struct device_use *uses = device_uses(room);

	return placement_find(plan, room, uses, ret_assignment, ret_shortage, err);
}

static inline void test_lease_add(struct room *room, int64_t job, const char *device, bool shared)
{
	struct usage *usage = &room->usage;

	usage->leases = realloc(usage->leases, (usage->lease_count + 1) * sizeof(*usage->leases));
	usage->leases[usage->lease_count++] =
		(struct lease){ .job = job, .device = strdup(device), .shared = shared };
}

/* The deviation with this code, or NULL. Borrowed. */
static inline const json_t *test_deviation(const json_t *list, const char *code)
{
	size_t index;
	const json_t *deviation;

	json_array_foreach((json_t *)list, index, deviation) {
		if (strcmp(json_text_at(deviation, "code"), code) == 0)
			return deviation;
	}
	return NULL;
}
