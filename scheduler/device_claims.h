/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/device_claims.h: the GPUs of one node that this daemon has claimed among all instances of the node's engine
 * (engine_ops.claim_devices), so that two daemons never lease the same GPU. A job is admitted, and its containers are made
 * and started, only with claimed GPUs.
 *
 * Each change makes a new order with all wanted GPUs. Only the answer to the last order counts. Pure, except for memory.
 * Thread: one at a time. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/jobs/leases.h"

struct device_claims;

enum claim {
	CLAIM_OURS,
	CLAIM_ASKED,   /* the engine has not answered yet */
	CLAIM_REFUSED, /* another instance has it */
	CLAIM_FAILED,  /* asked for, but the last order failed */
};

struct device_claims *device_claims_new(void);
void device_claims_free(struct device_claims *claims);

/* To be called before a walk along the queue: GPUs that no job of the walk wants, and that are not leased, are dropped by
 * the next device_claims_keep(). */
void device_claims_begin_walk(struct device_claims *claims);
/* Claims a GPU for a job of the walk. */
enum claim device_claims_take(struct device_claims *claims, const char *device);
/* Claims the GPUs of exclusive @leases, and drops those that are neither leased nor wanted. */
void device_claims_keep(struct device_claims *claims, const struct lease *leases, size_t count);
/* Whether this daemon has the GPU now. */
bool device_claims_have(const struct device_claims *claims, const char *device);
/* Whether another instance has a leased GPU. */
bool device_claims_are_short(const struct device_claims *claims);
/* Makes every claim uncertain: each has to be ordered again. */
void device_claims_forget(struct device_claims *claims);
/* Asks again for the GPUs that another instance had, and if the last order failed. */
void device_claims_retry(struct device_claims *claims);

/* Returns the order to give now, an array of ids that the caller frees; NULL: the last order is still valid. */
json_t *device_claims_order(struct device_claims *claims, unsigned *ret_number);
/* Call when the order has failed: it is then uncertain which GPUs this daemon has, and dropped claims may still exist.
 * Has no effect, and returns false, if a newer order was made. Otherwise returns whether the failure is new: the last
 * order did not fail with the same @text. */
bool device_claims_fail(struct device_claims *claims, unsigned number, const char *text);
/* Why the last answered order failed; NULL: it did not. Valid until the next answer. */
const char *device_claims_failure(const struct device_claims *claims);
/* Takes the answer to an order: @refused (NULL: none) are GPUs of other instances. False: a newer order was made.
 * *ret_leased: true if a GPU that a job of ours leases is refused, and this was not logged yet. */
bool device_claims_answer(struct device_claims *claims, unsigned number, const json_t *refused, bool *ret_leased);
