/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_mountpoint.h: STATE/mount/gcs, where the file system is mounted (gcs_mount.h), and how it is unmounted.
 * Thread: any; if two threads unmount at a time, one of them does it. */
#include <stdbool.h>

/* In the state directory. The file system itself refuses no user, because a job's programs run as any user. The directory
 * above it, which only its owner may enter, restricts access. */
#define GCS_ABOVE "mount"
#define GCS_MOUNT GCS_ABOVE "/gcs"

/* The process that holds this lock serves the mount point. */
#define GCS_LOCK "gcs.lock"

/* Unmounts the newest mount there, lazily: programs that use it keep it. */
void gcs_mountpoint_leave(const char *place);
/* Unmounts what is mounted there without a serving process. False: a dead mount stays. */
bool gcs_mountpoint_clear(const char *place);
/* Removes the directory if nothing is mounted there, and the one above it. */
void gcs_mountpoint_remove(const char *place);
/* Whether something is mounted there, served or not. */
bool gcs_mountpoint_is_mounted(const char *state_dir);

/* Removes what killed processes have left: the mount and the directory. Does nothing while a process serves it. False:
 * something is still mounted there. */
bool gcs_mountpoint_sweep(const char *state_dir);
