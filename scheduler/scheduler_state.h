/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/scheduler_state.h: what the scheduler's own files share: its queue of happenings and its jobs. */
#include <pthread.h>

#include "scheduler/clock_watch.h"
#include "scheduler/logs/log_pump.h"
#include "scheduler/plan/placement.h"
#include "scheduler/scheduler.h"
#include "scheduler/search/tuner.h"
#include "scheduler/spare_network.h"
#include "scheduler/steps.h"

enum happening_kind {
	HAPPENED_WAKE,        /* a job was stored or changed by a client */
	HAPPENED_ENGINE,      /* the engine said something */
	HAPPENED_LOGS_STORED, /* a replica's output can be read */
	HAPPENED_LAST_WORDS,  /* a job's last service lines can be read */
	HAPPENED_LOG_ROOM,    /* the log takes lines again */
	HAPPENED_SUGGESTED,   /* what a tuning job tries next was thought out */
	HAPPENED_FAULTS,      /* rules of ordered faults may hit the job; 0: any */
	HAPPENED_CLOUD_TRIED, /* a program called a host of the cloud's: event.text */
};

/* Something that happened on another thread; owns what it points to. */
struct happening {
	enum happening_kind kind;
	int64_t job;
	struct replica_key key;    /* LOGS_STORED */
	struct engine_event event; /* ENGINE */
	struct host host;          /* event.host is this one */
	struct scheduler *to;      /* for happening_deliver() */
	struct happening *next;
};

struct scheduler {
	struct reconciler reconciler;
	struct pass pass;
	struct suggester *suggester; /* for tuning jobs */
	char *trials_dir;
	char *project_number, *adc, *wheels;
	bool devices_automatic; /* the host's GPUs are those that the engine names; otherwise the room has them already */

	/* The scheduler's thread alone: */
	struct job_run **runs; /* by id */
	size_t run_count, run_size;
	struct job_run *
		*queue; /* those that wait for room, in the order of their turn; has the size of runs */
	size_t queue_count;
	bool again;         /* some job became dirty while the others were looked at */
	bool queue_stirred; /* somebody may be let in: room, a job or the engine came, or a job went */
	bool engine_up, engine_down, engine_listed; /* neither up nor down: not known yet */
	/* By the engine's clock, of the last loss and of the return; 0: none */
	int64_t engine_lost_ns, engine_back_ns;
	int64_t engine_lost_us; /* the loss, monotonic */
	int64_t engine_up_us;   /* monotonic: since when it is up, or was last */
	bool clock_set_in_loss; /* or shortly before: the two above are of different clocks */

	struct clock_watch clock_watch;
	int64_t clock_set_us; /* monotonic: when the machine's clock was last seen to be set; 0: never */
	struct spare_networks spares;
	/* Why the engine last had no block for a network; "": the last that was asked for had one at once */
	char network_lack[LACK_TEXT_SIZE];
	int64_t catch_up_at_us; /* monotonic: when to look for what was missed; 0: nothing was */

	/* Changed by the scheduler's thread under the mutex: it alone may read them without. room.c */
	struct room room;
	json_t *project_vcpus; /* for each project in the cloud's sizes what its jobs take of the room */

	pthread_t thread;
	bool started;
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* the queue, or idleness */
	struct happening *first, **last;
	unsigned tried_waiting; /* how many of these are CLOUD_TRIED */
	bool stopping, idle;
	bool clearing, cleared; /* no spare network is to be kept; there is none */
	bool missed;            /* a happening was lost for want of memory */
	bool engine_answers;
	char engine_text[256];
};

/* Thread: any. Takes @happening; NULL (memory ran out) makes the scheduler look at everything anew. */
void scheduler_post(struct scheduler *scheduler, struct happening *happening);
struct happening *happening_new(enum happening_kind kind, int64_t job);
struct happening *happening_of_engine(const struct engine_event *event);
void happening_free(struct happening *happening);
/* Posts a happening to its scheduler: a callback for others' threads. */
void happening_deliver(void *happening);

/* A program of the job called @host of the cloud, which is cut off or not. cloud_tried.c */
void cloud_tried(struct job_run *run, const char *host, bool cut_off);

/* Trials of one job tell each difference once, in whatever life of the daemon. Without memory each tells its own.
 * told_differences.c */
void told_share(struct scheduler *scheduler, struct job_run *run);

struct job_run *scheduler_find(struct scheduler *scheduler, int64_t job);
/* Takes @row; the run is dirty. */
enum status scheduler_add(struct scheduler *scheduler, struct job *row, struct error *err);
void scheduler_remove(struct scheduler *scheduler, struct job_run *run);

/* The replica that is known by @key now: not one of an earlier attempt or restart. NULL: none. *ret_run is the
 * job's, or NULL. sight.c */
struct replica_run *sight_find(struct scheduler *scheduler, const struct replica_key *key,
			       struct job_run **ret_run);
/* Brings what is seen of the jobs up to what the engine said. sight.c */
void sight_update(struct scheduler *scheduler, const struct engine_event *event);
/* How all that the engine has stands, as it was listed; removes what is no job's. listing_sight.c */
void sight_listing(struct scheduler *scheduler, const struct engine_event *event);
/* What became of one replica, however it was told: it ended, is gone, was paused or goes on. sight.c */
void sight_exit(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
		const struct replica_status *status);
void sight_removed(struct replica_run *replica);
void sight_paused(struct job_run *run, struct replica_run *replica, bool paused);
/* What was in doubt is as it looks once its moment has passed, or when it decides nothing any more. sight.c */
void sight_settle(struct job_run *run, int64_t now_us);
/* No step of it for a moment. sight.c */
void sight_hold(struct scheduler *scheduler, struct job_run *run);
/* The engine would not have it; the first reason counts. sight.c */
void replica_refuse(struct replica_run *replica, enum replica_end end, const char *text);
enum replica_end refusal_kind(enum status status);
/* What a listing shows of the networks that jobs are on of which nothing is certain yet. network_sight.c */
void networks_find(struct scheduler *scheduler, const struct engine_event *listing);
/* Removes the networks of a listing that no job is on, and forgets spare ones that are not there. network_sight.c */
void networks_compare(struct scheduler *scheduler, const struct engine_event *listing);
/* A network was made, was not, or was removed. network_sight.c */
void network_update(struct scheduler *scheduler, const struct engine_event *event);
/* Whether the queue waits for a network, as the jobs that were let in stand now: none is let in while one of those asks
 * for its own. network_sight.c */
void networks_settle(struct scheduler *scheduler);
/* Reads the output of every replica that has some and is not being read. sight.c */
void sight_follow(struct scheduler *scheduler, struct job_run *run);
/* Something was missed for want of memory: it is looked for a little later, as memory may be short for a while. */
void scheduler_miss(struct scheduler *scheduler);
/* When it is time: takes up jobs that it was not told of, and looks at all others anew. */
void scheduler_catch_up(struct scheduler *scheduler, int64_t now_us);
/* The steps that one job can take now; its change waits in the pass. passes.c */
void scheduler_step(struct scheduler *scheduler, struct job_run *run);
/* Steps of all dirty jobs until none has one left. passes.c */
void scheduler_reconcile(struct scheduler *scheduler);
/* Notes and tells whether somebody has set the machine's clock. passes.c */
void scheduler_clock_look(struct scheduler *scheduler);
/* The next instant (monotonic) at which a job must be looked at again. passes.c */
int64_t scheduler_deadline_us(const struct scheduler *scheduler);

/* Puts a run into the queue or takes it out, as its row says. queue.c */
void queue_update(struct scheduler *scheduler, struct job_run *run);
void queue_leave(struct scheduler *scheduler, struct job_run *run);
/* The host is another: all look at it anew. queue.c */
void queue_reconsider(struct scheduler *scheduler);
/* It was not let in after all: gives back what was put aside for it. queue.c */
void queue_retract(struct scheduler *scheduler, struct job_run *run);
/* Lets in who has room, by priority and age. @now_us is when the pass began, in which all whose time had come were
 * served: a later one lets in again whose change was refused and whose row was not read since. queue.c */
void queue_serve(struct scheduler *scheduler, int64_t now_us);

/* What the engine's machine has. It is told once, so nothing here can fail: what @told owns may be another's afterwards.
 * room.c */
void room_host_take(struct scheduler *scheduler, struct host *told);
/* Takes the leases from the store: what is there counts, whatever the scheduler believed. room.c */
enum status room_leases_load(struct scheduler *scheduler, struct error *err);
/* Counts a job that does not count yet; its leases apart. INTERNAL: memory ran out. room.c */
enum status room_take(struct scheduler *scheduler, struct job_run *run, struct error *err);
enum status room_lease(struct scheduler *scheduler, const struct job_run *run, struct error *err);
/* Both are free again; harmless for a job that does not count. room.c */
void room_return(struct scheduler *scheduler, struct job_run *run);
/* Why no network can be made now; "": one can. room.c */
void room_network_lack(struct scheduler *scheduler, const char *text);
/* As @project sees it; borrowed, until something is taken or returned. room.c */
struct room room_for(const struct scheduler *scheduler, const char *project);
