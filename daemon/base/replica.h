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

/* A position in a container's stream: the line with the latest time, and @behind lines after it with earlier times (the
 * engine's clock was set back). Of the next line, a long one, @parts parts were read. All zero: nothing was read. */
struct log_reach {
	int64_t time_ns; /* time of the line by the engine's clock, unchanged */
	int64_t behind;
	int64_t parts, parts_ns; /* parts_ns: the time of the line that the parts belong to */
};

/* The positions of both streams: stdout, stderr. */
struct log_position {
	struct log_reach streams[2];
};
