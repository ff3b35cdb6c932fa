/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/job_run.h: one unfinished job as the scheduler sees it: facts (the stored row, its plan, and what its
 * journal says of replicas), and the observed state of its containers and network. Only the facts survive a restart;
 * the rest is observed again.
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
struct node;
struct tuner;

/* The observed state of one container. CREATING and STARTING: ordered, not answered yet. The answer arrives even if the
 * engine's connection was lost meanwhile, and a listing may be older than the container. */
enum observed {
	OBSERVED_NOTHING,
	OBSERVED_CREATING,
	OBSERVED_CREATED,
	OBSERVED_STARTING,
	OBSERVED_RUNNING,
	OBSERVED_EXITED,
	OBSERVED_COUNT
};

/* How often one replica is restarted before the whole job is retried. Source:
 * https://cloud.google.com/vertex-ai/docs/training/exit-codes (read 2026-11-20) */
enum { REPLICA_RESTARTS_MAX = 5 };

/* How far a replica's output was read: ENDED: to its end; STORED: and all of it can be read from the store. */
enum output { OUTPUT_OPEN, OUTPUT_ENDED, OUTPUT_STORED };

/* The orders to fetch images are kept in a struct orders too, with the role as index. */
_Static_assert((int)ROLE_COUNT <= (int)ORDERS_KEPT, "an epoch for each role");

/* The last order for a container's connection to its network. */
enum link_request { LINK_AS_MADE, LINK_CUT, LINK_RESTORED, LINK_SLOWED, LINK_HASTENED };

/* What the journal says of a replica; each value implies the earlier ones. */
enum journaled {
	JOURNALED_NOTHING,
	JOURNALED_MADE, /* the replica's container existed; always true for a replica that was never restarted */
	JOURNALED_END,
	JOURNALED_BLAME, /* the replica's end is a reason for the job's outcome */
};

struct replica_run {
	struct replica_key key;
	enum observed observed;
	enum journaled journaled;
	enum replica_end end; /* how it ended; kept when the container is gone */
	int exit_code;
	bool out_of_memory;
	bool of_itself;       /* it is known that no signal was sent to the program */
	char *refusal; /* END_REFUSED, END_BROKEN: the engine's error text; END_LOST: why, or NULL */
	int64_t ended_us;     /* wall: when its program ended; 0: the engine did not say */
	struct orders orders; /* by enum order_verb */
	unsigned at; /* index among the job's nodes of the one for its container: struct job_node */
	enum output output;
	enum link_request link;
	unsigned throttle_failures; /* in a row */
	bool paused;                /* the container is paused (docker pause) */
	unsigned missing_in; /* number of the listing (struct scheduler) in which it was missing; 0: none */
	/* Monotonic: since when listings contradict @paused; 0: they do not. */
	int64_t pause_doubted_us;
	bool ordered;    /* it ended because of an injected fault (faults.h) */
	int64_t made_us; /* wall: when the container was made by an earlier daemon; 0: this daemon made it */
	int64_t running_at_us; /* monotonic: when it was first observed running; 0: not yet */
	/* it was killed, perhaps because the engine is shutting down: how it ended is decided a moment later */
	bool in_doubt;
};

enum network_observed { NETWORK_NONE, NETWORK_CREATING, NETWORK_READY };

/* CLOSED: not opened yet, or unknown; ABSENT: it could not be opened, and the job goes on without it. */
enum gateway_observed { GATEWAY_CLOSED, GATEWAY_OPEN, GATEWAY_ABSENT };

struct gateway_run {
	enum gateway_observed observed;
	struct gateway_address place; /* OPEN */
	uint16_t port;                /* the port that containers were given; 0: none was */
	unsigned tries;               /* tries that failed in a row */
	int64_t retry_at_us;          /* monotonic: when to try again; 0: no retry is due */
};

/* A node that has replicas or the network of a job. */
struct job_node {
	struct node *node; /* NULL in tests of pure functions */
	/* The number of the present observation of the job on this node, from 1; and of the observation in which a
	 * listing last arrived. A new observation begins when the engine's connection is lost or restored, and when an
	 * answer is lost. */
	unsigned observation, listed_in; /* from 1; 0: never */
	bool is_lost;                    /* as in struct node; a copy, so that decisions are pure */
	char *image_ids[ROLE_COUNT];
	struct orders images; /* orders to fetch them, by role */
	const char *gcs;      /* for the orders being given: where Cloud Storage is as files; NULL: nowhere */
};

/* The kind of work of a job; passes.c has a row for each. */
enum work { WORK_REPLICAS, WORK_TRIALS };

struct job_run {
	enum work work;
	struct job *row;
	struct job_node *nodes; /* the first has its network; at least one */
	size_t node_count;
	struct job_entry *entry; /* NULL: the job is in no table, and job_entry_touch() has no effect */
	struct job_run *way_before,
		*way_next;      /* list of the jobs that have left the queue: struct scheduler */
	bool under_way, starts; /* whether it is in that list; whether it counts in scheduler.starting */
	struct plan *plan;      /* never NULL after job_run_unfold() */
	/* the resources that it was given; NULL: none yet, or the job was admitted by an earlier release */
	struct assignment *assignment;
	char *fault; /* why the job cannot run: its stored data cannot be read or do not fit this host; NULL: it can */
	enum status fault_code;
	struct replica_run *replicas;
	size_t replica_count;

	enum network_observed network;
	struct network_status network_status;
	unsigned networks_had; /* how many networks were made for it */
	unsigned
		/* networks_had + 1 when the log said that no address block is free for another network; 0: never */
		lack_logged_after;
	/* network_pool.epoch + 1 at the time when the job left its network. Since then that network is in the pool,
	 * used by another job, or being removed. 0: the job did not leave it. */
	unsigned left_network_in;
	struct gateway_run gateway;
	struct notes notes; /* log lines that the next change stores */
	bool differs;       /* the assignment has deviations that are not stored yet */
	unsigned
		logged_loss; /* the last loss of the engine (struct decision_context) that the log mentions; 0: none */
	enum job_state logged_loss_in; /* the state of the job at that time */
	json_t *reported;              /* for a trial: deviations that its siblings have reported; or NULL */
	struct tuner *tuner;           /* of a tuning job; NULL until it is decided for the first time */
	bool counted;                  /* counted in the scheduler's room: it has a place on its nodes */
	bool stale; /* the stored row may be newer than this copy; until it is read again, the job is not admitted */
	/* the service's last lines in the job's log: ENDED: they were written; STORED: they can be read from the
	 * store */
	enum output last_words;
	int64_t over_us;               /* wall: when job_run_is_over() was first true; 0: not yet */
	int64_t hold_until_us;         /* monotonic: no decision before this instant; see job_run_hold() */
	int64_t doubt_until_us; /* monotonic: until when ends of replicas are uncertain (in_doubt); 0: none is */
	/* monotonic: when the job's limit passes, as computed by job_run_deadline_us(); 0: not computed yet */
	int64_t deadline_us;
	/* the row's running_us when deadline_us was computed: if it changes, the limit is computed again */
	int64_t deadline_of_us;
	/* Faults that were injected into the job: the stored ones first, then those that the next change stores. */
	struct fault_injection *injections;
	size_t injection_count, injections_stored;
	int64_t fault_at_us; /* monotonic: when fault rules are checked again for it; 0: at the next event */
	int64_t lost_at_us;  /* monotonic: since when replicas wait to be restarted; 0: none does */
};

/* Makes a run of the row, which it owns from now on. */
struct job_run *job_run_new(struct job *row);
void job_run_free(struct job_run *run);
DEFINE_AUTO(job_run, struct job_run *, job_run_free)

/* Reads plan and assignment of the row and makes the replicas in state OBSERVED_NOTHING, with the restarts and ends
 * that the journal has. A plan or an assignment that cannot be read becomes run->fault: the job fails. */
void job_run_unfold(struct job_run *run, const struct journal *journal);
/* Reads the assignment from the row, in place of an earlier one. If it cannot be read, that becomes run->fault. */
void job_run_assign(struct job_run *run);
/* Makes the replicas of the row's current attempt, with nothing observed. The network, the images and the port of an open
 * gateway are kept. */
void job_run_begin_attempt(struct job_run *run);
/* To be called when the replica's restart is stored: it begins again with nothing observed, under the same names. */
void replica_renew(struct job_run *run, struct replica_run *replica);
/* The job's state on the node; NULL: it has none there. Valid until the next job_run_join(). */
struct job_node *job_run_on(const struct job_run *run, const struct node *node);
/* Adds the node to the job's nodes, if it is new. Returns its index among them. */
unsigned job_run_join(struct job_run *run, struct node *node);
/* To be called when the job has given up its place: it is on no node then, like a job that was never admitted. */
void job_run_leave_nodes(struct job_run *run, struct node *first);
/* Whether a node of the job is lost. */
bool job_run_lacks_node(const struct job_run *run);
/* Whether the job waits in the queue for room: it was not admitted yet, or has given up its place on a lost node. */
bool job_run_waits(const struct job_run *run);
/* Whether the job does not wait for room, and has not given up its place. A job that is cancelled without a place neither
 * waits nor is placed. */
bool job_run_is_placed(const struct job_run *run);
/* The node that the replica's container is on. */
struct node *job_run_node_of(const struct job_run *run, const struct replica_run *replica);
/* To be called when the connection of the node's engine is lost: observed states are uncertain, and answers may be lost. */
void job_run_invalidate(struct job_run *run, struct job_node *on);
/* Whether a listing of the node's engine has arrived in the present observation. */
bool job_node_is_observed(const struct job_node *on);
/* As job_node_is_observed(), for all nodes of the job. */
bool job_run_is_observed(const struct job_run *run);
/* Postpones decisions to @until_us (monotonic), or to the end of an earlier pause if that is later. */
void job_run_hold(struct job_run *run, int64_t until_us);
/* Whether it is uncertain how a replica ended, and nothing else decides the job's outcome: decisions wait until it is
 * certain. */
bool job_run_doubts(const struct job_run *run);
/* The id of the job with the log that this job's lines go to: itself or, for a trial, the tuning job. */
int64_t job_run_owner(const struct job_run *run);
/* Whether some of the replica's output is not in the store yet. */
bool replica_is_unread(const struct replica_run *replica);
/* Whether the engine has, or had, a container for the replica. */
bool replica_is_made(const struct replica_run *replica);
/* Whether the job's outcome is stored and logged, and all its output can be read. Only containers that do not run are
 * left to be removed. */
bool job_run_is_over(const struct job_run *run);
/* The number of the job's network: the id of the job that it was made for (itself, or an earlier user of that network),
 * or job_network_of_attempt(). */
int64_t job_run_network(const struct job_run *run);
/* The number of the network of a job that was admitted again for @attempt; no other network has it. */
int64_t job_network_of_attempt(int64_t job, unsigned attempt);
/* A replica's address in the job's network, which must be READY. */
void job_run_address(const struct job_run *run, enum role role, unsigned index, char ret_address[16]);
struct replica_run *job_run_replica(struct job_run *run, enum role role, unsigned index);
/* Reports that the job runs otherwise than it was asked to: a line in its log, followed by @hint, and a deviation in
 * its report; both are stored with the next change. */
void job_run_differ(struct job_run *run, const char *code, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The instant (monotonic) at which a limit of the job passes; INT64_MAX: it has none. It is computed once from the
 * stored times and does not move when the wall clock jumps.
 * Choice: time in which the machine was suspended does not count, except across a restart of the daemon. */
int64_t job_run_deadline_us(struct job_run *run, int64_t wall_us, int64_t mono_us);
/* As job_run_deadline_us(), for a job without a run: @limit_us (0: none) after @from_us (wall). */
int64_t limit_deadline_us(int64_t from_us, int64_t limit_us, int64_t wall_us, int64_t mono_us);

/* Whether the replica was lost and is to be restarted alone, under the same names. The job must be running, some other
 * replica of it must live, and the replica's node must not be lost: on a lost node, a container may still use the
 * replica's address in the job's network.
 * Source: https://cloud.google.com/ai-platform/training/docs/understanding-training-service (VM restarts) */
bool job_run_restarts(const struct job_run *run, const struct replica_run *replica);
bool job_run_restarts_any(const struct job_run *run);

/* Whether the engine has started every replica, even if some have ended since. */
bool job_run_began(const struct job_run *run);

/* The outcome of the job, as the ends of its replicas decide it; the caller frees its message. */
struct job_outcome job_run_outcome(const struct job_run *run);
/* Whether the ends of the replicas decide the job's outcome. */
bool job_run_is_decided(const struct job_run *run);
