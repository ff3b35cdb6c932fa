/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/room.h: the resources of each machine and how much of them is used. Thread: the scheduler's, unless it says
 * otherwise. */
#include "daemon/base/error.h"
#include "scheduler/plan/placement.h"

struct job_run;
struct node;
struct scheduler;

/* Returns the node with this name; NULL: there is none. @name NULL: the first node, as in struct assignment. */
struct node *node_named(struct scheduler *scheduler, const char *name);
/* The node's name for logs; NULL: it is the only one. */
const char *node_shown(const struct node *node);
/* Whether no engine answers. */
bool nodes_are_away(const struct scheduler *scheduler);
/* Takes over the resources that an event reports for the node's machine. This cannot fail, because the event is not
 * repeated. Afterwards @reported may own the node's former values. */
void room_host_take(struct node *node, struct host *reported);
/* Replaces the nodes' lists of leases by the leases in the store. To be called when all unfinished jobs have been
 * loaded. */
enum status room_leases_load(struct scheduler *scheduler, struct error *err);
/* Sets the job's nodes by its assignment, and adds the job's resources to what is used there. The job must not be
 * counted yet. room_lease() adds its leases. */
void room_take(struct scheduler *scheduler, struct job_run *run);
void room_lease(const struct job_run *run);
/* Drops claims of devices that no job has leased. */
void room_claims_keep(struct scheduler *scheduler);
/* Whether this daemon has claimed all GPUs that the job leases exclusively, see device_claims.h. */
bool room_devices_are_claimed(const struct job_run *run);
/* Frees the job's room and leases; harmless if it is not counted. */
void room_return(struct scheduler *scheduler, struct job_run *run);
/* Sets the reason why the node can make no network now; "": it can. */
void room_network_lack(struct node *node, const char *text);
