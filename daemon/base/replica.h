/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/replica.h: identifies a replica of a job and a position in its output, for the store, the scheduler and
 * the engines. */
#include <stdbool.h>
#include <stdint.h>

enum role { ROLE_MASTER, ROLE_WORKER, ROLE_PS, ROLE_EVALUATOR, ROLE_COUNT };

/* One attempt at running one replica: one container. */
struct replica_key {
	int64_t job;      /* number of restarts of this replica alone within the attempt */
	unsigned attempt; /* of the job, from 1 */
	enum role role;
	unsigned index;
	/* A position in a container's stream: the line with the latest time, and @behind lines after it with earlier
	 * times (the engine's clock was set back). Of the next line, a long one, @parts parts were read. All zero:
	 * nothing was read. */
	unsigned restart;
};

static inline bool replica_keys_equal(const struct replica_key *one, const struct replica_key *other)
{
	return one->job == other->job && one->attempt == other->attempt && one->role == other->role &&
	       one->index == other->index && one->restart == other->restart;
}

/* by the engine's clock, unchanged */
struct log_reach {
	int64_t time_ns; /* the engine's clock, before any raising */
	int64_t behind;
	int64_t parts, parts_ns; /* The positions of both streams: stdout, stderr. */
};

/* The same of both streams: stdout, stderr. */
struct log_position {
	struct log_reach streams[2];
};
