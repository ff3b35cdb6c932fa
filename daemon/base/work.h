/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/work.h: whether the result of this thread's work is still needed, and which owner it is for.
 *
 * A thread that handles a request declares its work; long operations, at any depth, check it now and then and give up.
 * A thread that declared nothing works for the daemon itself and never gives up. So a transaction, which runs on a
 * writer's thread, is never abandoned halfway. Thread: any; each has its own work. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct work {
	/* Called at most once in 10 ms, and no more after it has returned true. */
	bool (*is_abandoned)(void *arg);
	void *arg;
	int64_t owner; /* shared resources are divided between owners: a job's number, or 0 for the daemon's own clients */
};

/* Declares the work of this thread until work_end(); @work is borrowed until then. In nested calls the outer work
 * counts. */
void work_begin(const struct work *work);
void work_end(void);
bool work_is_abandoned(void);
/* Checks whether the thread's work is still wanted. CANCELLED: the work is abandoned. */
enum status work_check(struct error *err);
/* Returns the owner of the thread's work; 0 outside of any work. */
int64_t work_owner(void);
