/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/dialect_parts.h: shared by the dialects, for dialect*.c alone. Pure. */
#include "scheduler/plan/dialect.h"

extern const struct dialect dialect_ml, dialect_aiplatform;

/* A second port between replicas, beside CLUSTER_PORT, at which programs can find each other.
 * Source: CLUSTER_SPEC of Vertex AI's real jobs */
enum { MEETING_PORT = 3333 };

/* Lowercase hex digits of a hash of a name: stable, and different for each name. @bytes: half the number of digits. */
void hash_hex(const char *name, char *ret_hex, size_t bytes);

/* ["HOST:2222", …] of a pool's replicas. */
json_t *pool_addresses(const struct plan *plan, enum role role);
/* {"type", "index"}; "trial" and "cloud" are added if they apply. */
json_t *task_make(const char *type, unsigned index);
void task_add_trial(json_t *task, const struct plan *plan);
void task_add_cloud(json_t *task, const struct plan *plan);

/* Appends "NAME=value". INVALID_ARGUMENT: it is too long for a program's environment. */
enum status variable_add(json_t *environment, const char *name, const char *value, struct error *err);
/* The variables with the directory that a trial reports to, and with its number. */
enum status trial_variables_add(json_t *environment, const struct plan *plan, struct error *err);
/* The variables by which PyTorch processes find each other: masters and workers have ranks.
 * Choice: parameter servers, reducers and evaluators have none. */
enum status ranks_add(json_t *environment, const struct plan *plan, enum role role, unsigned index,
		      struct error *err);
