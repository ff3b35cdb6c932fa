/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_export.h: copies a state directory to a folder (state_folder.h), whether or not a daemon serves it.
 *
 * Jobs, logs and objects are each a snapshot, taken in this order: a job that has ended in the copy has its whole log
 * and everything that it wrote. Bytes of objects are hard links if the file system has them. Thread: any. */
#include "daemon/base/error.h"

/* Makes the folder STATE/export.XXXX…; *ret_folder is the caller's, to be removed with its contents. NOT_FOUND: no
 * daemon has used @state_dir. UNAVAILABLE, RESOURCE_EXHAUSTED: may succeed later. FAILED_PRECONDITION: an object has
 * lost its bytes; CANCELLED: the client has gone. Nothing is left behind. */
enum status state_export_make(const char *state_dir, char **ret_folder, struct error *err);
/* As state_export_make(), into @folder, at any path, which must not exist. */
enum status state_export_into(const char *state_dir, const char *folder, struct error *err);
/* Removes folders of state_export_make() that a killed process left. */
void state_exports_sweep(const char *state_dir);
