/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_dir.h: operations on a state directory that need no open store. Thread: any. */
#include <stdbool.h>
#include <sys/types.h>

#include "daemon/base/error.h"

enum { STATE_INSTANCE_SIZE = 33 };

/* Makes the directory and missing parents, accessible to their owner only; existing ones are unchanged. */
enum status state_dir_make(const char *dir, struct error *err);

/* Locks the directory until @ret_fd is closed or the process ends. FAILED_PRECONDITION: another process has locked
 * it, or the lock file cannot be made. */
enum status state_dir_lock(const char *dir, int *ret_fd, struct error *err);
/* Finds the process that has locked the directory. *ret_pid: the process that holds the lock; 0: none.
 * FAILED_PRECONDITION: this user may not read the directory. */
enum status state_dir_holder(const char *dir, pid_t *ret_pid, struct error *err);
/* Returns true if a process holds the lock, also one of another PID namespace, which state_dir_holder() cannot name; also
 * if this user may not read the lock file. */
bool state_dir_is_locked(const char *dir);

/* Checks that only this user and root can replace, or could have replaced, the state directory's files: owners and
 * modes of the directory, of its files, of the certificate directories, and of all parent directories (which may be
 * writable for others if they are sticky). A directory that does not exist is checked as if made below its nearest
 * existing parent. The result holds for the directory that @dir resolves to now; if a link in it may change later, pass
 * the path of realpath(). FAILED_PRECONDITION: another user can, or it cannot be checked. */
enum status state_dir_check_owner(const char *dir, struct error *err);

/* Finds the directory, or makes it. *ret_dir, the caller's, is absolute and without links, so that the checked
 * directory is the one that gets opened. @must_be_own: fails like state_dir_check_owner(), before anything in the
 * directory is opened; otherwise its message is only logged as a warning. */
enum status state_dir_find(const char *dir, bool must_be_own, char **ret_dir, struct error *err);

/* Reads the instance name (see store_instance()) of the directory; SQLite may make auxiliary files there. NOT_FOUND:
 * no daemon has used it; FAILED_PRECONDITION: it cannot be read. */
enum status state_dir_instance(const char *dir, char ret_instance[STATE_INSTANCE_SIZE], struct error *err);

/* True if a job was ever created in the directory, or if that cannot be read. */
bool state_dir_had_jobs(const char *dir);

/* Removes temporary small files (small_file.h) of killed writers, in the directory and in the certificate
 * directories. */
void state_dir_sweep(const char *dir);
