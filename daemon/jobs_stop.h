/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/jobs_stop.h: all jobs end before the daemon does (--stop-jobs). */
struct scheduler;
struct store;

/* Takes no more jobs, cancels all that have not ended, and waits for their end, at most @wait_ms. */
void jobs_stop(struct store *store, struct scheduler *scheduler, unsigned wait_ms);
