/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/scheduler.h: the one thread that owns every job's way from QUEUED to its end.
 *
 * It is told what happened (a job was stored or cancelled, the engine did something, output was
 * stored, a time has come), looks at each job concerned, and does what decide.h says. */
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
	unsigned retry_pause_ms; /* before a job that was lost is tried again; doubled each time */
	/* What may be used; its host is learned from the engine, its devices from @inventory. */
	struct capacity capacity;
	const char *trials_dir; /* copied; see struct reconciler */
	struct objects
		*objects; /* outlives the thread; where jobs' directories are; NULL: storage is not ours */
	struct inventory inventory; /* borrowed for the call */
	struct gateway_ops gateway; /* open NULL: replicas reach nothing of the emulator */
	struct gcs_ops gcs;
	/* The developer's credentials that every replica is given, and the directory of wheels that Python packages
	 * are installed from: on the engine's machine, absolute, or NULL. */
	const char *adc, *wheels;
	struct fault_registry *faults; /* outlives the thread; NULL: none are ordered */
	bool cut_off;              /* job networks have no way to the outside: jobs are told */
	suggest_function suggest;  /* what tuning jobs try next; NULL: as the library says */
	/* How long a network that a job has left is kept for the next; 0: it goes at once */
	unsigned pooled_network_ms;
};

struct scheduler *scheduler_new(const struct scheduler_options *options);
/* What the engine is opened with. */
struct engine_sink scheduler_sink(struct scheduler *scheduler);
/* Takes up all unfinished jobs and starts the thread; the engine may be down. */
enum status scheduler_start(struct scheduler *scheduler, struct engine *engine, struct error *err);
/* A job was stored, or is to be cancelled. Thread: any. The argument is the scheduler: store_on_intent()'s hook. */
void scheduler_wake(void *scheduler, int64_t job);
/* The clock was put forward: deadlines may have passed. Thread: any. The argument is the scheduler. */
void scheduler_clock_stepped(void *scheduler);
/* A program of the job called one of the cloud's own hosts, which is cut off: its log and its report tell, once for
 * each host. @host: "" where the program did not name it. Thread: any. */
void scheduler_cloud_tried(struct scheduler *scheduler, int64_t job, const char *host);
/* A call of the job to @host could not be handed on: its log and its report tell, once for each host. @text ends the sentence "The
 * program called @host, which". Thread: any. */
void scheduler_call_failed(struct scheduler *scheduler, int64_t job, const char *host, const char *text);
/* Waits until no unfinished job is left, nor a network, at most @timeout_ms; false: they are not gone yet. From then on
 * no network is kept for the next job. */
bool scheduler_wait_idle(struct scheduler *scheduler, unsigned timeout_ms);
/* The same for networks that no job is on. */
bool scheduler_clear_networks(struct scheduler *scheduler, unsigned timeout_ms);
/* Whether the engine answers, and in which words. Thread: any. */
bool scheduler_engine_state(struct scheduler *scheduler, char *ret_text, size_t size);
/* Whether it answers, and the scheduler has since taken in which containers and networks it has: jobs go on. Thread: any. */
bool scheduler_engine_ready(struct scheduler *scheduler);
/* A copy of what may be used and what is used now, as @project sees it; room_deinit(). Thread: any. */
struct room scheduler_room(struct scheduler *scheduler, const char *project);
/* Ends the threads; what a tuning job tries next may be thought out to the end before, of a batch one. Jobs go on in the
 * engine and are taken up at the next start. Close the engine between stop and free: its events go nowhere after stop. */
void scheduler_stop(struct scheduler *scheduler);
void scheduler_free(struct scheduler *scheduler);
