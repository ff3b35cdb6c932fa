/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/ml/job_testing.h: jobs as a client sends them, and patches to them. */
#include "api/ml/job_rules.h"
#include "api/ml/messages.h"
#include "scheduler/plan/plan.h"
#include "tests/unit/api/message/json_testing.h"

/* The smallest valid job; tests patch what they are about. */
#define CONTAINER_JOB                                                                                        \
	"{'jobId':'j','trainingInput':{'region':'us-central1','masterConfig':{'imageUri':'gcr.io/p/i:1'}}}"

/* The canonical form of a body; the test fails if the front end refuses it. */
static inline json_t *job_of_body(const json_t *body)
{
	struct error err AUTO_ERROR = { 0 };
	json_t *job = NULL;

	if (message_read(&ml_job, body, "job", &job, &err))
		fail_msg("the front end refuses it: %s", err.text);
	return job;
}

/* Applies @patch to @base: objects member by member; null removes, other values replace. */
static inline void json_patch(json_t *base, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)patch, key, value) {
		json_t *present = json_object_get(base, key);

		if (json_is_null(value))
			json_object_del(base, key);
		else if (json_is_object(value) && json_is_object(present))
			json_patch(present, value);
		else
			json_object_set(base, key, value);
	}
}

/* The container job with @input_patch applied to its trainingInput, in canonical form. */
static inline json_t *job_with_input(const char *input_patch)
{
	AUTO(json) json_t *body = json_of(CONTAINER_JOB);
	AUTO(json) json_t *patch = json_of(input_patch);

	json_patch(json_object_get(body, "trainingInput"), patch);
	return job_of_body(body);
}

static const struct ml_settings strict = { .lenient = false };
static const struct ml_settings lenient = { .lenient = true };

/* A patch of the trainingInput and the result: NULL: accepted, or the field of the error (NULL text: any) and a part of
 * its text. A field of "" stands for an error without a field. */
struct input_row {
	const char *patch, *field, *text;
};

static inline bool has_violation(const struct error *err, const char *field, const char *text)
{
	for (size_t i = 0; i < err->violation_count; i++)
		if (strcmp(err->violations[i].field, field) == 0 &&
		    (!text || strstr(err->violations[i].text, text)))
			return true;
	return !*field && text && strstr(err->text, text);
}

static inline void assert_input_rows(const struct input_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(json) json_t *job = job_with_input(rows[i].patch);
		struct error err AUTO_ERROR = { 0 };
		enum status status = job_rules_check(job, &strict, &err);

		if (!rows[i].field && status)
			fail_msg("%s: %s", rows[i].patch, err.text);
		if (!rows[i].field)
			continue;
		if (!status)
			fail_msg("%s was taken", rows[i].patch);
		assert_int_equal(status, STATUS_INVALID_ARGUMENT);
		if (!has_violation(&err, rows[i].field, rows[i].text))
			fail_msg("%s: %s, but expected %s: %s", rows[i].patch, err.text, rows[i].field,
				 rows[i].text);
	}
}
