/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe_networks.h: which job uses which network, by the engine's events. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

struct engine_event;
struct job_run;
struct node;

/* What the engine last said about free address blocks. A job leaves the queue only for a pooled network or a free
 * block, because it cannot return to the queue. Times are monotonic. */
struct network_look {
	bool asked;        /* an answer is awaited */
	bool lacks;        /* no block was free */
	unsigned replicas; /* how many replicas the block has to hold */
	unsigned free;     /* free blocks, minus the jobs that have left the queue since */
	int64_t until_us;  /* after this instant the answer is outdated */
	int64_t again_us;  /* when the queue asks again; 0: no job waits for a block */
};

/* Takes from a listing the networks of jobs that were not observed on the node yet. */
void networks_find(struct node *node, const struct engine_event *listing);
/* Removes listed networks that no job uses, and forgets pooled ones that are not listed. */
void networks_compare(struct node *node, const struct engine_event *listing);
/* Handles an event about a network: it was made, could not be made, or was removed. */
void network_update(struct node *node, const struct engine_event *event);
/* Asks the engine whether a block for @replicas is free. The queue is served again when it answers. */
void network_look(struct node *node, unsigned replicas);
/* Gives an admitted job the pooled network of its assignment, or one of the free blocks. */
void network_enter(struct job_run *run);
void networks_reported(struct node *node, const struct engine_event *event);
/* Updates whether the queue has to wait for a network. No job is admitted while an admitted one still asks for its
 * own. */
void networks_resolve(struct node *node);
