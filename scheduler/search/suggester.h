/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/suggester.h: the thread that computes the next suggestions of tuning jobs, so that the scheduler's does not.
 *
 * With hundreds of trials a suggestion takes tenths of a second. The caller gives a copy of all inputs, and comes back when it is
 * notified: later events change nothing, so the answer follows from the question alone, whenever it is asked. Suggestions are
 * made one after the other, in the order of asking; a tuning job asks for one at a time, so there are never more of them than
 * tuning jobs. Nothing is kept over a restart: it is asked anew. */
#include <stdatomic.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

/* study_suggest(), or what a test puts in its place. */
typedef enum status (*suggest_function)(const struct study *study, const struct trial *trials,
					size_t trial_count, size_t count, const atomic_bool *ended,
					double *const *ret_values, size_t *ret_count, struct error *err);

/* A question and, once it is made, the answer. Owns all it points to. */
struct suggestion {
	int64_t job;
	struct study *study;
	struct trial *trials; /* without measurements */
	double *trial_values; /* theirs, in one block */
	size_t trial_count;
	size_t wanted;
	unsigned first,
		known; /* the asker's: of the job's own trials, the first one's number, and how many had ended */

	enum status status; /* the answer's: with err, or */
	struct error err;
	double **values; /* for each of wanted; filled are */
	size_t count;

	atomic_bool ended; /* nobody waits for it any more */
	struct suggestion *next;
};

/* Takes @study; copies the trials. */
struct suggestion *suggestion_new(int64_t job, struct study *study, const struct trial *trials,
				  size_t trial_count, size_t wanted);
void suggestion_free(struct suggestion *suggestion);
DEFINE_AUTO(suggestion, struct suggestion *, suggestion_free)

struct suggester;

/* @told: that suggester_take() has an answer for @job; called on the suggester's thread. */
void suggester_new(suggest_function suggest, void (*reported)(void *arg, int64_t job), void *arg,
		   struct suggester **ret_suggester);
enum status suggester_start(struct suggester *suggester, struct error *err);
/* Takes @suggestion; never waits. Thread of this and of the next two: any. */
void suggester_ask(struct suggester *suggester, struct suggestion *suggestion);
/* The answer for a job, to be freed by the caller. NULL: there is none yet. */
struct suggestion *suggester_take(struct suggester *suggester, int64_t job);
/* Nobody waits for the job's any more, made or not. */
void suggester_forget(struct suggester *suggester, int64_t job);
/* Nothing further is begun, and of a batch no further member; harmless when repeated. Does not wait. */
void suggester_end(struct suggester *suggester);
/* Ends the thread: waits for the one trial that it thinks about, at most. */
void suggester_stop(struct suggester *suggester);
void suggester_free(struct suggester *suggester);
