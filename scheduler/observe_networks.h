/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe_networks.h: which job is on which network, from what the engine said of them. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

struct engine_event;
struct job_run;
struct scheduler;

/* What the engine last told of the pool of networks. A job leaves the queue for a pooled network or a free block alone: it
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
/* Removes the networks of a listing that no job is on, and forgets pooled ones that are not there. */
void networks_compare(struct scheduler *scheduler, const struct engine_event *listing);
/* A network was made, was not, or was removed. */
void network_update(struct scheduler *scheduler, const struct engine_event *event);
/* Asks whether there is a block that holds @replicas. The queue is stirred when that is known. */
void network_look(struct scheduler *scheduler, unsigned replicas);
/* @run was let in: it takes the pooled network that its assignment says, or one of the free blocks is its own. */
void network_enter(struct scheduler *scheduler, struct job_run *run);
void networks_reported(struct scheduler *scheduler, const struct engine_event *event);
/* Whether the queue waits for a network, as the jobs that were let in stand now: none is let in while one of those asks
 * for its own. */
void networks_resolve(struct scheduler *scheduler);
