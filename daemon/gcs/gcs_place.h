/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_place.h: STATE/gcs, where the file system is mounted (gcs_mount.h), and how it is left.
 * Thread: any; of two who do this at a time, one does it. */
#include <stdbool.h>

/* Whoever holds it serves the place. */
#define GCS_LOCK "gcs.lock"

/* Takes the newest mount away from there; whoever uses it keeps it. */
void gcs_place_leave(const char *place);
/* Takes away what is mounted there, which nobody serves. False: a dead mount stays. */
bool gcs_place_clear(const char *place);
/* Whether something is mounted there, dead or not. */
bool gcs_place_is_mounted(const char *state_dir);

/* Takes away what processes that were killed have left: the mount and the place. Nothing while one serves it.
 * False: something is mounted there still. */
bool gcs_place_sweep(const char *state_dir);
