/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/assignment.h: the resources that an admitted job was given: limits and GPUs. placement.h decides them;
 * they are stored with the job. Pure. Thread: any, one at a time. */
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
	/* half of the memory limit (without a limit, of the host's memory), as on a Linux machine; at least 64 MiB. It
	 * is a limit and reserves nothing. With the engine's default of 64 MiB data loaders fail. */
	int64_t shm_bytes;
};

struct assignment {
	struct limits limits[ROLE_COUNT];
	/* Per pool: an array with one array of device ids per replica; NULL: no devices. */
	json_t *devices[ROLE_COUNT];
	bool shared; /* the devices are shared */
	char *node;  /* the machine that the job's network is on; NULL: the first one, of --engine */
	/* Per pool: an array with the name of each replica's machine, "" for the first one; NULL: all are on @node. */
	json_t *nodes[ROLE_COUNT];
	/* A node of the assignment was lost, and the job waits for another assignment. The leases are returned. */
	bool is_given_up;
	char *placed; /* sentences: which nodes the replicas are on, and why not on others; NULL: there is one node */
	/* For a network taken over from another job: the job that made the network, and how often the network was taken
	 * over so far (network_pool.h). 0: the job has a network of its own; of a job that was admitted again:
	 * job_network_of_attempt(). */
	int64_t network;
	unsigned network_turn;
	/* Deviations (deviation.h) that the assignment causes: fitted sizes, pretended or shared GPUs. Fields are named
	 * as in the plan ("pools.worker.machine_type", "pools.worker.accelerator_count"); each API family translates
	 * them. */
	json_t *deviations;
};

struct assignment *assignment_new(void);
void assignment_free(struct assignment *assignment);
DEFINE_AUTO(assignment, struct assignment *, assignment_free)
/* Text for the store, and back; INTERNAL: the text is not an assignment. */
char *assignment_to_text(const struct assignment *assignment);
enum status assignment_from_text(const char *text, struct assignment **ret_assignment, struct error *err);
/* The device ids of one replica: array of strings, borrowed; NULL: none. */
const json_t *assignment_devices(const struct assignment *assignment, enum role role, unsigned index);
/* The name of one replica's machine; NULL: the first one. */
const char *assignment_node(const struct assignment *assignment, enum role role, unsigned index);
/* The assigned devices as leases of @job; the caller frees the array and its texts (leases_free). NULL: the job has no
 * devices. */
struct lease *assignment_leases(const struct assignment *assignment, int64_t job, size_t *ret_count);
