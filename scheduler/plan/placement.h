/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/placement.h: whether a job may start now, on which GPUs and within which limits.
 *
 * Pure: takes values, returns values; the caller writes down what was decided. What is decided is stored with
 * the job in the same commit that lets it in, so that a restart finds the same limits and the same devices. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/host.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/leases.h"

/* What the service says, with code 8, when it has no machines for a job; %s: the region.
 * Source: answers of the service, as issues of its clients quote them */
#define STOCKOUT_SENTENCE                                                                                    \
	"Resources are insufficient in region: %s. Try a different region or use a different accelerator."

/* How the size of a machine type becomes the limits of a container. */
enum machine_fit {
	FIT_HOST, /* the cloud's size, but no container gets more than the host's CPUs and nine tenths of its memory;
		    * all containers together may have more than there is, so that every job runs */
	FIT_CLOUD, /* the cloud's size; a job that the host cannot hold whole is refused */
	FIT_NONE,  /* no limits, and nothing is counted */
};

/* What to do with a job that wants more GPUs than the host has. (One that wants no more than there are waits
 * for its turn, and with SHARE for nothing.) */
enum accelerator_policy {
	ACCELERATORS_PRETEND, /* it runs without any */
	ACCELERATORS_REQUIRE, /* it is refused in the words of the service's quota */
	ACCELERATORS_WAIT,    /* it stays queued */
	ACCELERATORS_SHARE,   /* each device serves several replicas; without any device as REQUIRE */
};

/* What may be used at all. */
struct capacity {
	struct host host;
	enum machine_fit fit;
	enum accelerator_policy accelerators;
	unsigned max_jobs, max_containers;
	/* Of all jobs together, in fitted sizes; 0: FIT_CLOUD the host's, else no limit. With FIT_HOST a job that
	 * is larger by itself waits until it is alone, and counts as what it takes. */
	unsigned max_vcpus;
	int64_t max_memory_bytes; /* likewise */
	unsigned project_vcpus;   /* of all jobs of a project, in the cloud's sizes; 0: no limit */
};

/* What is used by the jobs that have been let in. */
struct usage {
	unsigned jobs, containers;
	int64_t nano_cpus, memory_bytes; /* in fitted sizes */
	unsigned project_vcpus;          /* of the project in question, in the cloud's sizes */
	struct lease *leases;            /* of all jobs */
	size_t lease_count;
};

enum { LACK_TEXT_SIZE = 320 };

struct room {
	struct capacity capacity;
	struct usage usage;
	/* Why nothing starts now whatever room there is: the engine is away, no block is free for a network; "": it may. */
	char engine_lack[LACK_TEXT_SIZE], network_lack[LACK_TEXT_SIZE];
};
void room_deinit(struct room *room);
#define AUTO_ROOM __attribute__((cleanup(room_deinit)))

/* What stands in a job's way. */
enum shortage {
	SHORTAGE_NONE,
	SHORTAGE_ROOM,    /* jobs, containers, CPUs or memory: all that come later wait too */
	SHORTAGE_DEVICES, /* GPUs that others hold: later jobs that want some wait too */
	SHORTAGE_PROJECT, /* the project's own limit: later jobs of the project wait too */
	SHORTAGE_HOST,    /* GPUs that the host has not: nobody waits for it */
	SHORTAGE_ENGINE,  /* the container engine: all wait */
	SHORTAGE_NETWORK, /* a block of addresses for its network: all that come later wait too */
};
enum { SHORTAGE_KINDS = SHORTAGE_NETWORK + 1 };

/* Finds room for every replica of @plan at once, or for none. Devices go in the order of the host's list, the
 * free ones first, replicas in the order of their ordinals; of shared ones those with the fewest holders.
 * Replicas of one job never hold the same device but with ACCELERATORS_SHARE. With that policy every lease is a
 * shared one, also of a device that has no other holder yet. TPUs are neither counted nor attached.
 *
 * Outcomes: RESOURCE_EXHAUSTED: too little is free now, or the job waits for another host (no failure);
 *           FAILED_PRECONDITION: this host can never run it, in words for the client;
 *           UNAVAILABLE: the host is not known yet, and nothing else forbids the job.
 * @ret_shortage  always set: of the first two outcomes what is short (of several the one for which the fewest
 *                other jobs wait), so SHORTAGE_HOST tells GPUs from all else; SHORTAGE_NONE else. */
enum status placement_find(const struct plan *plan, const struct room *room,
			   struct assignment **ret_assignment, enum shortage *ret_shortage,
			   struct error *err);

/* Whether a job of that many accelerators gets GPUs when its turn comes, rather than does without: then it does not overtake
 * jobs that wait for some. */
bool placement_wants_devices(unsigned accelerators, const struct capacity *capacity);
/* Adds what a job takes of the room: jobs, containers, and the limits in @assignment (NULL: none). The caller
 * adds the project's vCPUs for jobs of the project in question, and the leases. */
void plan_usage_add(const struct plan *plan, const struct assignment *assignment, struct usage *usage);
/* In the cloud's sizes; a machine type of unknown size counts 0. */
unsigned plan_vcpus(const struct plan *plan);
