/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/preflight.h: what would keep a job's containers from starting in the cloud, found by looking at its images and
 * packages. */
#include <jansson.h>
#include <stdbool.h>

struct plan;
struct training_context;

/* Adds what it finds to @differences (scheduler/plan/deviation.h): a platform that the cloud does not run, an image that was
 * never pushed, a package that is not there, and @with_program a program that the image does not have. Asks the engine, a few
 * seconds at most for each image; says nothing of what the engine does not tell. */
void preflight_report(const struct training_context *context, const struct plan *plan, bool with_program,
		      json_t *deviations);
