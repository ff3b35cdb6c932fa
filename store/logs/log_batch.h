/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_batch.h: writes the items of a queue to logs.db in one transaction.
 *
 * Keeps state for the next batch: the global sequence, the last time of each job, the numbers of sources. Thread: the
 * log writer's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "store/connection.h"
#include "store/logs/log_queue.h"
#include "store/logs/logs.h"

enum { JOB_CLOCKS = 256, POSITION_SLOTS = 256, SOURCE_SLOTS = 1024 };

/* The last entry of a job that was not dated by a program; a cache of the tables. */
struct job_clock {
	int64_t job; /* 0: empty */
	int64_t last_ns;
	bool named;   /* the entry has an insert id from outside */
	bool dated;   /* the job has dated entries: the values are also in table dated_job */
	bool changed; /* the values are newer than those in the table */
};

/* How far the batch has read one replica's streams. */
struct replica_reach {
	struct replica_key key; /* job 0: empty */
	struct log_reach streams[2];
};

struct log_batch {
	struct connection *connection;
	uint64_t
		numbering; /* log_source.row is valid if known_by has this value; changes when rows become invalid */
	int64_t sequence;  /* the last generated insert id */
	int64_t reached;    /* the last outbox row stored */
	int64_t received;   /* received_ns of the last entry; always grows, whatever the clock does */
	int64_t oldest_ns;  /* the earliest time of the last batch's entries; INT64_MAX: it was empty */
	/* received_ns of the first entry of a source since numbering changed; 0: none. Sources may share a slot. */
	int64_t used[SOURCE_SLOTS];
	struct job_clock clocks[JOB_CLOCKS];
	struct replica_reach reaches[POSITION_SLOTS];
	unsigned reach_count;
};

/* Reads the present state from the file. */
enum status log_batch_init(struct log_batch *batch, struct connection *connection, struct error *err);
/* Writes all of @queue or nothing. @received_ns: the present time, used for the first entry, or the last entry's if
 * that is later. */
enum status log_batch_write(struct log_batch *batch, const struct log_queue *queue, int64_t received_ns,
			    struct error *err);
