/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_acts.h: what is decided of a tuning job's trials at one look, as a value. It is executed after the
 * change of the job itself is stored (search_execute.h). Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/notes.h"
#include "store/jobs/trials.h"

struct suggestion;

enum trial_act_kind {
	TRIAL_ENDS,    /* its outcome is stored, with what it measured and with the lines that tell of it */
	TRIAL_STOPS,   /* early */
	TRIAL_CANCELS, /* with its job */
	TRIAL_CLEARS,  /* its directory of reports goes */
};

struct trial_act {
	enum trial_act_kind kind;
	unsigned number;
	int64_t run;                /* the job that runs it */
	enum trial_outcome outcome; /* ENDS */
	char *final, *curve;        /* ENDS; NULL: nothing was measured */
	struct notes says;          /* ENDS, STOPS */
};

struct trial_acts {
	struct trial_act *items;
	size_t count;
	struct suggestion *asks; /* a question for the suggester; NULL: none */
	bool starts;             /* the suggestion that came becomes trials */
	bool forgets;            /* what is being suggested, or was, is not wanted */
	size_t best;             /* which trial is the best now, by its number; 0: it was not asked */
	int64_t best_us;         /* monotonic: when that one ended */
	const char *failed;      /* what could not be decided, for the daemon's log, and why; NULL: all was */
	struct error err;
};

struct trial_act *trial_act_add(struct trial_acts *acts, enum trial_act_kind kind,
				const struct stored_trial *stored);
bool trial_acts_is_empty(const struct trial_acts *acts);
void trial_acts_deinit(struct trial_acts *acts);
