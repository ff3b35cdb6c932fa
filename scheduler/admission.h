/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/admission.h: decides which queued jobs start now and with which resources, and what the log of each other
 * job says about its wait. Pure: takes the values of the queue, returns decisions. They are executed like all others
 * (execute.h). The room, the GPUs and the network of an admitted job are taken only after its decision is stored, so a
 * decision that cannot be stored leaves nothing to give back. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/device_claims.h"

struct decision;
struct job_entry;
struct job_run;
struct network_look;
struct reconciler;
struct room;
struct network_pool;

/* One machine. */
struct node_view {
	const char *name;
	const struct room *room;
	const struct network_pool *pool;
	const struct network_look *look;
	bool networks_short; /* an admitted job has asked for its network, and no address block was free */
	/* Why no job can start on the node now (its engine does not answer); NULL: jobs can start */
	const char *engine_lack;
	const char *claims_lack; /* why the engine's GPUs cannot be claimed; NULL: they can */
};

/* The input beside the jobs themselves; all of it is borrowed. */
struct queue_view {
	/* Reads a job that so far is only in the store; NULL: it cannot be read now. */
	struct job_run *(*open)(void *arg, struct job_entry *entry);
	/* Claims a GPU of a node for this daemon. NULL: no other instance is considered. */
	enum claim (*claim)(void *arg, size_t node, const char *device);
	void *arg;                           /* the first argument of open() and claim() */
	const struct reconciler *reconciler; /* its settings */
	struct job_entry *const *queue;      /* in the order in which the jobs are to start */
	size_t count;
	/* number of jobs at the front of the queue that have certainly logged why they wait */
	size_t logged;
	const struct node_view *nodes;
	size_t node_count;
	bool span;                   /* as rooms.span */
	const json_t *project_vcpus; /* per project: the vCPUs that its running jobs take */
	int64_t host_us;             /* monotonic: since when the hosts have had their present resources */
	int64_t wall_us, mono_us;
};

struct admission {
	struct decision *decisions; /* at most one decision per job; each has its run */
	size_t count;
	size_t logged; /* as in struct queue_view; counts no log lines of @decisions, which are not stored yet */
	bool claims_short; /* a job waits because another instance has GPUs: look again later */
	/* Per node: ask its engine whether an address block for this number of replicas is free; 0: do not ask */
	unsigned *look_for;
};

struct admission admission_decide(const struct queue_view *view);
/* Does not free the decisions: they belong to the caller. */
void admission_deinit(struct admission *admission);
