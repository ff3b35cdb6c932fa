/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/scheduler.h: the thread that takes every job from QUEUED to its end.
 *
 * It is told of events (a job was stored or cancelled, the engine did something, output was stored, a time has come),
 * looks at each job concerned, and does what decide.h says. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "scheduler/engine/engine.h"
#include "scheduler/gateway.h"
#include "scheduler/gcs.h"
#include "scheduler/plan/placement.h"
#include "scheduler/search/suggester.h"

struct fault_registry;
struct objects;
struct scheduler;
struct store;

struct scheduler_options {
	struct store *store;
	const struct clock *clock;
	const char *project_number;
	unsigned stop_grace_s;
	unsigned retry_pause_ms; /* pause before a lost job is retried; doubled at each retry */
	/* What jobs may use. The engine reports the host; its devices come from @inventory. */
	struct capacity capacity;
	const char *trials_dir; /* copied; see struct reconciler */
	struct objects
		/* outlives the thread; storage that has the jobs' directories; NULL: this daemon has no storage */
		*objects;
	struct inventory inventory; /* borrowed for the call */
	struct gateway_ops gateway; /* open NULL: replicas cannot reach the emulator */
	struct gcs_ops gcs;
	/* The developer's credentials that every replica gets, and the directory of wheels from which Python packages
	 * are installed: paths on the engine's machine, absolute, or NULL. */
	const char *adc, *wheels;
	struct fault_registry *faults; /* outlives the thread; NULL: faults cannot be injected */
	bool cut_off;                  /* job networks have no route to the outside; jobs' logs say so */
	suggest_function suggest;      /* computes the next trials of tuning jobs; NULL: the search library */
	/* How long a network is kept after its job has left it; 0: it is removed at once */
	unsigned pooled_network_ms;
};

struct scheduler *scheduler_new(const struct scheduler_options *options);
/* The callbacks to open the engine with. */
struct engine_sink scheduler_sink(struct scheduler *scheduler);
/* Loads all unfinished jobs and starts the thread; the engine may be unreachable. */
enum status scheduler_start(struct scheduler *scheduler, struct engine *engine, struct error *err);
/* A job was stored, or is to be cancelled. Thread: any. The argument is the scheduler; this is a hook for
 * store_on_intent(). */
void scheduler_wake(void *scheduler, int64_t job);
/* The emulated clock was moved forward: deadlines may have passed. Thread: any. The argument is the scheduler. */
void scheduler_clock_stepped(void *scheduler);
/* A program of the job called a host of the cloud, which is unreachable for it. The job's log and report mention each
 * host once. @host: "" if the program did not name it. Thread: any. */
void scheduler_cloud_tried(struct scheduler *scheduler, int64_t job, const char *host);
/* A call of the job to @host could not be forwarded. The job's log and report mention each host once. @text ends the
 * sentence "The program called @host, which". Thread: any. */
void scheduler_call_failed(struct scheduler *scheduler, int64_t job, const char *host, const char *text);
/* Waits at most @timeout_ms until no unfinished job and no network is left; false: some are. From the call on no
 * network is pooled. */
bool scheduler_wait_idle(struct scheduler *scheduler, unsigned timeout_ms);
/* Likewise for networks that no job uses. */
bool scheduler_clear_networks(struct scheduler *scheduler, unsigned timeout_ms);
/* Whether the engine answers, and its state as text. Thread: any. */
bool scheduler_engine_state(struct scheduler *scheduler, char *ret_text, size_t size);
/* What identifies the engine among all, as in struct host; "": unknown, as no engine has answered yet. Thread: any. */
void scheduler_engine_id(struct scheduler *scheduler, char *ret_id, size_t size);
/* Whether the engine answers and its listing of containers and networks was processed, so that jobs progress. Thread:
 * any. */
bool scheduler_engine_ready(struct scheduler *scheduler);
/* A copy of capacity and usage, as @project sees it; room_deinit(). Thread: any. */
struct room scheduler_room(struct scheduler *scheduler, const char *project);
/* Ends the threads. A running computation of a tuning job's next trials is finished first. Jobs keep running in the
 * engine and are resumed at the next start. Close the engine between stop and free: its events are ignored after stop. */
void scheduler_stop(struct scheduler *scheduler);
void scheduler_free(struct scheduler *scheduler);
