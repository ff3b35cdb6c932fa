/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/journal.h: the changes of a job with reasons and times, as numbers: each row is stored in the transaction
 * of its change. Once the end of a replica is stored here, it counts, whatever the engine reports later. A job has a
 * few rows for each attempt, and one or two for each start of a replica. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "store/jobs/job_state.h"

struct change_scope;
struct store;

/* The numbers are stored in the database. */
enum journal_kind {
	JOURNAL_STATE = 1, /* cause: the new state; number: the state before, 0: the job was created */
	JOURNAL_DECIDED =
		2, /* the outcome is decided. cause: the final state, PREPARING: a retry; number: google.rpc.Code */
	JOURNAL_RETRIED = 3,   /* the attempt begins */
	JOURNAL_ENDED = 4,     /* of a replica. cause: outcome.h's enum replica_end; number: exit code */
	JOURNAL_RESTARTED = 5, /* of a replica: it is started again; restart: the number of the new start */
	JOURNAL_MADE = 6,      /* of a replica that was restarted: its container exists */
	JOURNAL_BLAME =
		/* of a replica: its end is a reason for the decision in the same transaction. Adds no row: sets
		 * JOURNAL_BLAMED in the JOURNAL_ENDED row that was stored before */
	7,
};

/* Flags of a JOURNAL_ENDED row. */
enum journal_flag {
	JOURNAL_OUT_OF_MEMORY = 1,
	JOURNAL_OF_ITSELF = 2, /* the replica ended by itself: no signal was sent to it */
	JOURNAL_ORDERED = 4,   /* an injected fault caused the end */
	JOURNAL_BLAMED = 8,    /* the replica's end is a reason for the job's outcome; set by JOURNAL_BLAME */
};

struct journal_row {
	int64_t time_us; /* wall clock; when adding, 0: now */
	enum journal_kind kind;
	unsigned attempt; /* when adding, 0: the job's present one */
	bool of_replica;
	int role; /* plan.h's enum role */
	unsigned index, restart;
	int cause;
	int64_t number;
	unsigned flags;
};

struct journal {
	struct journal_row *rows;
	size_t count;
};
void journal_deinit(struct journal *journal);
#define AUTO_JOURNAL __attribute__((cleanup(journal_deinit)))

/* All rows of a job, oldest first. */
enum status journal_read(struct store *store, int64_t job, struct journal *ret_journal, struct error *err);

/* Adds rows within the transaction of a job's change. */
enum status journal_add(struct change_scope *scope, int64_t job, const struct journal_row *rows, size_t count,
			struct error *err);
/* Adds a JOURNAL_STATE row for the step from @from to @to; adds nothing if they are equal. */
enum status journal_add_state(struct change_scope *scope, int64_t job, enum job_state from, enum job_state to,
			      struct error *err);
enum status journal_add_decision(struct change_scope *scope, int64_t job, enum job_state outcome, int code,
				 struct error *err);
