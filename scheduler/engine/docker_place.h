/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_place.h: paths of this machine that containers are given, and whether the engine has them: to
 * a daemon in a container, or to an engine in a virtual machine, the same path is another place. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"

/* Each of @mounts, "/of/the/host:/in/the/container[:ro]", as the engine wants it told: one that its machine does not have
 * is refused then, where a bind ("Binds") would have it made, as an empty directory. NULL without memory. */
json_t *docker_mounts_make(const json_t *mounts);
/* The engine's words for that, of @size bytes, become ours, which say what helps. Others stay. */
void docker_place_explain(char *words, size_t size);
/* Asks the engine whether it has @directory, an absolute path, by a file that is made there for the moment. No container
 * comes of it, and no image is needed. Takes a second at most.
 *   @host      "unix:///var/run/docker.sock"
 * FAILED_PRECONDITION: it does not. An engine that cannot be asked, or answers something else, is taken to have it. */
enum status docker_place_check(const char *host, const char *directory, struct error *err);
