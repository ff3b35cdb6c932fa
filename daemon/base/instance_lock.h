/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/instance_lock.h: the process that works for an instance now: the one daemon that serves it, or the one
 * program that cleans up after it.
 *
 * Choice: a socket with an abstract name, "trainyard/INSTANCE". It goes with its process, however that ends; every
 * user of the machine sees whether it is there; neither a state directory nor its path need be known, so that an
 * engine's labels are enough to ask; and of a state directory that was copied, one daemon of a user runs at a time.
 * Processes in other network namespaces and on other machines are not seen.
 *
 * Any user can bind such a name, and so it is no lock: that of the state directory is (store/state_dir.h). A process that
 * goes on although the name is held takes another, "trainyard/INSTANCE/…", which counts as well.
 * Source: https://man7.org/linux/man-pages/man7/unix.7.html (read 2026-11-22) */
#include <stdbool.h>

#include "daemon/base/error.h"

enum { INSTANCE_MAX = 32 };

/* Whether it is an instance's name: 1 to 32 lowercase letters and digits. */
bool instance_valid(const char *instance);

/* Beside which others a process may work for the instance. */
enum instance_rule {
	INSTANCE_ALONE,
	INSTANCE_BESIDE_OTHER_USERS, /* their processes cannot be daemons of a state directory that this user has locked */
	INSTANCE_BESIDE_ALL,
};

/* Closing @ret_fd, or the process's end, gives it up; others that @rule allows are logged. FAILED_PRECONDITION: another
 * process has it, which the text names, with its user. */
enum status instance_lock_take(const char *instance, enum instance_rule rule, int *ret_fd, struct error *err);
/* Whether a process has it. */
bool instance_lock_seen(const char *instance);
