/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/scheduler.h: the thread that takes every job from QUEUED to its end.
 *
 * It receives events (a job was stored or cancelled, the engine did something, output was stored, a time has come),
 * looks at each job concerned, and does what decide.h says. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "scheduler/engine/engine.h"
#include "scheduler/gateway.h"
#include "scheduler/gcs.h"
#include "scheduler/plan/fleet.h"
#include "scheduler/search/suggester.h"

struct fault_registry;
struct objects;
struct scheduler;
struct store;

/* A machine in addition to the first one. */
struct scheduler_node {
	const char *name;           /* unique, and not MAIN_NODE */
	struct inventory inventory; /* as in struct scheduler_options */
};

/* The first machine's name for users. */
#define MAIN_NODE "main"

struct scheduler_options {
	struct store *store;
	const struct clock *clock;
	const char *project_number;
	unsigned stop_grace_s;
	unsigned retry_pause_ms; /* pause before a lost job is retried; doubled at each retry */
	unsigned node_patience_s; /* how long a node may be away before its jobs go on elsewhere; 0: for ever */
	/* What jobs may use. The engine reports the host; its devices come from @inventory. */
	struct capacity capacity;
	const char *trials_dir; /* copied; see struct reconciler */
	struct objects
		/* the storage with the jobs' directories; outlives the thread; NULL: this daemon has no storage */
		*objects;
	struct inventory inventory;          /* borrowed for the call, as the following ones */
	const struct scheduler_node *others; /* jobs are placed on these machines too */
	size_t other_count;
	size_t later_max; /* how many nodes may join while it runs */
	bool nodes_span;  /* the first node's engine makes networks over all nodes: a job may be on several */
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
/* The callbacks to open the engine of a node with; node 0 is the first. */
struct engine_sink scheduler_sink(struct scheduler *scheduler, size_t node);
/* Loads all unfinished jobs and starts the thread; engines may be unreachable. @engines: one for each node.
 * FAILED_PRECONDITION: a job is on a node that this scheduler does not have. */
enum status scheduler_start(struct scheduler *scheduler, struct engine *const *engines, struct error *err);
/* Makes one more node, for which the caller opens an engine with scheduler_sink(), and then calls scheduler_node_join().
 * A node that does not join is replaced by the next one that is made. @labels: the node's, an object of strings that
 * nothing changes any more; NULL: none. False: there is no room for another node. Thread: one at a time, not the
 * scheduler's. */
bool scheduler_node_make(struct scheduler *scheduler, const char *name, json_t *labels, size_t *ret_node);
void scheduler_node_join(struct scheduler *scheduler, size_t node, struct engine *engine);
/* Tells the scheduler whether the node's swarm reports the node as down or drained. While it does, and the node's
 * engine is away, too, jobs wait for the node for a shorter time than otherwise. Thread: any. */
void scheduler_node_gone(struct scheduler *scheduler, size_t node, bool is_gone);
/* To be called when a job was stored or is to be cancelled; a hook for store_on_intent(). The argument is the
 * scheduler. Thread: any. */
void scheduler_wake(void *scheduler, int64_t job);
/* To be called when the emulated clock was moved forward: deadlines may have passed. The argument is the scheduler.
 * Thread: any. */
void scheduler_clock_stepped(void *scheduler);
/* To be called when a program of the job called a host of the cloud, which is unreachable for it: the job's log and
 * report mention each host once. @host: "" if the program did not name it. Thread: any. */
void scheduler_cloud_tried(struct scheduler *scheduler, int64_t job, const char *host);
/* To be called when a call of the job to @host could not be forwarded: the job's log and report mention each host once.
 * @text ends the sentence "The program called @host, which". Thread: any. */
void scheduler_call_failed(struct scheduler *scheduler, int64_t job, const char *host, const char *text);
/* Waits at most @timeout_ms until no unfinished job and no network is left; false: some are. From the call on no
 * network is pooled. */
bool scheduler_wait_idle(struct scheduler *scheduler, unsigned timeout_ms);
/* As scheduler_wait_idle(), but waits only for networks that no job uses. */
bool scheduler_clear_networks(struct scheduler *scheduler, unsigned timeout_ms);
/* The state of a node's engine. */
struct node_state {
	const char *name;
	bool answers;
	bool ready;     /* its listing of containers and networks was processed too, so that jobs progress */
	char text[256]; /* the state in words */
	char id[256];   /* identifies the engine among all, as in struct host; "": it has not answered yet */
};

size_t scheduler_node_count(struct scheduler *scheduler);
/* Thread: any. */
struct node_state scheduler_node_state(struct scheduler *scheduler, size_t node);
/* Returns a copy of the capacity and usage of each node, as @project sees them; the caller calls rooms_deinit().
 * Thread: any. */
struct rooms scheduler_rooms(struct scheduler *scheduler, const char *project);
/* Ends the threads. A running computation of a tuning job's next trials is finished first. Jobs keep running in the
 * engine and are resumed at the next start. Close the engine between stop and free: its events are ignored after stop. */
void scheduler_stop(struct scheduler *scheduler);
void scheduler_free(struct scheduler *scheduler);
