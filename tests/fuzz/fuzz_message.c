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
#include "api/message/message_binary.h"
#include "scheduler/plan/plan.h"
#include "tests/fuzz/message_mutation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const struct mutated mutated = { .messages = (const struct message *const[]){ &ml_job, NULL } };

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

	const enum status rc = job_to_plan("p", job, "0123456789", settings, &plan, NULL);

	/* Lenient rules accept runtime versions for which there is no image. */
	if (rc == STATUS_FAILED_PRECONDITION && settings->lenient)
		return;
	expect(rc == STATUS_OK);
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

/* The same input is also tried as a mask, and as the text to which a mask is applied, JSON or not. */
static void fuzz_mask(const char *input)
{
	struct text kept AUTO_TEXT = { 0 };
	struct text others AUTO_TEXT = { 0 };
	AUTO(json) json_t *value = NULL;

	fields_mask_check(&ml_list_jobs_response, input, NULL, NULL);
	fields_mask_write(&others, "jobId,labels/*,*/region", input, NULL);
	if (fields_mask_write(&kept, input, "{\"jobs\":[{\"jobId\":\"j\",\"labels\":{\"a\":\"b\"}}]}", NULL))
		return;
	value = json_loads(kept.data, JSON_DECODE_ANY, NULL);
	expect(value);
}

/* Converts the input to binary, JSON or not. */
static void fuzz_binary(const char *input)
{
	static const struct message *const any[] = { &ml_job, NULL };
	struct text bytes AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };

	expect(message_to_binary(&ml_job, input, any, &bytes, &err) == STATUS_OK || err.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(json) json_t *value = NULL;
	AUTO(json) json_t *job = NULL;
	AUTO(string) char *text = strndup(size ? (const char *)data : "", size);
	struct error err AUTO_ERROR = { 0 };

	fuzz_mask(text);
	fuzz_binary(text);
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
