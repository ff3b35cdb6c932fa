/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_visibility.h: whether the engine can see this process's mounts. */
#include "daemon/base/error.h"

/* Looks for the file system of @directory among the mounts of the process that serves the engine's socket. An engine in
 * another container or mount namespace does not have it, and an engine on another machine is not a process of this one.
 * Without root, the engine's mounts may be unreadable: then it is assumed to see the same mounts as this process.
 * UNAVAILABLE: the engine does not see it. */
enum status gcs_visibility_check(const char *engine, const char *directory, struct error *err);
