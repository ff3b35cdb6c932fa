/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/plan_answer.h: what would run if a job were created: everything that its replicas would get. Nothing is
 * stored and nothing runs.
 *
 * Below /_trainyard, for jobs of both families. Numbers are JSON numbers here, not texts: no client library reads these
 * answers. */
#include <stdbool.h>

#include "api/training/replica_json.h"
#include "daemon/base/error.h"

struct call;
struct plan;

/* What the job's family says in its own way. Borrowed. */
struct plan_report {
	const char *name;    /* the job's */
	bool name_drawn;     /* its id is drawn anew for each job, so this is but an example */
	const json_t *input; /* what @namer reads */
	pool_field_namer namer;
	const double *units_per_hour; /* ML units; NULL: the family has none */
};

/* Answers with the plan, which has passed all checks of a create.
 * FAILED_PRECONDITION: this machine can never run it; INVALID_ARGUMENT: too long for a program. */
enum status plan_answer(struct call *call, const struct plan *plan, const struct plan_report *telling,
			struct error *err);
