/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_caller.h: the state, read from /proc, of the thread in a container that waits for a file system's
 * answer.
 * The thread id 0 means no thread, which is never killed nor disconnected. Thread: any. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True if the process has a pending SIGKILL, or is already exiting because of a signal. */
bool gcs_caller_is_killed(pid_t caller);
/* True if the process is exiting and closes its open files: no signal can kill it any more.
 * Source: Linux since 6.0 drops signals to a process that exits (kernel/signal.c, prepare_signal) */
bool gcs_caller_is_ending(pid_t caller);
/* True if the process has a network namespace of its own without a route: its network was disconnected, by an injected
 * fault or otherwise. Choice: the file system checks the network itself instead of being told by the daemon, so the
 * answer is right from the moment the network is gone until it is back, also while no daemon runs. Without root, or if
 * this process has no route either, the answer is false. */
bool gcs_caller_is_cut(pid_t caller);
/* Sleeps for @pause_us. -EINTR: the process is killed, before or meanwhile. */
int gcs_caller_pause(pid_t caller, int64_t pause_us);
