/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_acts.h: the decisions of one look about a tuning job's trials, as a value. They are executed
 * after the change of the job itself is stored (search_execute.h). Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/notes.h"
#include "store/jobs/trials.h"

struct suggestion;

enum trial_act_kind {
	TRIAL_ENDS,    /* store its outcome, with its measurements and log lines */
	TRIAL_STOPS,   /* stop the trial early */
	TRIAL_CANCELS, /* cancel the trial, because its job is cancelled */
	TRIAL_CLEARS,  /* remove its directory of reports */
};

struct trial_act {
	enum trial_act_kind kind;
	unsigned number;
	int64_t run;                /* the job that runs it */
	enum trial_outcome outcome; /* ENDS */
	int64_t final_step;         /* ENDS */
	char *final, *curve;        /* ENDS; NULL: it has no measurements */
	struct notes says;          /* ENDS, STOPS */
};

struct trial_acts {
	struct trial_act *items;
	size_t count;
	struct suggestion *asks; /* a request to the suggester; NULL: none */
	bool starts;             /* the suggestion that has arrived becomes trials */
	bool forgets;            /* drop the suggestion */
	size_t best;             /* the number of the best trial now; 0: not determined */
	int64_t best_us;         /* monotonic: when that trial ended */
	const char *failed; /* event name for the daemon's log if the decision failed; NULL: it did not */
	struct error err;
};

struct trial_act *trial_act_add(struct trial_acts *acts, enum trial_act_kind kind,
				const struct stored_trial *stored);
bool trial_acts_is_empty(const struct trial_acts *acts);
void trial_acts_deinit(struct trial_acts *acts);
