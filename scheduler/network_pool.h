/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/network_pool.h: networks that the last job has left, for the next one to take.
 *
 * Engines make and remove networks one after the other, and slowly: what a job leaves is kept for a moment, and a job
 * that is let in meanwhile takes it over, with a gateway of its own. A network keeps the name and the labels of the job
 * that it was made for; which job is on it is stored with that job (struct assignment), counted in turns: of several
 * that name a network the one with the highest turn is on it, the others have left it. What is pooled is kept in memory
 * only: after a crash it is a network without a job, and goes.
 * A network is left when no program of the job runs any more and none will, so nobody is met on it.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/engine.h"

struct job_run;

enum { POOLED_NETWORKS_MAX = 32 };

struct pooled_network {
	struct network_status status;
	unsigned turn; /* of the job that left it */
	int64_t left_us;
};

struct network_pool {
	struct pooled_network items[POOLED_NETWORKS_MAX]; /* in the order in which they were left */
	size_t count;
	unsigned going;  /* removals that were asked for, or are to be: */
	int64_t *doomed; /* in the order in which they are removed: order_give.h */
	size_t doomed_count;
	int64_t look_at_us; /* monotonic: when to look for what could not be removed; 0: there is nothing */
	int64_t keep_us;
	unsigned epoch; /* how often the engine went or came */
	bool closing;   /* none is kept */
};

/* What @run is on becomes pooled; without room the oldest goes. One that is still being made goes when it is there. */
void pooled_network_leave(struct network_pool *pool, struct job_run *run, int64_t now_us);
/* The smallest that holds so many replicas; NULL: none does. Until the next change. */
const struct pooled_network *pooled_network_fit(const struct network_pool *pool, size_t address_count);
/* A job is on it now. False: it is not there. */
bool pooled_network_take(struct network_pool *pool, int64_t network, struct pooled_network *ret_taken);
/* Removes the networks that were kept long enough; while jobs @start and wait for the engine, they are kept somewhat longer. */
void network_pool_remove(struct network_pool *pool, bool start, int64_t now_us);
/* Whether there is to be a listing for what could not be removed: it is asked for then. */
bool network_pool_look(struct network_pool *pool, int64_t now_us);
/* Removes all. False when none is pooled, nor on its way out: there is no address to be won. */
bool network_pool_release(struct network_pool *pool);
/* When one is to be removed; INT64_MAX: never. */
int64_t network_pool_deadline_us(const struct network_pool *pool, bool start);
bool network_pool_has(const struct network_pool *pool, int64_t network);
/* Those that are not in a listing are no more. */
void network_pool_compare(struct network_pool *pool, const struct network_status *listed, size_t count);
/* Neither is one pooled nor on its way out. */
bool network_pool_is_empty(const struct network_pool *pool);
/* The engine went or came: nothing is known of any. */
void network_pool_forget(struct network_pool *pool);
/* Whether the job is off its network for good: it must not leave it once more. */
bool pooled_network_was_left(const struct network_pool *pool, const struct job_run *run);
/* One that no job is on is to go. */
void pooled_network_remove(struct network_pool *pool, int64_t network);
/* A removal has ended, well or not: then there is a listing soon, and what it shows is tried again. */
void pooled_network_removed(struct network_pool *pool);
void pooled_network_stays(struct network_pool *pool, int64_t now_us);
