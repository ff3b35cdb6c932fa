/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/assignment.h: what a job was let in with: limits and GPUs. placement.h decides it; it is stored with
 * the job. Pure. Thread: any, one at a time. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/leases.h"

#define NANO_PER_CPU INT64_C(1000000000)

/* The limits of each container of a pool; 0: none. */
struct limits {
	int64_t nano_cpus, memory_bytes;
	int64_t shm_bytes; /* half of the memory (of the host's without a limit), as on a Linux machine; at least
			    * 64 MiB. A limit, no reservation: the engine's own 64 MiB starve data loaders. */
};

struct assignment {
	struct limits limits[ROLE_COUNT];
	/* For each pool an array with one array of device ids a replica; NULL: nothing is attached. */
	json_t *devices[ROLE_COUNT];
	bool shared; /* the devices are */
	/* The job that the network was made for which it took over, and the how-manieth to do so it is; 0: its network is
	 * its own. network_pool.h */
	int64_t network;
	unsigned network_turn;
	/* deviation.h: fitted sizes, pretended or shared GPUs. A field is told in the plan's words
	 * ("pools.worker.machine_type", "pools.worker.accelerator_count"); each API family knows its own. */
	json_t *deviations;
};

struct assignment *assignment_new(void);
void assignment_free(struct assignment *assignment);
DEFINE_AUTO(assignment, struct assignment *, assignment_free)
/* Text for the store, and back; INTERNAL when it is not one. */
char *assignment_to_text(const struct assignment *assignment);
enum status assignment_from_text(const char *text, struct assignment **ret_assignment, struct error *err);
/* The ids of one replica: array of strings, borrowed; NULL: none. */
const json_t *assignment_devices(const struct assignment *assignment, enum role role, unsigned index);
/* As leases of @job; the array and its texts are the caller's (leases_free). NULL without any. */
struct lease *assignment_leases(const struct assignment *assignment, int64_t job, size_t *ret_count);
