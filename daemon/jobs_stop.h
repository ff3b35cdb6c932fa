/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/jobs_stop.h: ends all jobs before the daemon ends (--stop-jobs). */
struct scheduler;
struct store;

/* Refuses new jobs, cancels all unfinished ones, and waits for their end, at most @wait_ms. */
void jobs_stop(struct store *store, struct scheduler *scheduler, unsigned wait_ms);
