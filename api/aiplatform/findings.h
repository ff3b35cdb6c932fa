/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/findings.h: collects violations of the rules, with the path that is being checked.
 *
 * A rule moves the path with enter and leave, adds violations, and lets the other rules continue. Pure.
 * Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Choice: how much of a wrong value a text repeats, and how many violations are reported. */
enum { FINDINGS_SHOWN_BYTES = 200, FINDINGS_MAX = 100 };

struct findings {
	struct text path; /* "job_spec.worker_pool_specs[0]" */
	struct error err;
};

#define AUTO_FINDINGS __attribute__((cleanup(findings_deinit)))

void findings_deinit(struct findings *findings);

/* Extends the path by a member's snake_case name, or by an index. Returns the previous length of the path, for
 * findings_leave(). */
size_t findings_enter(struct findings *findings, const char *name);
size_t findings_enter_index(struct findings *findings, size_t index);
void findings_leave(struct findings *findings, size_t length);

/* Adds a violation of the member @below ("machine_spec.machine_type") of the path; NULL: of the path itself. */
void findings_add(struct findings *findings, const char *below, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* True if FINDINGS_MAX is reached: further violations would not be reported. */
bool findings_enough(const struct findings *findings);
/* Moves all violations to @err. Returns STATUS_OK if there were none. */
enum status findings_finish(struct findings *findings, struct error *err);
