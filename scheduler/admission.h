/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/admission.h: which jobs of the queue are let in now, with what, and what the others are told that they wait for.
 * Pure: the queue's values in, decisions out. They are executed like any other (execute.h): the room, the GPUs and the network
 * of a job that is let in are taken once that is stored, so that nothing is to be given back where it is not. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decision;
struct job_entry;
struct job_run;
struct network_look;
struct reconciler;
struct room;
struct network_pool;

/* What is known beside the jobs themselves; all of it is borrowed. */
struct queue_view {
	/* The whole of a job that is in the store alone; NULL: it cannot be read now. */
	struct job_run *(*open)(void *arg, struct job_entry *entry);
	/* Makes a GPU this daemon's; false: another process of the machine has it (device_claims.h). NULL: there are no others. */
	bool (*claim)(void *arg, const char *device);
	void *arg;                           /* of both */
	const struct reconciler *reconciler; /* its settings */
	struct job_entry *const *queue;      /* in the order of their turn */
	size_t count;
	size_t logged; /* how many of the first have said why they wait, at least */
	const struct room *room;
	const json_t *project_vcpus; /* for each project what its jobs take of the room */
	const struct network_pool *pool;
	const struct network_look *look;
	bool networks_short; /* a job that was let in asks for its network, and there was no block for one */
	int64_t host_us;     /* monotonic: since when the host is as it is */
	int64_t wall_us, mono_us;
};

struct admission {
	struct decision *decisions; /* at most one of a job; each has its run */
	size_t count;
	size_t logged;     /* as above, before those decisions are stored */
	bool claims_short; /* a job waits, while another process has GPUs: to be looked at again */
	unsigned
		look_for; /* the engine is to be asked whether there is a block for so many addresses; 0: it is not */
};

struct admission admission_decide(const struct queue_view *view);
/* The decisions themselves are the caller's. */
void admission_deinit(struct admission *admission);
