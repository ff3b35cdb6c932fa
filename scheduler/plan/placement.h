/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/placement.h: whether a job may start now, on which GPUs and with which limits.
 *
 * Pure: takes values, returns values; the caller stores the result. It is stored in the same commit that admits the
 * job, so that a restart finds the same limits and the same devices. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/host.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/leases.h"

/* The service's message, with code 8, when it has no machines for a job; %s: the region.
 * Source: answers of the service, as quoted in issues of its clients */
#define STOCKOUT_SENTENCE                                                                                    \
	"Resources are insufficient in region: %s. Try a different region or use a different accelerator."

/* How the size of a machine type becomes the limits of a container. */
enum machine_fit {
	/* the cloud's size, but no container gets more than the host's CPUs and nine tenths of its memory; all
	 * containers together may get more than the host has, so that every job runs */
	FIT_HOST,
	FIT_CLOUD, /* the cloud's size; a job that is larger than the host is refused */
	FIT_NONE,  /* no limits, and resources are not counted */
};

/* How to treat a job that wants more GPUs than the host has. (A job that wants no more than that waits until they are
 * free, or with SHARE starts at once.) */
enum accelerator_policy {
	ACCELERATORS_PRETEND, /* it runs without any */
	ACCELERATORS_REQUIRE, /* it is refused with the service's quota error */
	ACCELERATORS_WAIT,    /* it stays queued */
	ACCELERATORS_SHARE,   /* each device serves several replicas; if the host has none, as REQUIRE */
};

struct device_use;
struct place_rules;

/* What jobs may use. */
struct capacity {
	struct host host;
	enum machine_fit fit;
	enum accelerator_policy accelerators;
	unsigned max_jobs, max_containers;
	/* Limits of all jobs together, in fitted sizes; 0: with FIT_CLOUD the host's size, otherwise none. With
	 * FIT_HOST a job that exceeds them by itself waits until no other job runs, and is counted with its own
	 * size. */
	unsigned max_vcpus;
	int64_t max_memory_bytes;          /* like max_vcpus */
	unsigned project_vcpus;            /* of all jobs of a project, in the cloud's sizes; 0: no limit */
	const char *node;                  /* the host's name, borrowed; not read without @placing */
	const char *said;                  /* subject and verb for texts about the host; NULL: "this host has" */
	const struct place_rules *placing; /* which nodes jobs may run on, borrowed; NULL: any */
	const json_t *labels; /* of a node that joined later, borrowed; NULL: the node's are in @placing */
};

/* The resources that the admitted jobs use. */
struct usage {
	unsigned jobs, containers;
	int64_t nano_cpus, memory_bytes; /* in fitted sizes */
	unsigned project_vcpus;          /* of the project in question, in the cloud's sizes */
	struct lease *leases;            /* the leases of all jobs */
	size_t lease_count;
};

enum { LACK_TEXT_SIZE = 320 };

struct room {
	struct capacity capacity;
	struct usage usage;
	/* Why no job can start now, independent of room: the engine is unreachable, or no address block is free for a
	 * network; "": jobs can start. */
	char engine_lack[LACK_TEXT_SIZE], network_lack[LACK_TEXT_SIZE];
};
void room_deinit(struct room *room);
#define AUTO_ROOM __attribute__((cleanup(room_deinit)))
/* No job can start there: the engine does not answer, and @text says why. */
void engine_lack_set(struct room *room, const char *text);

/* What a job waits for. */
enum shortage {
	SHORTAGE_NONE,
	SHORTAGE_ROOM,    /* jobs, containers, CPUs or memory: all later jobs wait too */
	SHORTAGE_DEVICES, /* GPUs in use by others: later jobs that need GPUs wait too */
	SHORTAGE_PROJECT, /* its project's own limit: later jobs of the project wait too */
	SHORTAGE_HOST,    /* GPUs that the host does not have: later jobs do not wait for it */
	SHORTAGE_ENGINE,  /* the container engine: all jobs wait */
	SHORTAGE_NETWORK, /* an address block for its network: all later jobs wait too */
};
enum { SHORTAGE_KINDS = SHORTAGE_NETWORK + 1 };

/* Finds room for every replica of @plan at once, or for none. The replicas get devices in the order of their
 * ordinals. Free devices are taken first, in the order of the host's list; of shared ones those with the fewest holders.
 * Replicas of one job never hold the same device, except with ACCELERATORS_SHARE. With that policy every lease is
 * shared, even if the device has no other holder yet. TPUs are neither counted nor attached.
 *
 * Outcomes: RESOURCE_EXHAUSTED: too little is free now, or the job waits for another host (no failure);
 *           FAILED_PRECONDITION: this host can never run it; the text is for the client;
 *           UNAVAILABLE: the host is not known yet, and nothing else forbids the job.
 * @uses  of the host's devices (device_uses())
 * @ret_shortage  always set. For the first two outcomes: what is short (of several shortages the one that makes
 *                the fewest other jobs wait); SHORTAGE_HOST: GPUs. Otherwise SHORTAGE_NONE. */
enum status placement_find(const struct plan *plan, const struct room *room, const struct device_use *uses,
			   struct assignment **ret_assignment, enum shortage *ret_shortage,
			   struct error *err);

/* Places a job where there are several hosts. */
struct placer {
	/* Sets the limits of @assignment as large as they can become. */
	void (*fit)(void *arg, const struct plan *plan, struct assignment *assignment);
	/* Sets limits and devices, and adds deviations. Outcomes and shortage as in placement_find(). */
	enum status (*place)(void *arg, const struct plan *plan, struct assignment *assignment,
			     enum shortage *ret_shortage, struct error *err);
	void *arg;
};

/* As placement_find(), by @placer. The host of @room stands for all hosts together, and has no names of devices. */
enum status placement_find_by(const struct placer *placer, const struct plan *plan, const struct room *room,
			      struct assignment **ret_assignment, enum shortage *ret_shortage,
			      struct error *err);

/* Whether a job with that many accelerators waits for GPUs instead of running without: such a job must not overtake
 * other jobs that wait for GPUs. */
bool placement_wants_devices(unsigned accelerators, const struct capacity *capacity);
/* Adds the resources of a job: jobs, containers, and the limits in @assignment (NULL: none). The caller adds the
 * leases, and the project's vCPUs if the job is of the project in question. */
void plan_usage_add(const struct plan *plan, const struct assignment *assignment, struct usage *usage);
/* The vCPUs that the plan's machine types have in the cloud; a machine type of unknown size counts 0. */
unsigned plan_vcpus(const struct plan *plan);
