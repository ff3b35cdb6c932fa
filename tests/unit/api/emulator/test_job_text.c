/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_text.h"

#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

/* Fails with: has() that looks for one spelling: the text's own region and counts were replaced. */
static void a_text_becomes_the_body_of_a_create(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name, *collection, *body;
	} cases[] = {
		{ "trainingInput:\n  scaleTier: BASIC\n", "a", "jobs",
		  "{\"trainingInput\":{\"scaleTier\":\"BASIC\",\"region\":\"europe-west4\"},\"jobId\":\"a\"}" },
		{ "job_id: b\ntraining_input: {region: r}", NULL, "jobs",
		  "{\"job_id\":\"b\",\"training_input\":{\"region\":\"r\"}}" },
		{ "job_id: b\ntraining_input: {region: r}", "c", "jobs",
		  "{\"training_input\":{\"region\":\"r\"},\"jobId\":\"c\"}" },
		{ "workerPoolSpecs: []", NULL, "customJobs", "{\"jobSpec\":{\"workerPoolSpecs\":[]}}" },
		{ "worker_pool_specs: []", "d", "customJobs",
		  "{\"jobSpec\":{\"worker_pool_specs\":[]},\"displayName\":\"d\"}" },
		{ " \t{\"displayName\":\t\"e\", \"jobSpec\": {}}", NULL, "customJobs",
		  "{\"displayName\":\"e\",\"jobSpec\":{}}" },
		{ "studySpec: {}\nmax_trial_count: 4", NULL, "hyperparameterTuningJobs",
		  "{\"studySpec\":{},\"max_trial_count\":4,\"parallelTrialCount\":1}" },
		{ "trainingTaskDefinition: x", NULL, "trainingPipelines",
		  "{\"trainingTaskDefinition\":\"x\"}" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct job_text job AUTO_JOB_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };

		if (job_text_read(cases[i].text, strlen(cases[i].text), cases[i].name, "europe-west4", &job,
				  &err))
			fail_msg("%s: %s", cases[i].text, err.text);
		AUTO(string) char *body = json_dump_compact(job.body);

		assert_string_equal(job.collection, cases[i].collection);
		assert_string_equal(body, cases[i].body);
		assert_int_equal(job_text_has_name(&job), cases[i].name || strstr(cases[i].text, "job_id") ||
								  strstr(cases[i].text, "displayName"));
	}
}

static void other_texts_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *fault;
	} cases[] = {
		{ "a: 1\n b: 2\n", "line 2: " },
		{ "{\n\"a\": }", "line 2: " },
		{ "{\"a\": 1, \"a\": 2}", "line 1: " },
		{ "[1]", "this does not describe a job: it has none of trainingInput" },
		{ "", "it is empty" },
		{ "\t\n", "line " },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct job_text job AUTO_JOB_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(job_text_read(cases[i].text, strlen(cases[i].text), NULL, "r", &job, &err),
				 STATUS_INVALID_ARGUMENT);
		if (!strstr(err.text, cases[i].fault))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_becomes_the_body_of_a_create),
		cmocka_unit_test(other_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
