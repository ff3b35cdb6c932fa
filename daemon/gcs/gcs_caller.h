/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_caller.h: the thread of a container that waits for a file system's answer, as seen in /proc. 0 means
 * no thread, which is never killed nor disconnected. Thread: any. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether it was killed and ends when it has its answer, or is already ending because of a signal. */
bool gcs_caller_is_killed(pid_t caller);
/* True if the process is exiting and closes what it left open: no signal can kill it any more.
 * Source: Linux since 6.0 drops signals to a process that exits (kernel/signal.c, prepare_signal) */
bool gcs_caller_is_ending(pid_t caller);
/* True if the process has a network namespace of its own without a route: its network was disconnected, by an injected
 * fault or otherwise. Choice: the file system checks the network itself instead of being told by the daemon, so the
 * answer is right from the moment the network is gone until it is back, also while no daemon runs. Without root, or if
 * this process has no route either, the answer is false. */
bool gcs_caller_is_cut(pid_t caller);
/* Sleeps. -EINTR: it was killed meanwhile, or before. */
int gcs_caller_pause(pid_t caller, int64_t pause_us);
