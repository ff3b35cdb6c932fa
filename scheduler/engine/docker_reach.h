/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reach.h: whether a process listens at the engine's socket, for the words of the program's own. */
#include "daemon/base/error.h"

/* Connects, and waits for nothing else: whether an engine answers there shows later.
 *   @host      "unix:///var/run/docker.sock"
 * UNAVAILABLE: not there, not running, or this user may not use it; the text says which, and what helps. */
enum status docker_reach(const char *host, struct error *err);
