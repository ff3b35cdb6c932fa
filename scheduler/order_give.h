/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/order_give.h: orders go out. Nothing else in the scheduler calls the engine: a job's orders are given by execute.c
 * once what they follow from is stored, those of no single job at the end of the turn in which they were wanted. A daemon that
 * dies before has asked for nothing: the first listing of the next one shows what is still to be done.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_run;
struct order;
struct replica_key;
struct scheduler;

/* Of no single job. Spare networks that are to go are in struct network_pool. */
struct common_orders {
	int64_t list_at_us; /* monotonic: when the engine is to send a listing; 0: it is not */
	bool looks;         /* it is to say whether there is a block for a network: struct network_look */
	bool resumes_logs;  /* the store has room for lines again */
	struct replica_key *orphans; /* containers of no job: to be removed */
	size_t orphan_count;
};

/* @gcs: where replicas that are made find Cloud Storage as files; NULL: nowhere. */
void order_give_out(struct scheduler *scheduler, struct job_run *run, const struct order *order,
		    const char *gcs);
/* At @at_us (monotonic) at the latest. */
void listing_want(struct scheduler *scheduler, int64_t at_us);
void orphan_remove(struct scheduler *scheduler, const struct replica_key *key);
/* Gives the common ones that are due. */
void common_orders_give(struct scheduler *scheduler);
