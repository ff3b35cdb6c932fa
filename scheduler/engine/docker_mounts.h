/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_mounts.h: paths of this machine that containers are given, and whether the engine has them: to
 * a daemon in a container, or to an engine in a virtual machine, the same path is another place. */
#include <jansson.h>
#include <stdbool.h>

/* Each of @mounts, "/of/the/host:/in/the/container[:ro]", as the engine wants it told: one that its machine does not have
 * is refused then, where a bind ("Binds") would have it made, as an empty directory. NULL: one has no place. */
json_t *docker_mounts_make(const json_t *mounts);
/* Whether the engine's words of a refused create say that. */
bool docker_mount_is_missing(const char *words);
