/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/tuner_look.h: what the files of the tuner share: one look at a tuning job. See tuner.h.
 *
 *   tuner.c           what is due
 *   tuner_state.c     the job's own states and its end
 *   new_trials.c      suggestions, and the trials that are made of them
 *   ended_trials.c    outcomes
 *   trial_curves.c    what trials have reported, kept between looks and over restarts
 *   trial_stops.c     early stopping
 *   study_end.c       what ends the search besides the number of its trials */
#include "scheduler/scheduler_state.h"
#include "scheduler/search/earlier_trials.h"
#include "scheduler/search/trial_metrics.h"
#include "scheduler/tuning/study.h"
#include "store/jobs/trials.h"

/* What is kept between two looks; all of it can be made anew. */
struct tuner {
	struct study *study;
	struct earlier_trials earlier;
	struct trial_metrics **metrics; /* by number - 1; NULL: not read yet, or not any more */
	size_t metric_size;
	bool asked;         /* a suggestion is being made */
	bool exhausted;     /* there is nothing left to try */
	int64_t read_at_us; /* monotonic: when reports were read last; 0: never */
	/* Monotonic, reckoned once: the wall clock may be set meanwhile. */
	int64_t begun_us; /* when the job was created; may be negative */
	size_t best;      /* which trial was the best when it was asked last: its number; 0: it was not */
	int64_t best_us;  /* when that one ended */
};

/* One look at a tuning job. */
struct look {
	struct scheduler *scheduler;
	struct reconciler *reconciler;
	struct job_run *run;
	struct tuner *tuner;
	const struct study *study; /* NULL: it cannot be read */
	struct trial_list list;
	/* The same for the library, once it is needed, behind those of resumed jobs; their values in one block. */
	struct trial *all;
	size_t all_count;
	struct trial *trials; /* the job's own, within all */
	double *values;
	unsigned open, completed, failed;
	unsigned lingering; /* whose containers may still be there: the job does not end before */
	int64_t next_us;    /* monotonic: when time alone may end the search; 0: never */
};

/* Fills all and trials. Only for looks that need them: with many trials it takes a while. tuner.c */
enum status look_fill(struct look *look, struct error *err);
/* Tells the daemon's log, and lets the job rest for a moment. tuner.c */
void look_postpone(struct look *look, const char *event, const struct error *err);

/* As its trials have come to: true when it has to be stored first. tuner_state.c */
bool state_follow(struct look *look);
bool too_many_failed(const struct look *look);
void job_fail(struct look *look);
void job_fault(struct look *look, struct error *err);
void job_succeed(struct look *look);
/* Cancels the trials under way. */
void open_cancel(struct look *look);
/* The steps of a job whose trials have ended. */
void job_end(struct look *look);

/* How many trials there may be besides those that there are. new_trials.c */
size_t trials_wanted(struct look *look);
/* Has @wanted ones suggested; stores them, with the jobs that run them, once they are. */
void trials_begin(struct look *look, size_t wanted);
/* What is being suggested is not wanted any more. */
void suggestion_forget(struct look *look);

/* Stores how trials have ended that are not open any more: true when there were some. ended_trials.c */
bool ended_take(struct look *look);

/* What stored curves say, for a tuner that looks for the first time. trial_curves.c */
enum status curves_load(struct tuner *tuner, const struct reconciler *reconciler, const struct job_run *run,
			struct error *err);
/* The trial's own; NULL when memory ran out. */
struct trial_metrics *curve_of(struct look *look, const struct stored_trial *stored);
/* The trial has ended and its curve is stored: only what others may be compared with stays. */
void curve_settle(struct look *look, const struct stored_trial *stored);
/* Reads what trials under way have reported, and stores it. */
enum status curves_read(struct look *look, struct error *err);

/* Stops those that are not worth going on with, now and then. trial_stops.c */
void running_watch(struct look *look);
/* The search is over: so are those under way. */
void open_interrupt(struct look *look);

/* Reckons since when the limits count. study_end.c */
void study_begin(struct tuner *tuner, const struct clock *clock, int64_t created_us);
/* How many more trials the plan's limits let there be, and in look->next_us until when that holds; where they say so, what
 * runs is stopped. Where it cannot be told now, the job rests for a moment. study_end.c */
size_t study_room(struct look *look);
