/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/fault_method.h: the names of calls in fault rules: "ml.projects.jobs.create". Pure.
 * Thread: any. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct family;
struct route;

/* Calls that create a job, and the quota error for them. */
struct creation {
	const char *method;
	const char *sentence; /* NULL: the sentence for too many calls */
};

/* Returns the method if it creates jobs, else NULL. */
const struct creation *creation_of(const char *method);

/* Appends the name of a row's calls; nothing if faults cannot be injected into them: only Google's APIs have faults. */
void fault_method_write(struct text *text, const struct family *family, const struct route *route);

/* Checks the method of a rule. INVALID_ARGUMENT on the field: the method of the rule matches no call of @families or,
 * for a quota fault, no call that creates a job, so the rule could never apply. */
enum status fault_method_check(const struct family *families, const json_t *canonical, struct error *err);
