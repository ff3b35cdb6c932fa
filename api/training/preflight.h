/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/preflight.h: inspects a job's images and packages for problems that would keep its containers from
 * starting in the cloud. */
#include <jansson.h>
#include <stdbool.h>

struct plan;
struct training_context;

/* Adds problems to @deviations (scheduler/plan/deviation.h): a platform that the cloud does not run, an image that was
 * never pushed, a missing package, and with @with_program a program that the image does not have. Asks the engine, for
 * at most a few seconds per image; facts that the engine does not report are skipped. */
void preflight_report(const struct training_context *context, const struct plan *plan, bool with_program,
		      json_t *deviations);
