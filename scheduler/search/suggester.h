/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/suggester.h: the thread that computes the suggestions of tuning jobs, so that they do not block the
 * scheduler's thread.
 *
 * With hundreds of trials a suggestion takes tenths of a second. The caller passes a copy of all inputs, and fetches
 * the answer when it is notified. Later events do not change it, so the answer depends on the inputs alone. Suggestions
 * are computed one after the other, in the order of the requests; a tuning job requests one at a time, so there are
 * never more requests than tuning jobs. Nothing is kept over a restart: requests are made again. */
#include <stdatomic.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

/* study_suggest(), or a replacement in tests. */
typedef enum status (*suggest_function)(const struct study *study, const struct trial *trials,
					size_t trial_count, size_t count, const atomic_bool *ended,
					double *const *ret_values, size_t *ret_count, struct error *err);

/* A request and, once it is computed, its answer. Owns all it points to. */
struct suggestion {
	int64_t job;
	struct study *study;
	struct trial *trials; /* without measurements */
	double *trial_values; /* the values of all trials, in one block */
	size_t trial_count;
	size_t wanted;
	unsigned first,
		known; /* for the caller: the number of the first of the job's own trials, and how many had ended */

	enum status status; /* the answer: OK, or the error in @err */
	struct error err;
	double **values; /* @wanted arrays, of which the first @count are set */
	size_t count;

	atomic_bool ended; /* the answer is no longer needed */
	struct suggestion *next;
};

/* Takes ownership of @study; copies the trials. */
struct suggestion *suggestion_new(int64_t job, struct study *study, const struct trial *trials,
				  size_t trial_count, size_t wanted);
void suggestion_free(struct suggestion *suggestion);
DEFINE_AUTO(suggestion, struct suggestion *, suggestion_free)

struct suggester;

/* Starts the suggester. @reported: called on the suggester's thread when suggester_take() has an answer for @job. */
void suggester_new(suggest_function suggest, void (*reported)(void *arg, int64_t job), void *arg,
		   struct suggester **ret_suggester);
enum status suggester_start(struct suggester *suggester, struct error *err);
/* Takes ownership of @suggestion; does not wait. Thread of this function and the next two: any. */
void suggester_ask(struct suggester *suggester, struct suggestion *suggestion);
/* The answer for a job, which the caller frees. NULL: there is none yet. */
struct suggestion *suggester_take(struct suggester *suggester, int64_t job);
/* Drops the job's request, or the answer to it. */
void suggester_forget(struct suggester *suggester, int64_t job);
/* Starts no further suggestion, nor a further member of a batch; harmless when repeated. Does not wait. */
void suggester_end(struct suggester *suggester);
/* Ends the thread: waits at most for the suggestion of one trial. */
void suggester_stop(struct suggester *suggester);
void suggester_free(struct suggester *suggester);
