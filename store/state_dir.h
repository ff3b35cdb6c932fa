/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_dir.h: a state directory from outside, whether or not a store is open on it. Thread: any. */
#include <stdbool.h>
#include <sys/types.h>

#include "daemon/base/error.h"

enum { STATE_INSTANCE_SIZE = 33 };

/* Makes the directory and those above it, for the owner alone; one that is there stays as it is. */
enum status state_dir_make(const char *dir, struct error *err);

/* The lock goes with @ret_fd, and so with the process, however it ends.
 * FAILED_PRECONDITION: another process has it, or it cannot be made. */
enum status state_dir_lock(const char *dir, int *ret_fd, struct error *err);
/* *ret_pid: the process that holds it; 0: there is none. FAILED_PRECONDITION: this user may not look. */
enum status state_dir_holder(const char *dir, pid_t *ret_pid, struct error *err);

/* Checks that only this user and root can replace the state directory's files, or have done so: the owners and modes of the
 * directory, of its files, of the directories of certificates, and of the directories above it (of which those with the
 * sticky bit may be writable to others). A directory that does not exist would be made below its nearest existing ancestor.
 * The answer holds for the directory that @dir leads to: where a link may lead elsewhere later, give realpath()'s.
 * FAILED_PRECONDITION: another user can, or it cannot be checked. */
enum status state_dir_check_owner(const char *dir, struct error *err);

/* Makes it where it is not there; *ret_dir, the caller's, is absolute and without links: what was looked at is what is
 * opened by it. @must_be_own: refused as by state_dir_check_owner(), before anything in it is opened; else its words are
 * logged as a warning. */
enum status state_dir_find(const char *dir, bool must_be_own, char **ret_dir, struct error *err);

/* The name of store_instance(), as the directory keeps it; SQLite may make its own files beside. NOT_FOUND: no daemon has
 * run on it; FAILED_PRECONDITION: it cannot be read. */
enum status state_dir_instance(const char *dir, char ret_instance[STATE_INSTANCE_SIZE], struct error *err);

/* Whether a job was ever created on it; true where that cannot be read. */
bool state_dir_has_jobs(const char *dir);

/* Removes what writers that were killed have left of small files (small_file.h) here and in the directories of
 * certificates. */
void state_dir_sweep(const char *dir);
