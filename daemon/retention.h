/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/retention.h: removes jobs that ended long ago (--keep), and the oldest ones while the databases are too large
 * (--max-state): with their trials and logs, but not their objects; one at a time, on a thread of its own. */
#include <jansson.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"

struct retention;
struct store;

struct retention_options {
	struct store *store;
	const struct clock *clock;    /* the clock of the jobs' times */
	const char *keep, *max_state; /* for duration_read() and size_read(); NULL: unlimited */
};

/* Starts the thread that removes old jobs. *ret_retention NULL: nothing is limited. */
enum status retention_open(const struct retention_options *options, struct retention **ret_retention,
			   struct error *err);
/* Waits for the removal of at most one job. NULL is harmless. */
void retention_close(struct retention *retention);
/* Returns {"keep", "maxStateBytes", "usedBytes", "removedJobs"} for GET /healthz; NULL: no limit is set. Thread: any. */
json_t *retention_report(struct retention *retention);
