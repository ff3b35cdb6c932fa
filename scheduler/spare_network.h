/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/spare_network.h: networks that the last job has left, for the next one to take.
 *
 * Engines make and remove networks one after the other, and slowly: what a job leaves is kept for a moment, and a job
 * that is let in meanwhile takes it over, with a gateway of its own. A network keeps the name and the labels of the job
 * that it was made for; which job is on it is stored with that job (struct assignment), counted in turns: of several
 * that name a network the one with the highest turn is on it, the others have left it. What is spare is kept in memory
 * only: after a crash it is a network without a job, and goes.
 * A network is left when no program of the job runs any more and none will, so nobody is met on it.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/engine.h"

struct job_run;

enum { SPARE_NETWORKS_MAX = 32 };

struct spare_network {
	struct network_status status;
	unsigned turn; /* of the job that left it */
	int64_t left_us;
};

struct spare_networks {
	struct spare_network items[SPARE_NETWORKS_MAX]; /* in the order in which they were left */
	size_t count;
	unsigned going;  /* removals that were asked for, or are to be: */
	int64_t *doomed; /* in the order in which they are removed: order_give.h */
	size_t doomed_count;
	int64_t look_at_us; /* monotonic: when to look for what could not be removed; 0: there is nothing */
	int64_t keep_us;
	unsigned epoch; /* how often the engine went or came */
	bool closing;   /* none is kept */
};

/* What @run is on becomes spare; without room the oldest goes. One that is still being made goes when it is there. */
void spare_network_leave(struct spare_networks *spares, struct job_run *run, int64_t now_us);
/* The smallest that holds so many replicas; NULL: none does. Until the next change. */
const struct spare_network *spare_network_fit(const struct spare_networks *spares, size_t address_count);
/* A job is on it now. False: it is not there. */
bool spare_network_take(struct spare_networks *spares, int64_t network, struct spare_network *ret_taken);
/* Removes the networks that were kept long enough; while jobs @start and wait for the engine, they are kept somewhat longer. */
void spare_networks_remove(struct spare_networks *spares, bool start, int64_t now_us);
/* Whether there is to be a listing for what could not be removed: it is asked for then. */
bool spare_networks_look(struct spare_networks *spares, int64_t now_us);
/* Removes all. False when none is spare, nor on its way out: there is no address to be won. */
bool spare_networks_release(struct spare_networks *spares);
/* When one is to be removed; INT64_MAX: never. */
int64_t spare_networks_deadline_us(const struct spare_networks *spares, bool start);
bool spare_networks_have(const struct spare_networks *spares, int64_t network);
/* Those that are not in a listing are no more. */
void spare_networks_compare(struct spare_networks *spares, const struct network_status *listed, size_t count);
/* Neither is one spare nor on its way out. */
bool spare_networks_are_gone(const struct spare_networks *spares);
/* The engine went or came: nothing is known of any. */
void spare_networks_forget(struct spare_networks *spares);
/* Whether the job is off its network for good: it must not leave it once more. */
bool spare_network_was_left(const struct spare_networks *spares, const struct job_run *run);
/* One that no job is on is to go. */
void spare_network_remove(struct spare_networks *spares, int64_t network);
/* A removal has ended, well or not: then there is a listing soon, and what it shows is tried again. */
void spare_network_removed(struct spare_networks *spares);
void spare_network_stays(struct spare_networks *spares, int64_t now_us);
