/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "scheduler/scheduler_state.h"

struct happening *happening_new(enum happening_kind kind, int64_t job)
{
	struct happening *happening = calloc(1, sizeof(*happening));

	if (!happening)
		return NULL;
	happening->kind = kind;
	happening->job = job;
	return happening;
}

static void *array_copy(const void *from, size_t count, size_t size, bool *failed)
{
	void *copy;

	if (!count)
		return NULL;
	copy = calloc(count, size);
	if (copy)
		memcpy(copy, from, count * size);
	else
		*failed = true;
	return copy;
}

struct happening *happening_of_engine(const struct engine_event *event)
{
	struct happening *happening = happening_new(HAPPENED_ENGINE, event->job);
	struct engine_event *copy;
	bool failed = false;

	if (!happening)
		return NULL;
	copy = &happening->event;
	*copy = *event;
	copy->text = strdup(event->text ? event->text : "");
	copy->image = event->image ? strdup(event->image) : NULL;
	copy->replicas = array_copy(event->replicas, event->replica_count, sizeof(*event->replicas), &failed);
	copy->networks = array_copy(event->networks, event->network_count, sizeof(*event->networks), &failed);
	copy->host = event->host ? &happening->host : NULL;
	if (event->host && host_copy(event->host, &happening->host, NULL))
		failed = true;
	if (failed || !copy->text || (event->image && !copy->image)) {
		happening_free(happening);
		return NULL;
	}
	return happening;
}

void happening_free(struct happening *happening)
{
	free((void *)happening->event.text);
	free((void *)happening->event.image);
	free((void *)happening->event.replicas);
	free((void *)happening->event.networks);
	host_deinit(&happening->host);
	free(happening);
}

void scheduler_post(struct scheduler *scheduler, struct happening *happening)
{
	pthread_mutex_lock(&scheduler->mutex);
	scheduler->idle = scheduler->cleared = false;
	if (happening) {
		*scheduler->last = happening;
		scheduler->last = &happening->next;
	} else {
		log_event(LOG_ERROR, "happening-lost", "error=\"out of memory\"");
		scheduler->missed = true;
	}
	pthread_cond_broadcast(&scheduler->changed);
	pthread_mutex_unlock(&scheduler->mutex);
}

void happening_deliver(void *arg)
{
	struct happening *happening = arg;

	scheduler_post(happening->to, happening);
}
