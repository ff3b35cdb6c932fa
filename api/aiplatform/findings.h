/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/findings.h: what the rules have found wrong, and where they are looking.
 *
 * A rule says where it is with enter and leave, adds what it finds, and lets the others go on. Pure.
 * Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Choice: how much of a wrong value is repeated in a text, and how many faults are told. */
enum { FINDINGS_SHOWN_BYTES = 200, FINDINGS_MAX = 100 };

struct findings {
	struct text path; /* "job_spec.worker_pool_specs[0]" */
	struct error err;
};

#define AUTO_FINDINGS __attribute__((cleanup(findings_deinit)))

void findings_deinit(struct findings *findings);

/* Lengthens the path by a member's snake_case name, or by an index; the length before, for findings_leave(). */
size_t findings_enter(struct findings *findings, const char *name);
size_t findings_enter_index(struct findings *findings, size_t index);
void findings_leave(struct findings *findings, size_t length);

/* Adds a fault of the member @below ("machine_spec.machine_type") of what the path names; NULL: of that itself. */
void findings_add(struct findings *findings, const char *below, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* So many that the rest need not be looked for. */
bool findings_enough(const struct findings *findings);
/* Hands all faults over; OK when there were none. */
enum status findings_finish(struct findings *findings, struct error *err);
