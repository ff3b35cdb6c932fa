/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_sight.h: whether the engine sees what is mounted here. */
#include "daemon/base/error.h"

/* Looks for the file system of @directory among the mounts of the process that serves the engine's socket: one that
 * runs in another container, or was started apart from others' mounts, has not got it, and one on another machine is
 * no process of this one at all. Where its mounts may not be looked at (who is not root), it is believed to see what
 * we see. UNAVAILABLE: it does not. */
enum status gcs_sight_check(const char *engine, const char *directory, struct error *err);
