/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_history.h: which replicas certainly ended by themselves, by the engine's memory of events.
 *
 * An engine remembers its last events (dockerd: 256) and forgets them when it ends. If it remembers the start and the
 * end of a container, and no signal between them, then it ran all that time and the program ended by itself. An engine
 * that starts again without live-restore signals the containers that it finds before it ends them (observed with
 * 20.10). Pure.
 * Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/docker_json.h"

/* More than dockerd remembers, even if its events carry the labels of images. */
enum { DOCKER_HISTORY_MAX = 16 << 20 };

/* The path to request all events that the engine remembers up to @until_ns, by its own clock. */
void history_path(const char *instance, int64_t until_ns, char path[DOCKER_PATH_SIZE + 64]);
/* Marks those of @replicas that have their end among @events, one event per line, and those that ran out of memory. */
void history_read(const char *events, size_t length, struct replica_status *replicas, size_t count);

/* Whether one of the signals may have ended a container: SIGTERM and SIGKILL, after which a program may end with any
 * status, or the signal that its exit status names. After any other signal the program has ended by itself. */
bool docker_signals_end(uint64_t signals, int exit_code);
