/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/suggester.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

struct suggester {
	suggest_function suggest;
	void (*reported)(void *arg, int64_t job);
	void *arg;

	pthread_t thread;
	bool started;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct suggestion *asked, *made; /* the oldest first */
	struct suggestion *current;      /* the one that the thread makes now; in neither list */
	bool ending;
};

/* ---- one suggestion ---- */

static void values_make(struct suggestion *suggestion)
{
	suggestion->values = memory_calloc(suggestion->wanted + 1, sizeof(*suggestion->values));
	for (size_t i = 0; i < suggestion->wanted; i++)
		suggestion->values[i] = memory_calloc(suggestion->study->parameter_count + 1, sizeof(double));
}

static void trials_copy(struct suggestion *suggestion, const struct trial *trials)
{
	const size_t width = suggestion->study->parameter_count, count = suggestion->trial_count;

	suggestion->trials = memory_calloc(count + 1, sizeof(*suggestion->trials));
	suggestion->trial_values = memory_calloc(count * width + 1, sizeof(*suggestion->trial_values));
	for (size_t i = 0; i < count; i++) {
		struct trial *copy = &suggestion->trials[i];

		*copy = trials[i];
		copy->values = suggestion->trial_values + i * width;
		memcpy(copy->values, trials[i].values, width * sizeof(double));
		copy->measurements = NULL;
		copy->measurement_count = 0;
	}
}

struct suggestion *suggestion_new(int64_t job, struct study *study, const struct trial *trials,
				  size_t trial_count, size_t wanted)
{
	struct suggestion *suggestion = memory_calloc(1, sizeof(*suggestion));

	suggestion->job = job;
	suggestion->study = study;
	suggestion->trial_count = trial_count;
	suggestion->wanted = wanted;
	trials_copy(suggestion, trials);
	values_make(suggestion);
	return suggestion;
}

void suggestion_free(struct suggestion *suggestion)
{
	if (!suggestion)
		return;
	for (size_t i = 0; i < suggestion->wanted; i++)
		free(suggestion->values[i]);
	free(suggestion->values);
	free(suggestion->trials);
	free(suggestion->trial_values);
	study_free(suggestion->study);
	error_deinit(&suggestion->err);
	free(suggestion);
}

/* ---- lists ---- */

static void list_append(struct suggestion **list, struct suggestion *suggestion)
{
	while (*list)
		list = &(*list)->next;
	suggestion->next = NULL;
	*list = suggestion;
}

/* Removes the job's suggestion from the list; NULL: the list has none for the job. */
static struct suggestion *list_take(struct suggestion **list, int64_t job)
{
	struct suggestion *found;

	while (*list && (*list)->job != job)
		list = &(*list)->next;
	found = *list;
	if (found)
		*list = found->next;
	return found;
}

static void list_free(struct suggestion **list)
{
	while (*list) {
		struct suggestion *first = *list;

		*list = first->next;
		suggestion_free(first);
	}
}

/* ---- the thread ---- */

/* Computes the suggestion without the mutex: meanwhile other threads use only its flag @ended. */
static void suggestion_make(const struct suggester *suggester, struct suggestion *suggestion)
{
	suggestion->status = suggester->suggest(
		suggestion->study, suggestion->trials, suggestion->trial_count, suggestion->wanted,
		&suggestion->ended, suggestion->values, &suggestion->count, &suggestion->err);
}

/* Waits for the next request and returns it; NULL: the thread is to end. Called with the mutex locked. */
static struct suggestion *next_await(struct suggester *suggester)
{
	struct suggestion *next;

	while (!suggester->ending && !suggester->asked)
		pthread_cond_wait(&suggester->changed, &suggester->mutex);
	if (suggester->ending)
		return NULL;
	next = suggester->asked;
	suggester->asked = next->next;
	return next;
}

static void *suggester_main(void *arg)
{
	struct suggester *suggester = arg;

	pthread_mutex_lock(&suggester->mutex);
	while ((suggester->current = next_await(suggester))) {
		struct suggestion *suggestion = suggester->current;
		const int64_t job = suggestion->job;
		bool wanted;

		pthread_mutex_unlock(&suggester->mutex);
		suggestion_make(suggester, suggestion);
		pthread_mutex_lock(&suggester->mutex);
		suggester->current = NULL;
		wanted = !atomic_load(&suggestion->ended);
		if (wanted)
			list_append(&suggester->made, suggestion);
		pthread_mutex_unlock(&suggester->mutex);
		if (wanted)
			suggester->reported(suggester->arg, job);
		else
			suggestion_free(suggestion);
		pthread_mutex_lock(&suggester->mutex);
	}
	pthread_mutex_unlock(&suggester->mutex);
	return NULL;
}

/* ---- for callers ---- */

void suggester_new(suggest_function suggest, void (*reported)(void *arg, int64_t job), void *arg,
		   struct suggester **ret_suggester)
{
	struct suggester *suggester = memory_calloc(1, sizeof(*suggester));

	suggester->suggest = suggest;
	suggester->reported = reported;
	suggester->arg = arg;
	pthread_mutex_init(&suggester->mutex, NULL);
	pthread_cond_init(&suggester->changed, NULL);
	*ret_suggester = suggester;
}

enum status suggester_start(struct suggester *suggester, struct error *err)
{
	if (pthread_create(&suggester->thread, NULL, suggester_main, suggester))
		return error_set(err, STATUS_INTERNAL, NULL,
				 "cannot start the thread that suggests trials: "
				 "the limit of threads or memory is reached");
	suggester->started = true;
	return STATUS_OK;
}

void suggester_ask(struct suggester *suggester, struct suggestion *suggestion)
{
	pthread_mutex_lock(&suggester->mutex);
	list_append(&suggester->asked, suggestion);
	pthread_cond_signal(&suggester->changed);
	pthread_mutex_unlock(&suggester->mutex);
}

struct suggestion *suggester_take(struct suggester *suggester, int64_t job)
{
	struct suggestion *found;

	pthread_mutex_lock(&suggester->mutex);
	found = list_take(&suggester->made, job);
	pthread_mutex_unlock(&suggester->mutex);
	return found;
}

void suggester_forget(struct suggester *suggester, int64_t job)
{
	struct suggestion *asked, *made;

	pthread_mutex_lock(&suggester->mutex);
	asked = list_take(&suggester->asked, job);
	made = list_take(&suggester->made, job);
	if (suggester->current && suggester->current->job == job)
		atomic_store(&suggester->current->ended, true);
	pthread_mutex_unlock(&suggester->mutex);
	suggestion_free(asked);
	suggestion_free(made);
}

void suggester_end(struct suggester *suggester)
{
	pthread_mutex_lock(&suggester->mutex);
	suggester->ending = true;
	if (suggester->current)
		atomic_store(&suggester->current->ended, true);
	pthread_cond_signal(&suggester->changed);
	pthread_mutex_unlock(&suggester->mutex);
}

void suggester_stop(struct suggester *suggester)
{
	suggester_end(suggester);
	if (suggester->started)
		pthread_join(suggester->thread, NULL);
	suggester->started = false;
}

void suggester_free(struct suggester *suggester)
{
	if (!suggester)
		return;
	suggester_stop(suggester);
	list_free(&suggester->asked);
	list_free(&suggester->made);
	pthread_cond_destroy(&suggester->changed);
	pthread_mutex_destroy(&suggester->mutex);
	free(suggester);
}
