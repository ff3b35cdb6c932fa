/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_mounts.h: mounts of this machine's paths into containers, and whether the engine has these
 * paths. For a daemon in a container, or an engine in a virtual machine, the same path is another directory. */
#include <jansson.h>
#include <stdbool.h>

/* @mounts, each "/of/the/host:/in/the/container[:ro]", in the engine's form. With it the engine refuses a path that its
 * machine does not have; with the form "Binds" it would create an empty directory instead. NULL: an element has no
 * path. */
json_t *docker_mounts_make(const json_t *mounts);
/* Whether the engine's message about a refused create says so. */
bool docker_mount_is_missing(const char *words);
/* The body of a create that asks whether the engine's machine has @path. It names no image, so that the engine refuses it in
 * either case; docker_mount_is_missing() says which. The caller frees it. */
char *docker_mount_question(const char *path);
