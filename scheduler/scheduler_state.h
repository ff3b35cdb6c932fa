/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/scheduler_state.h: the scheduler, as its own files see it. */
#include <pthread.h>

#include "scheduler/clock_watch.h"
#include "scheduler/execute.h"
#include "scheduler/inbox.h"
#include "scheduler/network_pool.h"
#include "scheduler/observe_networks.h"
#include "scheduler/order_give.h"
#include "scheduler/plan/placement.h"
#include "scheduler/reconciler.h"
#include "scheduler/scheduler.h"
#include "scheduler/wakes.h"

struct job_entry;
struct job_run;
struct suggester;

/* Each is more than the one before. */
enum engine_state {
	ENGINE_UNKNOWN,
	ENGINE_AWAY,
	ENGINE_ANSWERS,
	ENGINE_LISTED, /* and its listing was taken in */
};

struct scheduler {
	struct reconciler reconciler;
	struct decisions decisions; /* of the present pass */
	struct common_orders common;
	struct suggester *suggester; /* for tuning jobs */
	char *trials_dir;
	char *project_number, *adc, *wheels;
	bool devices_automatic; /* the host's GPUs are those that the engine names; otherwise the room has them already */

	/* The scheduler's thread alone: */
	struct job_entry **entries; /* by id */
	size_t entry_count, entry_size;
	int64_t *opened; /* jobs of the queue that are in memory as a whole, and others that were */
	size_t opened_count, opened_size;
	struct wakes wakes;
	struct job_run *way_first, *way_last; /* those that have left the queue, in that order */
	size_t starting;  /* those that wait for the engine to make and start what they need */
	int64_t *arrived; /* trials that their tuning job has stored in this pass, to be taken up in it */
	size_t arrived_count;
	struct job_entry *
		*queue; /* those that wait for room, in the order of their turn; has the size of entries */
	size_t queue_count;
	size_t queue_logged; /* how many of the queue's first jobs have said why they wait: those need not be visited for that */
	int64_t host_us;    /* monotonic: since when the host is as it is; 0: since the start */
	bool queue_stirred; /* somebody may be let in: room, a job or the engine came, or a job went */
	/* By the engine's clock, of the last loss and of the return; 0: none */
	int64_t engine_lost_ns, engine_back_ns;
	int64_t engine_lost_us; /* the loss, monotonic */
	unsigned
		engine_loss; /* how often it was lost that logs tell of: one that had just come back was not back */
	int64_t engine_up_us;   /* monotonic: since when it is up, or was last */
	unsigned listings;      /* how often it listed all that is ours */
	bool clock_set_in_loss; /* or shortly before: the two above are of different clocks */

	struct clock_watch clock_watch;
	struct network_pool pool;
	struct network_look network_look;
	/* Why the engine last had no block for a network; "": the last that was asked for had one at once */
	char network_lack[LACK_TEXT_SIZE];
	int64_t load_at_us; /* monotonic: when to read the jobs once more, one of which could not be; 0: all were */

	/* Changed by the scheduler's thread under the mutex: it alone may read them without. room.c */
	struct room room;
	struct device_claims *claims; /* of the devices that are leased; the scheduler's thread alone */
	int64_t claims_again_us; /* when to look again for those that other processes hold; 0: none is wanted */
	json_t *project_vcpus;   /* for each project in the cloud's sizes what its jobs take of the room */

	pthread_t thread;
	bool started;
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* the queue, or idleness */
	struct inbox_event *first, **last;
	unsigned tried_waiting; /* how many of these are CLOUD_TRIED or CALL_FAILED */
	bool stopping, idle;
	bool clearing, cleared; /* no pooled network is to be kept; there is none */
	enum engine_state engine_state;
	char engine_text[256];
};

/* Takes up all unfinished jobs; the engine may be down. */
enum status scheduler_resume(struct scheduler *scheduler, struct engine *engine, struct error *err);
/* Handles all that was posted and serves the jobs concerned. Returns when it is to be called again at the latest (monotonic).
 * Thread: the scheduler's. */
int64_t scheduler_turn(struct scheduler *scheduler);
