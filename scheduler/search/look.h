/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/look.h: one look at a tuning job: what is seen of its study, its trials and the jobs that run them, as
 * values; and what is kept between two looks. See tuner.h.
 *
 *   tuner.c           what is seen: reads the store, reports of trials, and the suggester's answer
 *   search_decide.c   what is due
 *   search_execute.c  makes it true
 * of which, pure but where they say otherwise:
 *   tuner_state.c     the job's own states and its end
 *   new_trials.c      suggestions, and the trials that are made of them
 *   ended_trials.c    outcomes
 *   trial_curves.c    what trials have reported, kept between looks and over restarts; not pure
 *   trial_stops.c     early stopping
 *   study_end.c       what ends the search besides the number of its trials */
#include "scheduler/decision.h"
#include "scheduler/search/earlier_trials.h"
#include "scheduler/search/trial_metrics.h"
#include "scheduler/tuning/study.h"
#include "store/jobs/trials.h"

struct job_run;
struct reconciler;
struct scheduler;
struct suggestion;

/* What is kept between two looks; all of it can be made anew. */
struct tuner {
	struct study *study;
	struct earlier_trials earlier;
	struct trial_metrics **metrics; /* by number - 1; NULL: not read yet, or not any more */
	size_t metric_size;
	bool asked;                    /* a suggestion is being made, or came */
	struct suggestion *suggestion; /* that came; NULL: none */
	bool exhausted;                /* there is nothing left to try */
	int64_t read_at_us;            /* monotonic: when reports were read last; 0: never */
	/* Monotonic, reckoned once: the wall clock may be set meanwhile. */
	int64_t begun_us; /* when the job was created; may be negative */
	size_t best;      /* which trial was the best when it was asked last: its number; 0: it was not */
	int64_t best_us;  /* when that one ended */
};

/* One look at a tuning job. */
struct look {
	const struct reconciler *reconciler;
	const struct job_run *run;
	const struct decision_context *context;
	struct decision decision;  /* what is due */
	struct tuner *tuner;       /* NULL: its study cannot be read */
	struct error err;          /* why */
	struct job *failure;       /* that ran the trial that failed last, if too many have; else NULL */
	bool reported;             /* reports of those under way were just read */
	const struct study *study; /* NULL: it cannot be read */
	struct trial_list list;
	/* The same for the library, once it is needed, behind those of resumed jobs; their values in one block. */
	struct trial *all;
	size_t all_count;
	struct trial *trials; /* the job's own, within all */
	double *values;
	unsigned open, completed, failed;
	unsigned lingering; /* trials with containers that may still be there: the job does not end before them */
	int64_t next_us;    /* monotonic: when time alone may make something due; 0: never */
};

/* Fills all and trials. Only for looks that need them: with many trials it takes a while. */
enum status look_fill(struct look *look, struct error *err);
/* What is due cannot be decided now. */
void look_fail(struct look *look, const char *event, struct error *err);
/* There is another one at @at_us (monotonic; 0: never) at the latest. */
void look_again(struct look *look, int64_t at_us);
/* Tells the daemon's log, and lets the job rest for a moment. */
void look_postpone(struct scheduler *scheduler, struct job_run *run, const char *event,
		   const struct error *err);
/* Nothing is being suggested any more, nor was. */
void tuner_suggestion_drop(struct tuner *tuner);
void tuner_free(struct tuner *tuner);
