/* SPDX-License-Identifier: Apache-2.0 */
/* The way of Vertex AI's creates from bytes to plan: body, fields, rules, plan and study. Each body is tried as a custom
 * job, as a tuning job of both versions, and as a pipeline.
 *
 * What must hold beside not crashing: what the front end takes it takes again unchanged, and what keeps the rules makes
 * a plan with a text that is read back. */
#include <stdint.h>
#include <stdlib.h>

#include "api/aiplatform/messages.h"
#include "api/aiplatform/rules.h"
#include "api/aiplatform/to_plan.h"
#include "api/aiplatform/to_study.h"
#include "daemon/base/json.h"
#include "scheduler/plan/plan.h"
#include "scheduler/tuning/study.h"
#include "tests/fuzz/message_mutation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct message *const messages[] = { &aiplatform_custom_job, &aiplatform_tuning_job,
						  &aiplatform_tuning_job_beta, &aiplatform_training_pipeline,
						  NULL };
const struct mutated mutated = {
	.messages = messages,
	.inner = (const struct message *const[]){ &aiplatform_custom_job_spec, &aiplatform_tuning_task_inputs,
						  NULL },
};

static const struct aiplatform_settings settings[] = { { .lenient = false }, { .lenient = true } };

static void expect(bool held)
{
	if (!held)
		abort();
}

static void plan_try(const json_t *job, bool tunes, const struct aiplatform_settings *under)
{
	static const struct plan_names names = { "p", "123", "us-central1", "1234567890", "ab12cd34ef" };
	AUTO(plan) struct plan *plan = NULL;
	AUTO(plan) struct plan *again = NULL;
	AUTO(string) char *text = NULL;
	struct error err AUTO_ERROR = { 0 };

	expect((tunes ? tuning_job_to_plan : custom_job_to_plan)(job, &names, under, &plan, &err) ==
	       STATUS_OK);
	text = plan_to_text(plan);
	expect(text && plan_from_text(text, &again, NULL) == STATUS_OK);
	expect(plan_replica_count(plan) == plan_replica_count(again));
}

static void study_try(const json_t *job)
{
	AUTO(study) struct study *study = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (study_spec_to_study(json_object_get(job, "studySpec"), 1, &study, &err))
		expect(err.status == STATUS_INVALID_ARGUMENT && err.text);
}

static void job_try(const json_t *job, bool tunes)
{
	for (size_t i = 0; i < 2; i++) {
		struct error err AUTO_ERROR = { 0 };

		if ((tunes ? tuning_job_rules_check : custom_job_rules_check)(job, &settings[i], &err)) {
			expect(err.status == STATUS_INVALID_ARGUMENT && err.text);
			continue;
		}
		plan_try(job, tunes, &settings[i]);
		if (tunes)
			study_try(job);
	}
}

static void pipeline_try(const json_t *pipeline)
{
	AUTO(json) json_t *job = NULL;
	struct error err AUTO_ERROR = { 0 };
	bool tunes = false;

	if (pipeline_rules_check(pipeline, &settings[0], &job, &tunes, &err))
		expect((err.status == STATUS_INVALID_ARGUMENT || err.status == STATUS_FAILED_PRECONDITION) &&
		       err.text);
	else
		plan_try(job, tunes, &settings[0]);
}

static void message_try(const struct message *message, const json_t *value)
{
	AUTO(json) json_t *canonical = NULL;
	AUTO(json) json_t *again = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (message_read(message, value, "", &canonical, &err)) {
		expect(err.text && err.status == STATUS_INVALID_ARGUMENT);
		return;
	}
	expect(message_read(message, canonical, "", &again, NULL) == STATUS_OK &&
	       json_equal(canonical, again));
	if (message == &aiplatform_training_pipeline)
		pipeline_try(canonical);
	else
		job_try(canonical, message != &aiplatform_custom_job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(json) json_t *value = NULL;

	if (message_parse_body((const char *)data, size, &value, NULL))
		return 0;
	for (size_t i = 0; messages[i]; i++)
		message_try(messages[i], value);
	return 0;
}
