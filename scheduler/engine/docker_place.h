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
/* As engine_kind.check_place. */
enum status docker_place_check(const char *url, const char *directory, struct error *err);
