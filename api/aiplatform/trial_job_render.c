/* SPDX-License-Identifier: Apache-2.0 */
/* The CustomJob that runs a trial: nobody gave it, so it is told by what its tuning job was given, and by its plan. */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/rules_parts.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"

/* The arguments with the trial's flags behind them. */
static bool pool_fill(json_t *given, const struct pool *pool)
{
	json_t *program = json_object_get(given, "containerSpec");

	if (!program)
		program = json_object_get(given, "pythonPackageSpec");
	return !program || !pool->args || !json_object_set(program, "args", pool->args);
}

static bool pools_fill(json_t *spec, const struct plan *plan)
{
	json_t *pool;
	size_t i;

	json_array_foreach(json_object_get(spec, "workerPoolSpecs"), i, pool)
		if (i < ROLE_COUNT && !pool_is_skipped(pool) && !pool_fill(pool, &plan->pools[i]))
			return false;
	return true;
}

static bool directory_fill(json_t *spec, const struct plan *plan)
{
	json_t *output = json_object_get(spec, "baseOutputDirectory");

	return !output || !plan->job_dir ||
	       !json_object_set_new(output, "outputUriPrefix", json_string(plan->job_dir));
}

/* Choice: the key is the tuning job's, the labels are not. */
static json_t *given_make(const struct job *job, const json_t *tuning, const struct plan *plan)
{
	AUTO(json) json_t *spec = json_deep_copy(json_object_get(tuning, "trialJobSpec"));
	const json_t *key = json_object_get(tuning, "encryptionSpec");
	AUTO(json) json_t *given = json_object();

	if (!spec || !pools_fill(spec, plan) || !directory_fill(spec, plan) ||
	    json_object_set_new(given, "displayName", json_string(job->display_name)) ||
	    json_object_set(given, "jobSpec", spec) ||
	    (key && json_object_set(given, "encryptionSpec", (json_t *)key)))
		return NULL;
	return TAKE(given);
}

void trial_job_spec_render(const struct call *call, const struct job *job, struct text *text)
{
	const struct training_context *context = call->context;
	AUTO(job) struct job *tuning = NULL;
	AUTO(plan) struct plan *plan = NULL;
	AUTO(json) json_t *input = NULL;
	AUTO(json) json_t *given = NULL;
	struct error err AUTO_ERROR = { 0 };
	struct text members AUTO_TEXT = { 0 };
	enum status rc = job_get_by_id(context->store, job->parent, &tuning, &err);

	if (!rc)
		rc = json_parse_own(tuning->input, &input, &err);
	if (!rc)
		rc = plan_from_text(job->plan, &plan, &err);
	if (rc) {
		log_event(LOG_ERROR, "tuning-job-unread", "job=%s error=\"%s\"", job->job_id,
			  err.text ? err.text : "");
		return;
	}
	given = given_make(job, input, plan);
	json_write(&members, given);
	if (!given || members.failed) {
		text->failed = true;
		return;
	}
	text_putc(text, ',');
	text_append(text, members.data + 1, members.length - 2);
}
