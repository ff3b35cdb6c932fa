/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/job_run.h: one unfinished job as the scheduler sees it: facts (the stored row, its plan, and what its journal
 * says of replicas), and what the engine was last known to have of it. The facts alone are kept over a restart; the rest is
 * seen anew.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/engine.h"
#include "scheduler/gateway.h"
#include "scheduler/notes.h"
#include "scheduler/order.h"
#include "scheduler/plan/outcome.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/plan.h"
#include "scheduler/wakes.h"
#include "store/jobs/jobs.h"

struct assignment;
struct fault_injection;
struct job_entry;
struct journal;
struct tuner;

/* What is known of one container. CREATING and STARTING were asked for and not answered yet: an answer comes, though the engine
 * went and came meanwhile, and its listing may be older than the container. */
enum observed {
	OBSERVED_NOTHING,
	OBSERVED_CREATING,
	OBSERVED_CREATED,
	OBSERVED_STARTING,
	OBSERVED_RUNNING,
	OBSERVED_EXITED,
	OBSERVED_COUNT
};

/* Source: https://cloud.google.com/vertex-ai/docs/training/exit-codes (read 2026-11-20): of one replica, before
 * the whole job is tried again. */
enum { REPLICA_RESTARTS_MAX = 5 };

/* How far its output was read: to its end, which is handed to the store, and can be read there. */
enum output { OUTPUT_OPEN, OUTPUT_ENDED, OUTPUT_STORED };

/* What the engine was last asked for the images of roles is kept in the same way. */
_Static_assert((int)ROLE_COUNT <= (int)ORDERS_KEPT, "an epoch for each role");

/* What was last asked of the engine for its network. */
enum link_request { LINK_AS_MADE, LINK_CUT, LINK_RESTORED, LINK_SLOWED, LINK_HASTENED };

/* What the journal says of a replica; each comes after the one before. */
enum journaled {
	JOURNALED_NOTHING,
	JOURNALED_MADE, /* its container was there; of one that was never started anew, always */
	JOURNALED_END,
	JOURNALED_BLAME, /* its end is a reason for the job's outcome */
};

struct replica_run {
	struct replica_key key;
	enum observed observed;
	enum journaled journaled;
	enum replica_end end; /* how it ended; stays known when the container is gone */
	int exit_code;
	bool out_of_memory;
	bool of_itself;       /* the engine can tell that it was sent no signal */
	char *refusal;        /* the engine's words for END_REFUSED and END_BROKEN */
	int64_t ended_us;     /* wall: when its program ended; 0: the engine did not say */
	struct orders orders; /* by enum order_verb */
	enum output output;
	enum link_request link;
	unsigned throttle_failures; /* in a row */
	bool paused;                /* somebody has frozen it */
	unsigned missing_in;        /* the listing (struct scheduler) that lacked it; 0: none */
	/* Monotonic: since when listings say otherwise of the pause; 0: they do not. */
	int64_t pause_doubted_us;
	bool ordered;          /* it ended by a rule of faults.h */
	int64_t made_us;       /* wall: when the container was made that ran before we did; 0: it did not */
	int64_t running_at_us; /* monotonic: first seen running; 0: not yet */
	bool in_doubt; /* was killed, perhaps by an engine that is about to go: end is open for a moment */
};

enum network_observed { NETWORK_NONE, NETWORK_CREATING, NETWORK_READY };

/* CLOSED: not opened yet, or not known to be open; ABSENT: it could not be, the job goes on without. */
enum gateway_observed { GATEWAY_CLOSED, GATEWAY_OPEN, GATEWAY_ABSENT };

struct gateway_run {
	enum gateway_observed observed;
	struct gateway_address place; /* OPEN */
	uint16_t port;              /* that containers were told; 0: none was */
	unsigned tries;             /* that failed in a row */
	int64_t retry_at_us;        /* monotonic; 0: no other try is due */
};

/* The kinds of jobs, by what carries them out: passes.c has a row for each. */
enum work { WORK_REPLICAS, WORK_TRIALS };

struct job_run {
	enum work work;
	struct job *row;
	struct job_entry *entry; /* NULL: the job is in no table, and touching it has no effect */
	struct job_run *way_before, *way_next; /* the others that have left the queue: struct scheduler */
	bool under_way, starts;        /* whether it is among those, and counts in scheduler.starting */
	struct plan *plan;             /* never NULL after job_run_unfold() */
	struct assignment *assignment; /* what it was let in with; NULL: not yet, or by an earlier release */
	char *fault; /* why nothing can be run: what is stored cannot be read, or does not fit this host; NULL: none */
	enum status fault_code;
	struct replica_run *replicas;
	size_t replica_count;

	/* What follows is true in the sight of the engine in which it was listed: a new one begins when the engine goes or
	 * comes, and when an answer of it is lost. */
	unsigned observation, listed_in; /* from 1; 0: never */
	enum network_observed network;
	struct network_status network_status;
	unsigned networks_had; /* how many were made for it */
	unsigned
		lack_logged_after; /* one more than it had had when the log said that there is no block for another; 0: never */
	/* The count of network_pool.h at which the job left its network; since then that network is pooled, another job's, or on its
	 * way out. 0: the job did not leave it. */
	unsigned left_network_in;
	struct gateway_run gateway;
	char *image_ids[ROLE_COUNT];
	struct orders images; /* to fetch them, by role */

	struct notes notes; /* to be stored with the next change */
	bool differs;       /* the assignment has differences that are not stored yet */
	unsigned
		logged_loss; /* the last loss of the engine (struct decision_context) that the log tells of; 0: none */
	enum job_state logged_loss_in; /* and the state that the job was in */
	json_t *reported;              /* of a trial: differences that its siblings have told; or NULL */
	struct tuner *tuner;         /* of a tuning job, once it was looked at */
	bool counted;                /* takes part of the scheduler's room */
	bool stale;                  /* the stored row may say more than ours */
	enum output last_words;      /* its last service lines; ENDED: they were written */
	int64_t over_us;             /* wall: when job_run_is_over() said so first; 0: it did not yet */
	int64_t hold_until_us;       /* monotonic: nothing is decided before that; job_run_hold() */
	int64_t doubt_until_us;      /* monotonic: how long replicas in doubt are; 0: none is */
	int64_t deadline_us; /* monotonic: when its limit passes, if job_run_deadline_us() was asked; 0: it was not */
	int64_t deadline_of_us; /* the row's running_us at that time: when it changes, another limit counts */
	/* What ordered faults did to it: those that are stored, then those that the next change stores. */
	struct fault_injection *injections;
	size_t injection_count, injections_stored;
	int64_t fault_at_us; /* monotonic: when faults.h looks at it again; 0: when something happens */
	int64_t lost_at_us; /* monotonic: since when there are replicas to be started anew; 0: there are none */
};

/* Takes @row. */
struct job_run *job_run_new(struct job *row);
void job_run_free(struct job_run *run);
DEFINE_AUTO(job_run, struct job_run *, job_run_free)

/* Reads the plan and the assignment of the row and makes its replicas, all unseen, with the restarts and the ends that its
 * journal tells of. A plan or an assignment that cannot be read is the run's fault: it fails. */
void job_run_unfold(struct job_run *run, const struct journal *journal);
/* Takes the assignment from the row. One that cannot be read is the run's fault. */
void job_run_assign(struct job_run *run);
/* Makes the replicas of the row's attempt, of which nothing is known. The network, the images and an open gateway stay. */
void job_run_begin_attempt(struct job_run *run);
/* It is stored that the replica is started anew, under the same names. */
void replica_renew(struct job_run *run, struct replica_run *replica);
/* The engine is away: nothing that was seen is certain, and answers may be lost. */
void job_run_invalidate(struct job_run *run);
/* Whether the engine's listing was seen since. */
bool job_run_is_observed(const struct job_run *run);
/* Nothing is decided before @until_us (monotonic), nor before it was to rest until already. */
void job_run_hold(struct job_run *run, int64_t until_us);
/* Whether it is open how some replica ended, and nothing else decides the job: nothing is decided until that is known. */
bool job_run_doubts(const struct job_run *run);
/* The job that has this job's lines in its log: for a trial, the tuning job. */
int64_t job_run_owner(const struct job_run *run);
/* Whether output of it is still to be stored. */
bool replica_is_unread(const struct replica_run *replica);
/* Whether the engine has a container of it, or had. */
bool replica_is_made(const struct replica_run *replica);
/* Whether its end is decided and told, and all it printed can be read: what is left is to remove its containers, none of
 * which runs. */
bool job_run_is_over(const struct job_run *run);
/* The job that its network was made for: itself, or one before it. */
int64_t job_run_network(const struct job_run *run);
/* A replica's address in the job's network, which is READY. */
void job_run_address(const struct job_run *run, enum role role, unsigned index, char ret_address[16]);
struct replica_run *job_run_replica(struct job_run *run, enum role role, unsigned index);
/* Tells what is done otherwise than was asked for: by a line in the job's log, with @hint behind it, and a difference in its
 * report, stored in one change. */
void job_run_differ(struct job_run *run, const char *code, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The instant (monotonic) at which a limit of the job passes; INT64_MAX: none. It stays, once it is reckoned from the
 * stored times, though the wall clock jumps.
 * Choice: time in which the machine was suspended does not count, but when the daemon was started anew since. */
int64_t job_run_deadline_us(struct job_run *run, int64_t wall_us, int64_t mono_us);

/* Whether a replica was lost and is to be started anew, alone, under the same names: while the job runs and
 * others of it live on. The job outlives such a loss.
 * Source: https://cloud.google.com/ai-platform/training/docs/understanding-training-service (VM restarts) */
bool job_run_restarts(const struct job_run *run, const struct replica_run *replica);
bool job_run_restarts_any(const struct job_run *run);

/* Whether the engine has started every replica, whether or not it still runs. */
bool job_run_began(const struct job_run *run);

/* The outcomes of its replicas judged; the message is the caller's. */
struct job_outcome job_run_outcome(const struct job_run *run);
/* Whether they decide anything. */
bool job_run_is_decided(const struct job_run *run);
