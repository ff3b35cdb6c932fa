/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_export.h: a copy of a state directory as a folder (state_folder.h), whether or not a daemon serves it.
 *
 * Jobs, logs and objects are each as at one moment, in this order: of a job that has ended in the copy, all of its log and all
 * that it has written is there. Bytes of objects are hard links where the file system has them. Thread: any. */
#include "daemon/base/error.h"

/* Makes the folder STATE/export.XXXX…; *ret_folder is the caller's, to be removed with all that is in it.
 * NOT_FOUND: no daemon has run on @state_dir. UNAVAILABLE, RESOURCE_EXHAUSTED: it works another time; nothing is left of it. */
enum status state_export_make(const char *state_dir, char **ret_folder, struct error *err);
/* The same into @folder, which must not be there, anywhere. */
enum status state_export_into(const char *state_dir, const char *folder, struct error *err);
/* Removes what a process that was killed has left of state_export_make(). */
void state_exports_sweep(const char *state_dir);
