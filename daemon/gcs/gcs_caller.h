/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_caller.h: the thread of some container that waits for a file system's answer, as /proc tells of it.
 * 0 is nobody: it is never killed nor cut off. Thread: any. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether it was killed, and ends as soon as it has its answer, or is being ended by a signal already. */
bool gcs_caller_is_killed(pid_t caller);
/* Whether it ends, and is closing what it left open: nothing can kill it any more.
 * Source: Linux since 6.0 drops signals to who is in its exit (kernel/signal.c, prepare_signal) */
bool gcs_caller_is_ending(pid_t caller);
/* Whether its network has been taken away, by an ordered fault or by whoever may: it has a network of its own, and no
 * route in it. Choice: this is looked at rather than told by the daemon: it holds from the moment
 * at which the network is gone to that at which it is back, and while no daemon is there. Who is not root, and
 * whose own network has no route either, cannot tell. */
bool gcs_caller_is_cut(pid_t caller);
/* Lets time go by. -EINTR: it was killed meanwhile, or before. */
int gcs_caller_pause(pid_t caller, int64_t pause_us);
