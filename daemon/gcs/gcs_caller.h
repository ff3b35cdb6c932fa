/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_caller.h: the thread of some container that waits for a file system's answer, as /proc tells of it.
 * 0 is nobody: it is never killed nor cut off. Thread: any. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether it was killed, and ends as soon as it has its answer, or is being ended by a signal already. */
bool gcs_caller_is_killed(pid_t caller);
/* True if the process is exiting and closes what it left open: no signal can kill it any more.
 * Source: Linux since 6.0 drops signals to a process that exits (kernel/signal.c, prepare_signal) */
bool gcs_caller_is_ending(pid_t caller);
/* True if the process has a network namespace of its own without a route: its network was taken away, by an ordered fault or
 * by other means. Choice: the file system looks at the network itself instead of being told by the daemon, so that the answer
 * is true from the moment the network is gone until it is back, also while no daemon runs. Without root, and if this process
 * has no route either, the answer is false. */
bool gcs_caller_is_cut(pid_t caller);
/* Lets time go by. -EINTR: it was killed meanwhile, or before. */
int gcs_caller_pause(pid_t caller, int64_t pause_us);
