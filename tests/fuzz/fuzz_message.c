/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a create from bytes to plan: body, fields, rules, plan, and the plan's text and back.
 *
 * What must hold beside not crashing: what the front end takes it takes again unchanged, and a job that
 * keeps the rules makes a plan. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/ml/job_rules.h"
#include "api/ml/messages.h"
#include "api/ml/to_plan.h"
#include "scheduler/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static void fuzz_plan(const json_t *job, const struct ml_settings *settings)
{
	AUTO(plan) struct plan *plan = NULL;
	AUTO(plan) struct plan *again = NULL;
	AUTO(string) char *text = NULL;

	expect(job_to_plan("p", job, "0123456789", settings, &plan, NULL) == STATUS_OK);
	text = plan_to_text(plan);
	expect(text && plan_from_text(text, &again, NULL) == STATUS_OK);
	expect(plan_replica_count(plan) == plan_replica_count(again));
}

static void fuzz_job(const json_t *job)
{
	static const struct ml_settings settings[] = { { .lenient = false }, { .lenient = true } };
	AUTO(json) json_t *again = NULL;

	expect(message_read(&ml_job, job, "job", &again, NULL) == STATUS_OK && json_equal(job, again));
	for (size_t i = 0; i < 2; i++) {
		struct error err AUTO_ERROR = { 0 };

		if (job_rules_check(job, &settings[i], &err) == STATUS_OK)
			fuzz_plan(job, &settings[i]);
		else
			expect(err.text);
	}
}

/* A body is a mask too: one input serves both readers. */
static void fuzz_mask(const uint8_t *data, size_t size, json_t *value)
{
	AUTO(string) char *mask = malloc(size + 1);

	memcpy(mask, data, size);
	mask[size] = '\0';
	fields_mask_apply(value, mask, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(json) json_t *value = NULL;
	AUTO(json) json_t *job = NULL;
	AUTO(json)
	json_t *sample = json_pack("{s:[{s:s, s:{s:s}}]}", "jobs", "jobId", "j", "labels", "a", "b");
	struct error err AUTO_ERROR = { 0 };

	if (size)
		fuzz_mask(data, size, sample);
	if (message_parse_body((const char *)data, size, &value, &err)) {
		expect(err.text && err.status == STATUS_INVALID_ARGUMENT);
		return 0;
	}
	if (message_read(&ml_job, value, "job", &job, &err) == STATUS_OK)
		fuzz_job(job);
	else
		expect(err.text && err.status == STATUS_INVALID_ARGUMENT);
	return 0;
}
