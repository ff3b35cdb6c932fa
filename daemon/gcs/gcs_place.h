/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_place.h: STATE/mount/gcs, where the file system is mounted (gcs_mount.h), and how it is left.
 * Thread: any; of two who do this at a time, one does it. */
#include <stdbool.h>

/* In the state directory. The file system itself refuses nobody, for a job's programs are of any user: who may come to
 * it is said by the directory above, which is its owner's alone. */
#define GCS_ABOVE "mount"
#define GCS_MOUNT GCS_ABOVE "/gcs"

/* Whoever holds it serves the place. */
#define GCS_LOCK "gcs.lock"

/* Takes the newest mount away from there; whoever uses it keeps it. */
void gcs_place_leave(const char *place);
/* Takes away what is mounted there, which nobody serves. False: a dead mount stays. */
bool gcs_place_clear(const char *place);
/* Removes the directory where nothing is mounted any more, and the one above it. */
void gcs_place_remove(const char *place);
/* Whether something is mounted there, dead or not. */
bool gcs_place_is_mounted(const char *state_dir);

/* Takes away what processes that were killed have left: the mount and the place. Nothing while one serves it.
 * False: something is mounted there still. */
bool gcs_place_sweep(const char *state_dir);
