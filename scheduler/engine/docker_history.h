/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_history.h: which ends of replicas an engine was there to see.
 *
 * An engine remembers its last events (dockerd: 256), and forgets them when it ends. One that remembers the start of a
 * container and its end, and between them no signal to it, has lived all that time: the program ended by itself. An engine
 * that comes back without live-restore signals the containers that it finds before it ends them (seen of 20.10). Pure.
 * Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/docker_json.h"

/* More than dockerd remembers, with the labels of images that its events carry. */
enum { DOCKER_HISTORY_MAX = 16 << 20 };

/* What the engine is asked for all that it remembers up to @until_ns, by its own clock. */
void history_path(const char *instance, int64_t until_ns, char path[DOCKER_PATH_SIZE + 64]);
/* Marks those of @replicas that @events, one a line, saw end. */
void history_read(const char *events, size_t length, struct replica_status *replicas, size_t count);

/* Whether one of the signals that were sent may have ended a container: SIGTERM and SIGKILL, which end programs with any status,
 * or the signal of its exit status. After another signal a program has ended by itself. */
bool docker_signals_end(uint64_t signals, int exit_code);
