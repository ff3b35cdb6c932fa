/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/devices.h: which GPUs of the host the replicas of a job get. Pure. Thread: any. */
#include "daemon/base/error.h"

struct assignment;
struct capacity;
struct plan;
struct room;

/* Whether the host has enough GPUs for the job, free or not, or the policy lets it run without.
 * Outcomes: FAILED_PRECONDITION: it never will have; the text is the service's quota error;
 *           RESOURCE_EXHAUSTED: the job waits for a host that has them (ACCELERATORS_WAIT). */
enum status devices_possible(const struct plan *plan, const struct capacity *capacity, struct error *err);

/* Sets the devices of @assignment, and adds deviations from the cloud. To be called only if devices_possible().
 * RESOURCE_EXHAUSTED: too few are free now. */
enum status devices_place(const struct plan *plan, const struct room *room, struct assignment *assignment,
			  struct error *err);
