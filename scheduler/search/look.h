/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/look.h: one look at a tuning job: a snapshot of its study, its trials and the jobs that run them, as
 * values; and what is kept between two looks. See tuner.h.
 *
 *   tuner.c           makes the snapshot: reads the store, reports of trials, and the suggester's answer
 *   search_decide.c   what is due
 *   search_execute.c  carries it out
 * parts of it, pure unless they say otherwise:
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

/* What is kept of a tuning job between two looks; all of it can be rebuilt. */
struct tuner {
	struct study *study;
	struct earlier_trials earlier;
	struct trial_metrics **metrics; /* index: the trial's number - 1; NULL: not read yet, or no longer needed */
	size_t metric_size;
	bool asked;                    /* a suggestion is being computed, or has arrived */
	struct suggestion *suggestion; /* the last suggestion that arrived; NULL: none */
	bool exhausted;                /* the space has no untried point left */
	int64_t read_at_us;            /* monotonic: when reports were last read; 0: never */
	/* Monotonic times, computed once because the wall clock may be set. */
	int64_t begun_us; /* when the job was created; may be negative */
	size_t best;      /* the number of the best trial at the last look; 0: unknown */
	int64_t best_us;  /* when the best trial ended */
};

/* One look at a tuning job. */
struct look {
	const struct reconciler *reconciler;
	const struct job_run *run;
	const struct decision_context *context;
	struct decision decision;  /* the decision that is being made */
	struct tuner *tuner;       /* NULL: its study cannot be read */
	struct error err;          /* why the look has failed */
	struct job *
		failure; /* the job of the trial that failed last, if too many trials have failed; else NULL */
	bool reported;   /* reports of running trials were just read */
	const struct study *study; /* NULL: it cannot be read */
	struct trial_list list;
	/* The trials in the library's form, the resumed jobs' trials first; made by look_fill() when needed. One block
	 * holds their values. */
	struct trial *all;
	size_t all_count;
	struct trial *trials; /* the job's own trials, within @all */
	double *values;
	unsigned open, completed, failed;
	unsigned
		lingering; /* trials with containers that may still exist: the job does not end before them */
	int64_t next_us;    /* monotonic: when time alone may require a step; 0: never */
};

/* Sets look->all and look->trials. Only for looks that need them, because it is slow with many trials. */
enum status look_fill(struct look *look, struct error *err);
/* Ends the look without a decision, because of an error. */
void look_fail(struct look *look, const char *event, struct error *err);
/* Requests the next look at @at_us (monotonic; 0: never) or earlier. */
void look_again(struct look *look, int64_t at_us);
/* Writes the error to the daemon's log, and leaves the job alone for a moment. */
void look_postpone(struct scheduler *scheduler, struct job_run *run, const char *event,
		   const struct error *err);
/* Drops the suggestion, whether it is being computed or has arrived. */
void tuner_suggestion_drop(struct tuner *tuner);
void tuner_free(struct tuner *tuner);
