/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_mounts.h: mounts of this machine's paths into containers, and whether the engine has these
 * paths. For a daemon in a container, or an engine in a virtual machine, the same path is another directory. */
#include <jansson.h>
#include <stdbool.h>

/* Converts @mounts, each "/of/the/host:/in/the/container[:ro]", to the engine's form "Mounts". With this form the
 * engine refuses a path that its machine does not have; with the form "Binds" it would create an empty directory
 * instead. NULL: an element is not of this form. */
json_t *docker_mounts_make(const json_t *mounts);
/* Whether @words, the engine's message about a refused create, says that a mount's path is missing. */
bool docker_mount_is_missing(const char *words);
/* The body of a create request that tests whether the engine's machine has @path. It names no image, so the engine
 * always refuses it; docker_mount_is_missing() shows whether the path is the reason. The caller frees it. */
char *docker_mount_question(const char *path);
