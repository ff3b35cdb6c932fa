/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/store.h: where jobs and logs are kept: two SQLite files under the state directory.
 *
 *   state.db  jobs, and the service's own log lines on their way out. WAL, synchronous=FULL: a call
 *             that returned OK survives kill -9 and power loss. One writer thread; every caller waits
 *             for its own change, many changes share one commit.
 *   logs.db   log entries. WAL, synchronous=NORMAL, written in batches by one thread of its own, so
 *             that bulk logs never delay a job.
 *
 * The directory is locked (file `lock`): a second daemon on it is refused with FAILED_PRECONDITION.
 * Reads borrow a read-only connection from a small pool. Thread: any, for every function here and in
 * jobs.h and logs.h, unless it says otherwise. */
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"

struct job_changes;
struct page_key;
struct progress_board;
struct store;

enum status store_open(const char *state_dir, const struct clock *clock, struct store **ret_store,
		       struct error *err);
/* Gives this thread priority: it never waits for other readers. The scheduler's thread calls it, as all jobs wait for
 * that thread. */
void store_read_first(void);
/* Ends long log queries of clients, so that their requests end; short queries are not affected. */
void store_end_queries(struct store *store);
/* Writes queued entries, checkpoints, closes. No call may be running. */
void store_close(struct store *store);

/* A random name of this state directory, made once: 8 lowercase letters and digits. Labels of containers contain it. */
const char *store_instance(const struct store *store);

/* The number of this opening of the state directory, counted from 1. */
uint64_t store_start(const struct store *store);

/* 32 random bytes of this state directory, made once: the secret behind keys that stay valid after a restart. Each
 * key is derived by hashing it with a different word. */
const unsigned char *store_secret(const struct store *store);
/* The key of this state directory's page tokens. */
const struct page_key *store_page_key(const struct store *store);

/* The jobs that have changed since the store was opened. */
struct job_changes *store_job_changes(struct store *store);
/* The progress of unfinished jobs: store/job_progress.h. */
struct progress_board *store_progress(struct store *store);

/* Sets the hook that is called, on the state writer's thread, after a commit that gives the scheduler a new step (a job
 * was created or cancelled), once for each such job. At most one hook; to be set before requests are served. */
void store_on_intent(struct store *store, void (*wake)(void *arg, int64_t job), void *arg);
