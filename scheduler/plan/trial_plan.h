/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/trial_plan.h: what one trial of a tuning job runs. Pure. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

struct study;
struct text;

/* Where a trial's first replica finds the directory that its reports go to, and the file in it.
 * Source: https://github.com/GoogleCloudPlatform/cloudml-hypertune (its own default is below /tmp) */
#define METRIC_DIRECTORY "/var/hypertune"
#define METRIC_FILE      METRIC_DIRECTORY "/output.metrics"

/* A parameter's value as programs and clients read it: a number in the fewest digits that say it, a category as it is. */
struct parameter;
void parameter_value_write(struct text *text, const struct parameter *parameter, double value);

/* The directory of trial @number below the job's own.
 * Choice: each has one of its own, as Google's samples write checkpoints straight into it. */
void trial_job_dir_write(struct text *text, const char *job_dir, unsigned number);

/* The plan of trial @number, which is the caller's: the job's, with a cluster and a job directory of its own, and behind the client's arguments
 * one --NAME=VALUE for each active parameter. @values: one for each of the study's parameters. */
struct plan *trial_plan_make(const struct plan *job, const struct study *study, unsigned number,
			     const double *values);

/* Values as the store keeps them, and back into @ret_values. */
json_t *trial_values_to_json(const struct study *study, const double *values);
enum status trial_values_from_text(const struct study *study, const char *text, double *ret_values,
				   struct error *err);
