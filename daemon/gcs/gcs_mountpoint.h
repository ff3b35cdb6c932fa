/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_mountpoint.h: STATE/mount/gcs, where the file system is mounted (gcs_mount.h), and how it is unmounted.
 * Thread: any; if two threads unmount at a time, one of them does it. */
#include <stdbool.h>

/* Name, in the state directory, of the directory above the mount point; only its owner may enter it. The file system
 * itself refuses no user, because a job's programs run as any user. */
#define GCS_ABOVE "mount"
#define GCS_MOUNT GCS_ABOVE "/gcs"

/* The process that holds this lock serves the mount point. */
#define GCS_LOCK "gcs.lock"

/* Unmounts the newest mount at @place, lazily: programs that use it keep it. */
void gcs_mountpoint_leave(const char *place);
/* Unmounts the mounts at @place that have no serving process. False: such a mount remains. */
bool gcs_mountpoint_clear(const char *place);
/* Removes the directory @place, and the one above it, if nothing is mounted there. */
void gcs_mountpoint_remove(const char *place);
/* True if something is mounted at the mount point, with or without a serving process. */
bool gcs_mountpoint_is_mounted(const char *state_dir);

/* Removes the mount and the directory that killed processes have left. Does nothing while a process serves the
 * mount. False: something is still mounted. */
bool gcs_mountpoint_sweep(const char *state_dir);
