/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/dialect_parts.h: what dialects are made of, for dialect*.c alone. Pure. */
#include "scheduler/plan/dialect.h"

extern const struct dialect dialect_ml, dialect_aiplatform;

/* Open between replicas beside CLUSTER_PORT; programs may meet there.
 * Source: CLUSTER_SPEC of Vertex AI's real jobs */
enum { MEETING_PORT = 3333 };

/* Lowercase hex of a hash over a name: stable, and different for each name. @bytes: half its digits. */
void hash_hex(const char *name, char *ret_hex, size_t bytes);

/* ["HOST:2222", …] of a pool's replicas. */
json_t *pool_addresses(const struct plan *plan, enum role role);
/* {"type", "index"}, to which "trial" and "cloud" are added where they apply. */
json_t *task_make(const char *type, unsigned index);
void task_add_trial(json_t *task, const struct plan *plan);
void task_add_cloud(json_t *task, const struct plan *plan);

/* Appends "NAME=value". INVALID_ARGUMENT: it is too long for a program. */
enum status variable_add(json_t *environment, const char *name, const char *value, struct error *err);
/* Where a trial reports to, and which it is. */
enum status trial_variables_add(json_t *environment, const struct plan *plan, struct error *err);
/* What PyTorch meets by: masters and workers are its ranks.
 * Choice: parameter servers, reducers and evaluators are none. */
enum status ranks_add(json_t *environment, const struct plan *plan, enum role role, unsigned index,
		      struct error *err);
