/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/device_claims.h: the GPUs that this process has claimed among all processes of the machine, so that two
 * daemons on one engine (`trainyard exec` starts such ones) never lease the same GPU.
 *
 * Choice: one abstract unix socket per device, as instance_lock.h has one per instance: a claim succeeds at once or
 * fails, and the kernel drops it when the process ends. Processes in other network namespaces and on other machines are
 * not detected, and the replicas of a daemon that was killed claim nothing until its next start.
 *
 * Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "store/jobs/leases.h"

struct device_claims;

struct device_claims *device_claims_new(void);
void device_claims_free(struct device_claims *claims);

/* Sets the engine that has the devices (host.engine); claims of devices of another engine are dropped. "": unknown, and
 * every claim succeeds. */
void device_claims_set_engine(struct device_claims *claims, const char *engine);
/* Claims a device. False: another process has claimed it. True: this process holds it, or that cannot be checked. */
bool device_claims_take(struct device_claims *claims, const char *device);
/* Drops the claims of devices that are in none of @leases. */
void device_claims_keep(struct device_claims *claims, const struct lease *leases, size_t count);
/* Claims the devices of @leases, which jobs hold that were admitted before this process started. A device that another
 * process has claimed is logged. */
void device_claims_adopt(struct device_claims *claims, const struct lease *leases, size_t count);
