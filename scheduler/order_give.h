/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/order_give.h: gives orders to the engine. Nothing else in the scheduler calls the engine. execute.c gives a
 * job's orders once the change that they follow from is stored; orders that concern no single job are given at the end
 * of the turn. If the daemon dies before, the first listing after its restart shows what is still to be done.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_run;
struct node;
struct order;
struct replica_key;
struct scheduler;

/* Orders to an engine that concern no single job. The removals of pooled networks are in struct network_pool. */
struct common_orders {
	int64_t list_at_us; /* monotonic: when the engine is to send a listing; 0: it is not needed */
	bool looks;         /* ask whether a block for a network is free: struct network_look */
	bool resumes_logs;  /* the store has room for log lines again */
	struct replica_key *orphans; /* containers that belong to no job: to be removed */
	size_t orphan_count;
};

void order_give_out(struct scheduler *scheduler, struct job_run *run, const struct order *order);
/* Asks for a listing at @at_us (monotonic) or earlier. */
void listing_want(struct node *node, int64_t at_us);
void orphan_remove(struct node *node, const struct replica_key *key);
/* Gives the orders of common_orders that are due. */
void common_orders_give(struct node *node);
