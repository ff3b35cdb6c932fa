/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_purge.h: removes entries from logs.db in slices, between two batches.
 *
 * Thread: the log writer's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "store/connection.h"

struct log_batch;

/* Entries of a job to remove: all, with everything about the job; or those of one of its logs. */
struct log_selection {
	int64_t job;
	const char *project, *log_name; /* NULL: of all logs */
	/* Of one log: */
	int64_t until_ns; /* received_ns of the last entry to remove; 0: the last one stored at the first slice */
	bool begun;       /* the job's first slice is done; all below is set by it */
	int64_t end_ns;   /* the latest time of the job's entries at that moment */
	/* The key of the last entry read. */
	int64_t from_ns, from_source;
	sqlite3_value *from_id; /* the caller frees */
};
/* Removes some of the entries, and with the last of a job's entries also its rows in other tables. *ret_more: some
 * are left. Not within a batch. */
enum status log_batch_purge(struct log_batch *batch, struct log_selection *selection, bool *ret_more,
			    struct error *err);
