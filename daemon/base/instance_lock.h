/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/instance_lock.h: the process that works for an instance now: the daemon that serves it, or a program that
 * cleans up after it.
 *
 * Choice: an abstract unix socket "trainyard/INSTANCE". The kernel removes it when its process ends; every user of the
 * machine can see it; its name is known from the engine's labels, without a state directory; and if a state directory
 * was copied, a user can run a daemon on only one of the copies at a time. Processes in other network namespaces and on
 * other machines are not detected here: the engine shows those (scheduler/engine/docker_elsewhere.h).
 *
 * Any user can bind such a name, so it does not protect anything: the lock of the state directory does
 * (store/state_dir.h). A process that continues although the name is taken binds another one, "trainyard/INSTANCE/…",
 * which counts as well.
 * Source: https://man7.org/linux/man-pages/man7/unix.7.html (read 2026-11-22) */
#include <stdbool.h>

#include "daemon/base/error.h"

enum { INSTANCE_MAX = 32 };

/* Returns true if @instance is 1 to 32 lowercase letters and digits. */
bool instance_valid(const char *instance);

/* Selects which other processes of the instance are tolerated. */
enum instance_rule {
	INSTANCE_ALONE,
	/* other users' processes cannot be daemons of a state directory that this user has locked */
	INSTANCE_BESIDE_OTHER_USERS,
	INSTANCE_BESIDE_ALL,
};

/* Takes the instance for this process until *ret_fd is closed or the process ends. Other processes that @rule tolerates
 * are logged. FAILED_PRECONDITION: another process has the instance; the text names the process and its user. */
enum status instance_lock_take(const char *instance, enum instance_rule rule, int *ret_fd, struct error *err);
/* Returns true if a process has the lock of the instance now. */
bool instance_lock_seen(const char *instance);
