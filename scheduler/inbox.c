/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/scheduler_state.h"

struct inbox_event *inbox_event_new(enum inbox_event_kind kind, int64_t job)
{
	struct inbox_event *inbox_event = memory_calloc(1, sizeof(*inbox_event));

	inbox_event->kind = kind;
	inbox_event->job = job;
	return inbox_event;
}

static void *array_copy(const void *from, size_t count, size_t size)
{
	void *copy = count ? memory_calloc(count, size) : NULL;

	if (copy)
		memcpy(copy, from, count * size);
	return copy;
}

struct inbox_event *inbox_event_of_engine(const struct engine_event *event)
{
	struct inbox_event *inbox_event = inbox_event_new(INBOX_ENGINE, event->job);
	struct engine_event *copy = &inbox_event->event;

	*copy = *event;
	copy->text = memory_strdup(event->text ? event->text : "");
	copy->image = memory_strdup(event->image);
	copy->replicas = array_copy(event->replicas, event->replica_count, sizeof(*event->replicas));
	copy->networks = array_copy(event->networks, event->network_count, sizeof(*event->networks));
	copy->devices = json_deep_copy(event->devices);
	copy->host = event->host ? &inbox_event->host : NULL;
	if (event->host)
		inbox_event->host = host_copy(event->host);
	return inbox_event;
}

void inbox_event_free(struct inbox_event *inbox_event)
{
	free((void *)inbox_event->event.text);
	free((void *)inbox_event->event.image);
	free((void *)inbox_event->event.replicas);
	free((void *)inbox_event->event.networks);
	json_decref((json_t *)inbox_event->event.devices);
	free(inbox_event->detail);
	host_deinit(&inbox_event->host);
	free(inbox_event);
}

void scheduler_post(struct scheduler *scheduler, struct inbox_event *inbox_event)
{
	pthread_mutex_lock(&scheduler->mutex);
	scheduler->idle = scheduler->cleared = false;
	*scheduler->last = inbox_event;
	scheduler->last = &inbox_event->next;
	pthread_cond_broadcast(&scheduler->changed);
	pthread_mutex_unlock(&scheduler->mutex);
}

void inbox_event_deliver(void *arg)
{
	struct inbox_event *inbox_event = arg;

	scheduler_post(inbox_event->to, inbox_event);
}
