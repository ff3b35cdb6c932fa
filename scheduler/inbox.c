/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/scheduler_state.h"

struct happening *happening_new(enum happening_kind kind, int64_t job)
{
	struct happening *happening = memory_calloc(1, sizeof(*happening));

	happening->kind = kind;
	happening->job = job;
	return happening;
}

static void *array_copy(const void *from, size_t count, size_t size)
{
	void *copy = count ? memory_calloc(count, size) : NULL;

	if (copy)
		memcpy(copy, from, count * size);
	return copy;
}

struct happening *happening_of_engine(const struct engine_event *event)
{
	struct happening *happening = happening_new(HAPPENED_ENGINE, event->job);
	struct engine_event *copy = &happening->event;

	*copy = *event;
	copy->text = memory_strdup(event->text ? event->text : "");
	copy->image = memory_strdup(event->image);
	copy->replicas = array_copy(event->replicas, event->replica_count, sizeof(*event->replicas));
	copy->networks = array_copy(event->networks, event->network_count, sizeof(*event->networks));
	copy->host = event->host ? &happening->host : NULL;
	if (event->host)
		host_copy(event->host, &happening->host, NULL);
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
	*scheduler->last = happening;
	scheduler->last = &happening->next;
	pthread_cond_broadcast(&scheduler->changed);
	pthread_mutex_unlock(&scheduler->mutex);
}

void happening_deliver(void *arg)
{
	struct happening *happening = arg;

	scheduler_post(happening->to, happening);
}
