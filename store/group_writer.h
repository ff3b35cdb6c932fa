/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/group_writer.h: a thread that writes one database for many callers (group commit).
 *
 * Callers hand in a change and wait. The thread takes all waiting changes, runs each in a savepoint of one transaction,
 * commits, and then answers them all: many changes share one commit. A change that fails is undone alone; if the commit
 * fails, all its changes fail, and the next transaction is a new attempt. */
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "store/connection.h"

struct group_writer;

/* A caller's function, run on the writer's thread, inside the transaction. */
typedef enum status (*group_run)(struct connection *connection, int64_t now_ns, void *arg, struct error *err);

/* A caller's change, on the caller's stack until it has been answered. */
struct group_change {
	struct group_change *next;
	group_run run;
	void *arg;
	bool lasts; /* its commit is synced */
	enum status status;
	struct error err;
	sem_t answered;
};

/* Called on the writer's thread; each may be NULL. */
struct group_hooks {
	/* Called when the transaction has begun, before the first change runs. */
	void (*begun)(void *arg);
	/* Called when the transaction is committed, before any caller is answered. Changes from @first on with
	 * status OK are part of it. */
	void (*committed)(void *arg, const struct group_change *first);
	void *arg;
};

/* Takes over @connection if it succeeds. @name: the database's name in the daemon's log, a literal. */
enum status group_writer_open(struct connection *connection, const struct clock *clock, const char *name,
			      const struct group_hooks *hooks, struct group_writer **ret_writer,
			      struct error *err);
/* Runs the waiting changes, empties the write-ahead log, and ends the thread. NULL is harmless. */
void group_writer_close(struct group_writer *writer);

/* Runs @run(@arg) and returns once its result is committed. UNAVAILABLE: too many changes are waiting already. */
enum status group_writer_change(struct group_writer *writer, group_run run, void *arg, struct error *err);
/* As group_writer_change(), for a database that does not sync every commit: when it returns, this change and all
 * earlier ones survive a power loss. @run must change something, because without a change nothing is synced. */
enum status group_writer_change_lasting(struct group_writer *writer, group_run run, void *arg,
					struct error *err);
