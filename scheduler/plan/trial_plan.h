/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/trial_plan.h: the plan of one trial of a tuning job. Pure. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

struct study;
struct text;

/* The paths, in a trial's first replica, of the directory for its reports and of the file in it.
 * Source: https://github.com/GoogleCloudPlatform/cloudml-hypertune (its own default is below /tmp) */
#define METRIC_DIRECTORY "/var/hypertune"
#define METRIC_FILE      METRIC_DIRECTORY "/output.metrics"

/* A parameter's value as text for programs and clients: a number with the fewest digits that identify it, or a
 * category. */
struct parameter;
void parameter_value_write(struct text *text, const struct parameter *parameter, double value);

/* The directory of trial @number, below the job's own.
 * Choice: one directory per trial, because Google's samples write checkpoints directly into it. */
void trial_job_dir_write(struct text *text, const char *job_dir, unsigned number);

/* Makes the plan of trial @number, which the caller frees: the job's plan with a cluster and a job directory of its
 * own, and with one --NAME=VALUE for each active parameter after the client's arguments. @values: one for each of the
 * study's parameters. */
struct plan *trial_plan_make(const struct plan *job, const struct study *study, unsigned number,
			     const double *values);

/* Converts values to the store's form; and back, into @ret_values. */
json_t *trial_values_to_json(const struct study *study, const double *values);
enum status trial_values_from_text(const struct study *study, const char *text, double *ret_values,
				   struct error *err);
