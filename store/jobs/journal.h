/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/journal.h: what changed of a job, why and when, as numbers: each row is stored in the transaction of the change
 * that it tells of. What became of a replica is a fact from then on, whatever the engine says later or another daemon could
 * guess. A job has a few rows for each attempt, and one or two for each start of a replica. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "store/jobs/job_state.h"

struct change_scope;
struct store;

/* Numbers are the database's. */
enum journal_kind {
	JOURNAL_STATE = 1, /* cause: the state that it is in now; number: the one before, 0: it was stored */
	JOURNAL_DECIDED =
		2, /* its end is known. cause: the state to come, PREPARING: tried again; number: google.rpc.Code */
	JOURNAL_RETRIED = 3,   /* the attempt begins */
	JOURNAL_ENDED = 4,     /* of a replica. cause: outcome.h's enum replica_end; number: exit code */
	JOURNAL_RESTARTED = 5, /* of a replica: it is started anew, as @restart */
	JOURNAL_MADE = 6,      /* of a replica that was started anew: its container is there */
	JOURNAL_BLAME =
		7, /* of a replica: its end, stored before, is a reason for the decision that is stored with this; it
			    * becomes JOURNAL_BLAMED of that row, and no row of its own */
};

/* Of JOURNAL_ENDED. */
enum journal_flag {
	JOURNAL_OUT_OF_MEMORY = 1,
	JOURNAL_OF_ITSELF = 2, /* no signal was sent to it */
	JOURNAL_ORDERED = 4,   /* by a rule of ordered faults */
	JOURNAL_BLAMED = 8,    /* its end is a reason for the job's outcome: JOURNAL_BLAME */
};

struct journal_row {
	int64_t time_us; /* wall; to be added: 0: now */
	enum journal_kind kind;
	unsigned attempt; /* to be added: 0: the job's */
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

/* All of a job, oldest first. */
enum status journal_read(struct store *store, int64_t job, struct journal *ret_journal, struct error *err);

/* Within the transaction of a job's change. */
enum status journal_add(struct change_scope *scope, int64_t job, const struct journal_row *rows, size_t count,
			struct error *err);
/* That the job is in the state @to; nothing where it was before. */
enum status journal_add_state(struct change_scope *scope, int64_t job, enum job_state from, enum job_state to,
			      struct error *err);
enum status journal_add_decision(struct change_scope *scope, int64_t job, enum job_state outcome, int code,
				 struct error *err);
