/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/fault_method.h: the names by which rules of ordered faults know calls: "ml.projects.jobs.create". Pure.
 * Thread: any. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct family;
struct route;

/* Calls that want a job made, and what a quota says to them. */
struct creation {
	const char *method;
	const char *sentence; /* NULL: that of too many calls */
};

/* NULL: it makes no job. */
const struct creation *creation_of(const char *method);

/* Appends the name of a row's calls; nothing when they are none that may be hit: those of Google's APIs alone may. */
void fault_method_write(struct text *text, const struct family *family, const struct route *route);

/* INVALID_ARGUMENT on the field: the method of the rule fits no call that @families answer, or a quota's none that makes
 * a job, so that it could never hit. */
enum status fault_method_check(const struct family *families, const json_t *canonical, struct error *err);
