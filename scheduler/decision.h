/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/decision.h: what is decided of one job at one moment, as a value: the change of its row with the journal and the
 * lines that tell of it, which are one commit, and what is asked of the engine once that is stored (execute.h). */
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

/* What is known beside the job itself when something is decided of it. */
struct decision_context {
	const struct reconciler *reconciler; /* its settings */
	int64_t wall_us, mono_us;
	const char *engine_away; /* the engine's words while it is away; NULL: it is not */
	unsigned engine_loss;    /* which of its losses that is, from 1 */
};

struct decision {
	struct job_run *run;           /* filled by decisions_add() */
	bool stores;                   /* the change is to be made, even if only lines go with it */
	struct assignment *assignment; /* that the job is let in with; NULL: it is not */
	bool explains; /* its errorMessage ends with what @culprit wrote to stderr, which is read before the commit */
	const struct replica_run *culprit; /* of the run; NULL: none */
	struct job_change change;          /* numbers; its texts and lists are these: */
	char *error_message, *outcome_message;
	struct notes says;
	struct journal_row *journal;
	size_t journal_count;
	struct lease *leases;
	size_t lease_count;
	json_t *reported; /* by a trial, for its siblings too: deviations_unreported(); NULL: nothing */
	enum shortage logged_wait; /* what the lines say that the job waits for, */
	int64_t logged_wait_us;    /* monotonic: and when they do; 0: they do not */
	unsigned logged_loss;      /* the loss of the engine that the lines tell of; 0: none */
	struct trial_acts trials; /* of a tuning job: what becomes of its trials */
	struct order *orders;
	size_t order_count;
	int64_t hold_until_us; /* monotonic: nothing is decided before that, once this is stored; 0: at once */
	int64_t wake_at_us;    /* monotonic: when to decide again if nothing happens; INT64_MAX: never */
};

/* The row goes to @to, or stays in the state that it is in. */
void decision_change(struct decision *decision, const struct job_run *run, enum job_state to);
void decision_order(struct decision *decision, enum order_verb verb, unsigned of);
/* Why the change is made: a row of the job's journal. */
void decision_note(struct decision *decision, const struct journal_row *row);
bool decision_is_empty(const struct decision *decision);
void decision_deinit(struct decision *decision);
