/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/device_claims.h: GPUs that are this process's among all processes of the machine: two daemons of one engine, as
 * `exec` makes them, never lease the same one.
 *
 * Choice: a socket with an abstract name for each device, as instance_lock.h has for an instance: it is taken at once or not
 * at all, and goes with its process, however that ends. Processes in other network namespaces and on other machines are not
 * seen, and replicas of a daemon that was killed hold nothing until its next start.
 *
 * Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "store/jobs/leases.h"

struct device_claims;

struct device_claims *device_claims_new(void);
void device_claims_free(struct device_claims *claims);

/* The engine that has the devices from now on: host.engine; claims on another engine's are given up. "": not known, and every claim succeeds. */
void device_claims_set_engine(struct device_claims *claims, const char *engine);
/* False: another process has it. */
bool device_claims_take(struct device_claims *claims, const char *device);
/* Gives up those that none of @leases is of. */
void device_claims_keep(struct device_claims *claims, const struct lease *leases, size_t count);
/* Takes those of @leases, of jobs that were let in before this process began. One that another process has is logged. */
void device_claims_adopt(struct device_claims *claims, const struct lease *leases, size_t count);
