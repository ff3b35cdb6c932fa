/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/room.h: the resources of each machine and how much of them is used. Thread: the scheduler's, unless it says
 * otherwise. */
#include "daemon/base/error.h"
#include "scheduler/plan/placement.h"

struct job_run;
struct node;
struct scheduler;

/* The node with this name, as in struct assignment (NULL: the first node); NULL: there is none. */
struct node *node_named(struct scheduler *scheduler, const char *name);
/* The node's name for logs; NULL: it is the only one. */
const char *node_shown(const struct node *node);
/* Whether no engine answers. */
bool nodes_are_away(const struct scheduler *scheduler);
/* Takes the resources of the node's machine. The event comes only once, so this cannot fail. Afterwards @reported may
 * own other values. */
void room_host_take(struct node *node, struct host *reported);
/* Reads the leases from the store, which replace the nodes' own lists. All unfinished jobs are loaded. */
enum status room_leases_load(struct scheduler *scheduler, struct error *err);
/* Counts a job, unless it is counted already, on the nodes of its assignment, which become its own; its leases are
 * counted separately. */
void room_take(struct scheduler *scheduler, struct job_run *run);
void room_lease(const struct job_run *run);
/* Drops claims of devices that no job has leased. */
void room_claims_keep(struct scheduler *scheduler);
/* Whether this daemon has claimed all GPUs of the job among the instances of their engines: device_claims.h. */
bool room_devices_are_claimed(const struct job_run *run);
/* Frees the job's room and leases; harmless if it is not counted. */
void room_return(struct scheduler *scheduler, struct job_run *run);
/* Sets the reason why the node can make no network now; "": it can. */
void room_network_lack(struct node *node, const char *text);
