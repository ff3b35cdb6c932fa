/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/network_pool.h: networks after their last job has left them, kept for the next job.
 *
 * Engines make and remove networks slowly, and one at a time. A network that a job leaves is therefore kept for a
 * moment, and a job that is admitted meanwhile takes it over, with a new gateway. A network keeps the name and the
 * labels of the job that it was made for. Each job's assignment stores the network that it uses and a turn; of several
 * jobs that name one network, the job with the highest turn uses it, and the others have left it. The pool itself is
 * only in memory: after a crash its networks have no job and are removed. A job leaves its network when none of its
 * programs runs or will run, so programs of two jobs never meet on one network.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/engine.h"

struct job_run;

enum { POOLED_NETWORKS_MAX = 32 };

struct pooled_network {
	struct network_status status;
	unsigned turn; /* turn of the job that left it */
	int64_t left_us;
};

struct network_pool {
	struct pooled_network items[POOLED_NETWORKS_MAX]; /* in the order in which jobs left them */
	size_t count;
	unsigned going;  /* networks to be removed, whether ordered already or not */
	int64_t *doomed; /* in the order in which they are removed: order_give.h */
	size_t doomed_count;
	int64_t look_at_us; /* monotonic: when to list networks that could not be removed; 0: there are none */
	int64_t look_pause_us; /* until the next such listing: twice as long after each failure in a row; 0: the shortest */
	int64_t keep_us;
	unsigned epoch; /* how often the engine's connection was lost or restored */
	bool closing;   /* no network is kept any more */
};

/* Puts the network of @run into the pool; if the pool is full, the oldest one is removed. A network that is still being
 * made is removed when it exists. The network of a job with a lost node is removed too, because containers on that node
 * may still be in it. */
void pooled_network_leave(struct network_pool *pool, struct job_run *run, int64_t now_us);
/* The smallest network for @address_count replicas, valid until the next change; NULL: there is none. */
const struct pooled_network *pooled_network_fit(const struct network_pool *pool, size_t address_count);
/* Takes the network out of the pool for a job. False: it is not in the pool. */
bool pooled_network_take(struct network_pool *pool, int64_t network, struct pooled_network *ret_taken);
/* Removes the networks that were kept long enough; if @start (jobs wait for the engine to start them), each is kept
 * somewhat longer. */
void network_pool_remove(struct network_pool *pool, bool start, int64_t now_us);
/* Whether a listing is due, to see which networks could not be removed. The caller then asks for it. */
bool network_pool_look(struct network_pool *pool, int64_t now_us);
/* Removes all pooled networks. False: none is in the pool or being removed, so no address can be gained. */
bool network_pool_release(struct network_pool *pool);
/* The time at which the next network is to be removed; INT64_MAX: never. */
int64_t network_pool_deadline_us(const struct network_pool *pool, bool start);
bool network_pool_has(const struct network_pool *pool, int64_t network);
/* Forgets pooled networks that are missing in a listing. */
void network_pool_compare(struct network_pool *pool, const struct network_status *listed, size_t count);
/* Whether no network is in the pool or being removed. */
bool network_pool_is_empty(const struct network_pool *pool);
/* To be called when the engine's connection is lost or restored: forgets all networks. */
void network_pool_forget(struct network_pool *pool);
/* Whether the job has left its network for good, and so must not leave it again. */
bool pooled_network_was_left(const struct network_pool *pool, const struct job_run *run);
/* Orders the removal of a network that no job uses. */
void pooled_network_remove(struct network_pool *pool, int64_t network);
/* To be called when a removal has ended, with success or without it. A network that stays is removed again when a later
 * listing shows it: after 1 s, and after up to 64 s if removals keep failing, as they do while a lost node has
 * containers in it. */
void pooled_network_removed(struct network_pool *pool);
void pooled_network_stays(struct network_pool *pool, int64_t now_us);
