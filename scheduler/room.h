/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/room.h: what may be used on this machine and what is. Thread: the scheduler's, unless it says otherwise. */
#include "daemon/base/error.h"
#include "scheduler/plan/placement.h"

struct job_run;
struct scheduler;

/* What the engine's machine has. It is told once, so nothing here can fail: what @told owns may be another's afterwards. */
void room_host_take(struct scheduler *scheduler, struct host *reported);
/* Takes the leases from the store: what is there counts, whatever the scheduler believed. */
enum status room_leases_load(struct scheduler *scheduler, struct error *err);
/* Counts a job that does not count yet; its leases apart. */
void room_take(struct scheduler *scheduler, struct job_run *run);
void room_lease(struct scheduler *scheduler, const struct job_run *run);
/* Gives up the claims of devices that no job has leased. */
void room_claims_keep(struct scheduler *scheduler);
/* Both are free again; harmless for a job that does not count. */
void room_return(struct scheduler *scheduler, struct job_run *run);
/* Why no network can be made now; "": one can. */
void room_network_lack(struct scheduler *scheduler, const char *text);
