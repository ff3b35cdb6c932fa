/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/scheduler_state.h: struct scheduler, for the scheduler's own files. */
#include <pthread.h>

#include "scheduler/clock_watch.h"
#include "scheduler/execute.h"
#include "scheduler/inbox.h"
#include "scheduler/node.h"
#include "scheduler/reconciler.h"
#include "scheduler/scheduler.h"
#include "scheduler/wakes.h"

struct job_entry;
struct job_run;
struct suggester;

struct scheduler {
	struct reconciler reconciler;
	struct decisions decisions;  /* the decisions of the present pass */
	struct suggester *suggester; /* for tuning jobs */
	char *trials_dir;
	char *project_number, *adc, *wheels;

	/* Used by the scheduler's thread alone: */
	struct job_entry **entries; /* sorted by id */
	size_t entry_count, entry_size;
	int64_t *
		opened; /* ids of queued jobs with a row in memory; may contain jobs that have left the queue */
	size_t opened_count, opened_size;
	struct wakes wakes;
	struct job_run *way_first, *way_last; /* jobs that have left the queue, in the order of leaving */
	size_t starting;  /* jobs that wait for the engine to make and start what they need */
	int64_t *arrived; /* trials that tuning jobs have stored in this pass; they are added at its end */
	size_t arrived_count;
	struct job_entry **
		queue; /* jobs that wait for room, in the order of their turn; has room for entry_size jobs */
	size_t queue_count;
	/* number of jobs at the front of the queue that have all logged why they wait: a walk that looks for jobs that
	 * have not logged it begins behind them */
	size_t queue_logged;
	int64_t host_us;    /* monotonic: since when the host has its present resources; 0: since the start */
	/* true: perhaps a job can be admitted now, because room became free, a job or an engine arrived, or a job left
	 * the queue */
	bool queue_stirred;
	struct node *nodes; /* has room for node_size nodes; is never moved */
	size_t node_count;  /* changed under the mutex */
	size_t node_size, nodes_joined; /* nodes_joined: with those that the scheduler's thread has not counted yet */
	bool nodes_span; /* as rooms.span */
	int64_t pooled_network_us;
	int64_t hear_until_us; /* monotonic: until when the queue waits for nodes that were not heard of; 0: it does not */
	struct clock_watch clock_watch;
	int64_t load_at_us; /* monotonic: when to read the jobs again, because one could not be read; 0: all were read */

	int64_t claims_again_us; /* when to try again to claim GPUs that other instances have; 0: no need */
	/* Changed only in room.c, by the scheduler's thread, with the mutex locked; that thread may read it without
	 * the mutex. */
	json_t *project_vcpus; /* per project: the sum of plan_vcpus() over its admitted jobs */

	pthread_t thread;
	bool started;
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* signals a message in the inbox, or that the scheduler is idle */
	struct inbox_event *first, **last;
	unsigned tried_waiting; /* how many messages in the inbox are CLOUD_TRIED or CALL_FAILED */
	bool stopping, idle;
	bool clearing, cleared; /* @clearing: no network is to be pooled; @cleared: the pools are empty */
	bool clearing_seen;     /* as the scheduler's thread last saw @clearing */
};

/* Loads all unfinished jobs; engines may be unreachable. */
enum status scheduler_resume(struct scheduler *scheduler, struct engine *const *engines, struct error *err);
/* Handles all messages and serves the jobs concerned. Returns the latest instant (monotonic) of the next call.
 * Thread: the scheduler's. */
int64_t scheduler_turn(struct scheduler *scheduler);
