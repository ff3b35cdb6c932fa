/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_turns.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_caller.h"
#include "daemon/gcs/gcs_wait.h"

enum { SMALL_BYTES = 4096, LOOK_S = 1 };

struct gcs_turns {
	pthread_mutex_t lock;
	pthread_cond_t changed;      /* a call began to wait, or gcs_turns_stop() was called */
	uint64_t running[GCS_TURNS]; /* containers with a running call, one entry for each call */
	size_t running_count;
	struct gcs_held *first, **last;
	uint64_t last_number;
	bool is_stopped;
};

struct gcs_turns *gcs_turns_new(void)
{
	struct gcs_turns *turns = memory_calloc(1, sizeof(*turns));
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&turns->lock, NULL);
	pthread_cond_init(&turns->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	turns->last = &turns->first;
	return turns;
}

void gcs_turns_free(struct gcs_turns *turns)
{
	if (!turns)
		return;
	while (turns->first) {
		struct gcs_held *held = turns->first;

		turns->first = held->next;
		free(held);
	}
	pthread_cond_destroy(&turns->changed);
	pthread_mutex_destroy(&turns->lock);
	free(turns);
}

/* ---- call with the lock held ---- */

static bool may_begin(const struct gcs_turns *turns, uint64_t node)
{
	const size_t free_count = GCS_TURNS - turns->running_count;
	size_t own = 0;

	for (size_t i = 0; i < turns->running_count; i++)
		own += turns->running[i] == node;
	return own < free_count;
}

static bool may_be_kept(const struct gcs_turns *turns, uint64_t node, size_t length)
{
	size_t own = length, all = 0;

	if (length <= SMALL_BYTES)
		return true;
	for (const struct gcs_held *held = turns->first; held; held = held->next) {
		own += held->node == node ? held->length : 0;
		all += held->length;
	}
	return own + all <= GCS_HELD_BYTES;
}

static struct gcs_held *unlink_at(struct gcs_turns *turns, struct gcs_held **at)
{
	struct gcs_held *held = *at;

	*at = held->next;
	if (!*at)
		turns->last = at;
	return held;
}

/* ---- call without the lock ---- */

static struct gcs_held *held_new(uint64_t node, pid_t caller, const void *bytes, size_t length)
{
	struct gcs_held *held = malloc(sizeof(*held) + length);

	if (!held)
		return NULL;
	*held = (struct gcs_held){
		.node = node, .caller = caller, .since_us = clock_mono_us(&system_clock), .length = length
	};
	memcpy(held->bytes, bytes, length);
	return held;
}

enum gcs_turn gcs_turns_take(struct gcs_turns *turns, uint64_t node, pid_t caller, const void *bytes,
			     size_t length)
{
	enum gcs_turn turn = GCS_TURN_NEVER;
	struct gcs_held *held;

	pthread_mutex_lock(&turns->lock);
	if (may_begin(turns, node)) {
		turns->running[turns->running_count++] = node;
		turn = GCS_TURN_NOW;
	} else if (may_be_kept(turns, node, length) && (held = held_new(node, caller, bytes, length))) {
		held->number = ++turns->last_number;
		*turns->last = held;
		turns->last = &held->next;
		turn = GCS_TURN_LATER;
		pthread_cond_signal(&turns->changed);
	}
	pthread_mutex_unlock(&turns->lock);
	return turn;
}

struct gcs_held *gcs_turns_pass(struct gcs_turns *turns, uint64_t node)
{
	struct gcs_held *next = NULL;
	size_t i = 0;

	pthread_mutex_lock(&turns->lock);
	while (turns->running[i] != node)
		i++;
	turns->running[i] = turns->running[--turns->running_count];
	for (struct gcs_held **at = &turns->first; *at && !next; at = &(*at)->next)
		if (may_begin(turns, (*at)->node)) {
			next = unlink_at(turns, at);
			turns->running[turns->running_count++] = next->node;
			break;
		}
	pthread_mutex_unlock(&turns->lock);
	return next;
}

bool gcs_turns_wait(struct gcs_turns *turns)
{
	struct timespec until;
	bool goes_on;

	pthread_mutex_lock(&turns->lock);
	while (!turns->first && !turns->is_stopped)
		pthread_cond_wait(&turns->changed, &turns->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOOK_S;
	while (!turns->is_stopped && pthread_cond_timedwait(&turns->changed, &turns->lock, &until) == 0)
		;
	goes_on = !turns->is_stopped;
	pthread_mutex_unlock(&turns->lock);
	return goes_on;
}

/* Copy of a waiting call, to check its process without the lock. */
struct glance {
	uint64_t number;
	pid_t caller;
	int64_t since_us;
};

static struct glance *glances_take(struct gcs_turns *turns, size_t *ret_count)
{
	struct glance *glances;
	size_t count = 0;

	pthread_mutex_lock(&turns->lock);
	for (const struct gcs_held *held = turns->first; held; held = held->next)
		count++;
	glances = memory_calloc(count, sizeof(*glances));
	*ret_count = count;
	count = 0;
	for (const struct gcs_held *held = turns->first; held; held = held->next)
		glances[count++] = (struct glance){ held->number, held->caller, held->since_us };
	pthread_mutex_unlock(&turns->lock);
	return glances;
}

/* True if no process needs the answer: the process was killed, or has been exiting for longer than GCS_ENDING_S. */
static bool is_abandoned(const struct glance *glance)
{
	const int64_t lasted_us = clock_mono_us(&system_clock) - glance->since_us;

	return gcs_caller_is_killed(glance->caller) ||
	       (lasted_us > GCS_ENDING_S * INT64_C(1000000) && gcs_caller_is_ending(glance->caller));
}

struct gcs_held *gcs_turns_abandoned(struct gcs_turns *turns)
{
	size_t count, kept = 0, i = 0;
	struct glance *glances = glances_take(turns, &count);
	struct gcs_held *abandoned = NULL;

	for (size_t j = 0; j < count; j++)
		if (is_abandoned(&glances[j]))
			glances[kept++] = glances[j];
	pthread_mutex_lock(&turns->lock);
	for (struct gcs_held **at = &turns->first; *at && i < kept;) {
		while (i < kept && glances[i].number < (*at)->number)
			i++;
		if (i < kept && glances[i].number == (*at)->number) {
			struct gcs_held *held = unlink_at(turns, at);

			held->next = abandoned;
			abandoned = held;
		} else {
			at = &(*at)->next;
		}
	}
	pthread_mutex_unlock(&turns->lock);
	free(glances);
	return abandoned;
}

void gcs_turns_stop(struct gcs_turns *turns)
{
	pthread_mutex_lock(&turns->lock);
	turns->is_stopped = true;
	pthread_cond_broadcast(&turns->changed);
	pthread_mutex_unlock(&turns->lock);
}
