/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_event.h: parses a line of the engine's stream of events. Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/engine.h"

enum docker_action {
	ACTION_OTHER,
	ACTION_START,
	ACTION_KILL, /* the engine sent a signal, of any number */
	ACTION_DIE,
	ACTION_DESTROY,
	ACTION_PAUSE,
	ACTION_UNPAUSE,
	ACTION_RENAME,
	ACTION_OOM /* the kernel's out-of-memory killer ended one of its processes */
};

/* An event of a container that is ours by its labels and its name: one line of GET /events. */
struct docker_event {
	enum docker_action action;
	char id[80];
	struct replica_status status; /* the replica's key; for pause and unpause also the member paused */
	uint64_t signals; /* KILL: the bit of the signal's number; all bits: the engine does not say which signal */
	/* The image has a label "signal". In events it replaces the engine's own attribute of that name, so signals
	 * is unknown. This does not matter for KILL, which always names the signal. */
	bool has_signal_label;
};
bool docker_event_read(const char *line, size_t length, struct docker_event *ret_event);
