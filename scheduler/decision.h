/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/decision.h: one decision about one job, as a value. The change of its row, the journal rows and the log
 * lines are one commit; the orders to the engine are given after that commit (execute.h). */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/notes.h"
#include "scheduler/order.h"
#include "scheduler/plan/placement.h"
#include "scheduler/search/trial_acts.h"
#include "store/jobs/jobs.h"

struct assignment;
struct job_run;
struct journal_row;
struct lease;
struct reconciler;
struct replica_run;

/* The input of a decision, besides the job itself. */
struct decision_context {
	const struct reconciler *reconciler; /* its settings */
	int64_t wall_us, mono_us;
	const char *engine_away; /* the engine's error text while it is unreachable; NULL: it is reachable */
	const char *lost_node;   /* the node with the lost engine; NULL: the only node, or all nodes */
	unsigned engine_loss;    /* how often the connection to the engine was lost since the daemon began */
	bool awaits_devices; /* not all of its GPUs are this daemon's now (device_claims.h): no container is made or started */
};

struct decision {
	struct job_run *run;           /* set by decisions_add() */
	bool stores;                   /* true: there is something to store, at least log lines */
	/* the resources of an admitted job; NULL: the job is not admitted */
	struct assignment *assignment;
	/* the errorMessage ends with the last stderr lines of @culprit, which are read before the commit */
	bool explains;
	const struct replica_run *culprit; /* a replica of the run; NULL: none */
	struct job_change change;          /* numbers only; its texts and lists are in the members below */
	char *error_message, *outcome_message;
	struct notes says;
	struct journal_row *journal;
	size_t journal_count;
	struct lease *leases;
	size_t lease_count;
	/* deviations newly reported by a trial, which its siblings then do not repeat: deviations_unreported(); NULL:
	 * none */
	json_t *reported;
	/* the reason why the job waits, according to the lines of this decision */
	enum shortage logged_wait;
	int64_t logged_wait_us;    /* monotonic: when they were written; 0: this decision has no such lines */
	unsigned logged_loss;      /* number of the loss of the engine that the lines report (engine_loss); 0: none */
	struct trial_acts trials;  /* for a tuning job: changes of its trials */
	struct order *orders;
	size_t order_count;
	/* monotonic: no further decision before this instant, once this one is stored; 0: no pause */
	int64_t hold_until_us;
	int64_t wake_at_us; /* monotonic: when to decide again if no event comes; INT64_MAX: never */
};

/* Decides that the row goes to state @to; if that is its present state, it stays in it. */
void decision_change(struct decision *decision, const struct job_run *run, enum job_state to);
/* Adds an order; @of: as in struct order. Its other members are 0. */
void decision_order(struct decision *decision, enum order_verb verb, unsigned of);
/* Adds a row to the job's journal: the reason of the change. */
void decision_note(struct decision *decision, const struct journal_row *row);
bool decision_is_empty(const struct decision *decision);
void decision_deinit(struct decision *decision);
