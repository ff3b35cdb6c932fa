/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/plan_answer.h: shows the plan of a job that is not created: all that its replicas would get. Nothing is
 * stored and nothing runs.
 *
 * Below /_trainyard, for jobs of both families. Numbers are JSON numbers, not strings, because no client library reads
 * these answers. */
#include <stdbool.h>

#include "api/training/replica_json.h"
#include "daemon/base/error.h"

struct call;
struct plan;

/* The parts that depend on the job's family. Borrowed. */
struct plan_report {
	const char *name;    /* the name of the job */
	bool name_drawn;     /* the id is drawn for each job, so this one is an example */
	const json_t *input; /* the input that @namer reads */
	pool_field_namer namer;
	const double *units_per_hour; /* ML units; NULL: the family has no such unit */
};

/* Answers with the plan, which has passed all checks of a create. FAILED_PRECONDITION: this machine can never run it;
 * INVALID_ARGUMENT: its environment is too long for a program. */
enum status plan_answer(struct call *call, const struct plan *plan, const struct plan_report *telling,
			struct error *err);
