/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/trial_plan.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/tuning/study.h"

void parameter_value_write(struct text *text, const struct parameter *parameter, double value)
{
	AUTO(json) json_t *number = NULL;

	if (parameter->type == PARAMETER_CATEGORICAL) {
		text_puts(text, parameter->categories[(size_t)value]);
	} else if (value == floor(value) && fabs(value) < 1e15) {
		text_printf(text, "%.0f", value);
	} else {
		number = json_real(value);
		json_write(text, number);
	}
}

/* "--NAME=VALUE" as one argument: the value is not changed, whatever character it begins with. */
static json_t *flag_make(const struct parameter *parameter, double value)
{
	struct text text AUTO_TEXT = { 0 };

	text_printf(&text, "--%s=", parameter->name);
	parameter_value_write(&text, parameter, value);
	return json_string(text.data);
}

static void flags_add(json_t *args, const struct study *study, const double *values)
{
	for (size_t i = 0; i < study->parameter_count; i++)
		if (!isnan(values[i]))
			json_array_append_new(args, flag_make(&study->parameters[i], values[i]));
}

/* The service's own arguments come last. */
static void pool_args_make(const struct plan *plan, struct pool *pool, const struct study *study,
			   const double *values)
{
	json_t *args = pool->args ? json_copy(pool->args) : json_array();
	const char *job_dir_flag = dialect_of(plan)->job_dir_flag;

	flags_add(args, study, values);
	if (plan->job_dir && job_dir_flag) {
		json_array_append_new(args, json_string(job_dir_flag));
		json_array_append_new(args, json_string(plan->job_dir));
	}
	json_decref(pool->args);
	pool->args = args;
}

/* Gives the trial a cluster id of its own, so that replicas of different trials have different names. */
static void cluster_id_make(struct plan *plan)
{
	AUTO(string) char *name = memory_printf("%s-%u", plan->cluster_id, plan->trial);
	unsigned char hash[crypto_generichash_BYTES];
	char id[11];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)name, strlen(name), NULL, 0);
	sodium_bin2hex(id, sizeof(id), hash, 5);
	plan_text_set(&plan->cluster_id, id);
}

void trial_job_dir_write(struct text *text, const char *job_dir, unsigned number)
{
	const size_t length = strlen(job_dir);

	text_printf(text, "%s%s%u", job_dir, length && job_dir[length - 1] == '/' ? "" : "/", number);
}

static void job_dir_make(struct plan *plan)
{
	struct text job_dir AUTO_TEXT = { 0 };

	if (!plan->job_dir)
		return;
	trial_job_dir_write(&job_dir, plan->job_dir, plan->trial);
	text_puts(&job_dir, dialect_of(plan)->trial_dir_end);
	free(plan->job_dir);
	plan->job_dir = text_take(&job_dir);
}

/* Removes all but the metrics from the search: a trial's plan needs nothing else of it, and the rest may be long. */
static void search_cut(struct plan *plan)
{
	json_t *metrics = json_object_get(plan->search, "metrics");
	json_t *search = json_pack("{s:O}", "metrics", metrics);

	json_decref(plan->search);
	plan->search = search;
}

struct plan *trial_plan_make(const struct plan *job, const struct study *study, unsigned number,
			     const double *values)
{
	struct plan *plan = plan_copy(job);

	plan->trial = number;
	if (!plan->limits_each_trial)
		plan->max_running_us = plan->max_wait_us = 0; /* these limits are the job's */
	json_array_clear(plan->deviations);                   /* reported by the job */
	json_decref(plan->resumed_jobs);
	json_decref(plan->study_limits);
	plan->resumed_jobs = plan->study_limits = NULL;
	plan->objects_since = 0;
	search_cut(plan);
	cluster_id_make(plan);
	job_dir_make(plan);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (plan->pools[role].count)
			pool_args_make(plan, &plan->pools[role], study, values);
	return plan;
}

json_t *trial_values_to_json(const struct study *study, const double *values)
{
	json_t *list = json_array();

	for (size_t i = 0; i < study->parameter_count; i++)
		json_array_append_new(list, isnan(values[i]) ? json_null() : json_real(values[i]));
	return list;
}

enum status trial_values_from_text(const struct study *study, const char *text, double *ret_values,
				   struct error *err)
{
	AUTO(json) json_t *list = NULL;
	enum status rc = json_parse_own(text, &list, err);

	if (rc)
		return rc;
	if (json_array_size(list) != study->parameter_count)
		return error_set(err, STATUS_INTERNAL, NULL, "a stored trial has other parameters than its study");
	for (size_t i = 0; i < study->parameter_count; i++) {
		const json_t *value = json_array_get(list, i);

		ret_values[i] = json_is_number(value) ? json_number_value(value) : NAN;
		if (study->parameters[i].type == PARAMETER_CATEGORICAL &&
		    !(ret_values[i] >= 0 && ret_values[i] < (double)study->parameters[i].value_count))
			ret_values[i] = NAN;
	}
	return STATUS_OK;
}
