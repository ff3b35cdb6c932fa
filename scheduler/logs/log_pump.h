/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/logs/log_pump.h: from a replica's line to a stored log entry. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "scheduler/engine/engine.h"
#include "scheduler/plan/plan.h"

struct clock;
struct log_pump;
struct log_source;
struct store;

/* Makes a pump. @clock must outlive the pump. */
struct log_pump *log_pump_new(struct store *store, const struct clock *clock);
void log_pump_free(struct log_pump *pump);

/* The log source of a replica of @plan, in the log of job @owner (for a trial: its tuning job): a new reference. Pure. */
struct log_source *replica_log_source(const struct plan *plan, int64_t owner, enum role role, unsigned index);

/* Adds a replica of @plan to the pump; its lines go to the log of job @owner (for a trial: its tuning job). To be
 * called before its output is followed. Harmless if it was added already. Thread: any. */
void log_pump_open(struct log_pump *pump, const struct plan *plan, int64_t owner,
		   const struct replica_key *key);
/* Forgets all replicas of a job. Thread: any. */
void log_pump_close(struct log_pump *pump, int64_t job);
/* Moves @position to the last line of the replica's container that was offered to the store. @position comes from the
 * store, which may be behind. */
void log_pump_offered(struct log_pump *pump, const struct replica_key *key, struct log_position *position);
/* Offers one line to the store. False: there is no room now, see log_on_room(). Lines of an unknown replica are
 * dropped, and so are lines of an attempt before the last one that was opened: they come from a container that kept
 * running on a lost node, after that node is back.
 * Thread: the engine's. */
bool log_pump_line(struct log_pump *pump, const struct replica_line *line);
