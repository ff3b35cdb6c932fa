/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/devices.h: which GPUs of the host the replicas of a job get. Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct assignment;
struct capacity;
struct host;
struct plan;
struct room;

/* Whether the host has enough GPUs for the job, free or not, or the policy lets it run without.
 * Outcomes: FAILED_PRECONDITION: it never will have; the text is the service's quota error;
 *           RESOURCE_EXHAUSTED: the job waits for a host that has them (ACCELERATORS_WAIT). */
enum status devices_possible(const struct plan *plan, const struct capacity *capacity, struct error *err);

/* The use of one of a host's devices while jobs are placed. */
struct device_use {
	unsigned holders;
	bool exclusive;      /* a holder does not share it */
	unsigned last_taker; /* the replica of this job that took it last, counted from 1 */
};
DEFINE_AUTO(uses, struct device_use *, free)

/* The use of each device of the host, in the order of the host's list. The caller frees. */
struct device_use *device_uses(const struct room *room);

/* Sets the devices of @assignment, and adds deviations from the cloud. To be called only after devices_possible()
 * succeeded. @uses: of the host's devices; not changed. RESOURCE_EXHAUSTED: too few devices are free now. */
enum status devices_place(const struct plan *plan, const struct capacity *capacity,
			  const struct device_use *uses, struct assignment *assignment, struct error *err);

/* One job's devices on one host while they are chosen. */
struct device_choice {
	const struct host *host;
	struct device_use *uses;
	bool sharing;
	unsigned replica; /* from 1: the last one that was given devices */
	bool doubled;     /* a device has several holders */
};

/* How many devices are free or, with sharing, held by no replica that does not share. */
unsigned devices_open(const struct device_choice *choice);
/* Takes @count devices for the next replica, at most devices_open(). Returns their ids; the caller frees them. */
json_t *replica_devices(struct device_choice *choice, unsigned count);
