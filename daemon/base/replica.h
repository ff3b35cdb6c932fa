/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/replica.h: identifies a replica of a job and a position in its output, for the store, the scheduler and
 * the engines. */
#include <stdbool.h>
#include <stdint.h>

enum role { ROLE_MASTER, ROLE_WORKER, ROLE_PS, ROLE_EVALUATOR, ROLE_COUNT };

/* One attempt at running one replica: one container. */
struct replica_key {
	int64_t job;      /* the store's number of the job; 0: none */
	unsigned attempt; /* of the job, from 1 */
	enum role role;
	unsigned index;
	unsigned restart; /* number of restarts of this replica alone within the attempt, from 0 */
};

static inline bool replica_keys_equal(const struct replica_key *one, const struct replica_key *other)
{
	return one->job == other->job && one->attempt == other->attempt && one->role == other->role &&
	       one->index == other->index && one->restart == other->restart;
}

/* How far a container's stream was read. All zero: nothing was read. */
struct log_reach {
	int64_t time_ns; /* the latest time of a line that was read, by the engine's clock, unchanged */
	int64_t behind;	 /* lines that were read after it and have earlier times, because the engine's clock was set back */
	/* A long line comes in parts. If only the first parts of the next line were read: their number, and the line's
	 * time. */
	int64_t parts, parts_ns;
};

/* The positions of both streams: stdout, stderr. */
struct log_position {
	struct log_reach streams[2];
};
