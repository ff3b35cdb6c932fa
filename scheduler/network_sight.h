/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/network_sight.h: which job is on which network, from what the engine said of them. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

struct engine_event;
struct job_run;
struct scheduler;

/* What the engine last told of the pool of networks. A job leaves the queue for a spare network or a free block alone: it
 * cannot go back. Times are monotonic. */
struct network_look {
	bool asked;        /* an answer is awaited */
	bool lacks;        /* there was no free block */
	unsigned replicas; /* that a block was to hold */
	unsigned free;     /* blocks that no job has left the queue for since */
	int64_t until_us;  /* after that the answer is too old */
	int64_t again_us;  /* when the queue asks again; 0: it does not wait */
};

/* What a listing shows of the networks that jobs are on of which nothing is certain yet. */
void networks_find(struct scheduler *scheduler, const struct engine_event *listing);
/* Removes the networks of a listing that no job is on, and forgets spare ones that are not there. */
void networks_compare(struct scheduler *scheduler, const struct engine_event *listing);
/* A network was made, was not, or was removed. */
void network_update(struct scheduler *scheduler, const struct engine_event *event);
/* Whether @run, which is about to leave the queue, can have a network. False: the answer is awaited, or the queue asks
 * again: it is stirred then. */
bool network_grant(struct scheduler *scheduler, const struct job_run *run, int64_t now_us);
/* Asks whether there is a block for @run, unless that is known or asked already. */
void network_look(struct scheduler *scheduler, const struct job_run *run, int64_t now_us);
void networks_told(struct scheduler *scheduler, const struct engine_event *event);
/* Whether the queue waits for a network, as the jobs that were let in stand now: none is let in while one of those asks
 * for its own. */
void networks_settle(struct scheduler *scheduler);
