/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_history.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/engine/docker_event.h"

/* The events of a container that the engine remembers, since its last start. */
struct past {
	bool started;
	uint64_t signals; /* bit mask as in struct docker_event */
};

void history_path(const char *instance, int64_t until_ns, char path[DOCKER_PATH_SIZE + 64])
{
	char filter[DOCKER_PATH_SIZE];

	docker_label_filter(instance, NULL, filter);
	snprintf(path, DOCKER_PATH_SIZE + 64, "/events?since=1&until=%" PRId64 ".%09" PRId64 "&filters=%s",
		 until_ns / 1000000000, until_ns % 1000000000, filter);
}

bool docker_signals_end(uint64_t signals, int exit_code)
{
	const int by = exit_code - 128; /* the signal that ended the program: shells and engines report 128 + the
					 * signal's number */

	return (signals & (UINT64_C(1) << SIGTERM | UINT64_C(1) << SIGKILL)) ||
	       (by > 0 && by < 64 && (signals >> by & 1));
}

static void past_note(struct past *past, struct replica_status *replica, const struct docker_event *event)
{
	if (event->action == ACTION_START)
		*past = (struct past){ .started = true };
	else if (event->action == ACTION_KILL)
		past->signals |= event->signals;
	if (replica->observed != REPLICA_EXITED)
		return;
	if (event->action == ACTION_OOM)
		replica->out_of_memory = true;
	if (event->action != ACTION_DIE)
		return;
	if (past->signals && event->has_signal_label)
		past->signals = UINT64_MAX;
	replica->signalled = docker_signals_end(past->signals, replica->exit_code);
	replica->witnessed = past->started && !replica->signalled;
}

static void event_note(const struct docker_event *event, struct past *pasts, struct replica_status *replicas,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (docker_key_equal(&replicas[i].key, &event->status.key))
			past_note(&pasts[i], &replicas[i], event);
}

void history_read(const char *events, size_t length, struct replica_status *replicas, size_t count)
{
	struct past *pasts = memory_calloc(count ? count : 1, sizeof(*pasts));

	while (length > 0) {
		const char *newline = memchr(events, '\n', length);
		const size_t line = newline ? (size_t)(newline - events) : length;
		const size_t taken = line + (newline != NULL);
		struct docker_event event;

		if (docker_event_read(events, line, &event))
			event_note(&event, pasts, replicas, count);
		events += taken;
		length -= taken;
	}
	free(pasts);
}
