/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/builtin.h"

#include "tests/unit/api/message/json_testing.h"

#define OUTPUT(framework)                                                                                    \
	"{'isBuiltInAlgorithmJob':true,'builtInAlgorithmOutput':{'framework':'" framework                    \
	"','runtimeVersion':'1.15','pythonVersion':'3.7'}}"

static void built_in_algorithms_are_known_by_their_image(void **state)
{
	static const struct {
		const char *image, *output;
	} rows[] = {
		{ "gcr.io/cloud-ml-algos/linear_learner_cpu:latest", OUTPUT("TENSORFLOW") },
		{ "gcr.io/cloud-ml-algos/linear_learner_gpu:latest", OUTPUT("TENSORFLOW") },
		{ "gcr.io/cloud-ml-algos/wide_deep_learner_cpu:latest", OUTPUT("TENSORFLOW") },
		{ "gcr.io/cloud-ml-algos/wide_deep_learner_gpu:latest", OUTPUT("TENSORFLOW") },
		{ "gcr.io/cloud-ml-algos/boosted_trees:latest", OUTPUT("XGBOOST") },
		{ "gcr.io/cloud-ml-algos/xgboost_dist:latest", OUTPUT("XGBOOST") },
		{ "gcr.io/cloud-ml-algos/tab_net:latest", OUTPUT("TENSORFLOW") },
		{ "gcr.io/cloud-ml-algos/image_classification:latest", OUTPUT("TENSORFLOW") },
		{ "gcr.io/cloud-ml-algos/image_object_detection", OUTPUT("TENSORFLOW") },
		{ "gcr.io/cloud-ml-algos/boosted_trees_2", "{'isBuiltInAlgorithmJob':true}" },
		{ "gcr.io/cloud-ml-algos/boosted", "{'isBuiltInAlgorithmJob':true}" },
		{ "eu.gcr.io/cloud-ml-algos/boosted_trees", "{}" },
		{ "gcr.io/cloud-ml-algos", "{}" },
		{ "gcr.io/p/boosted_trees", "{}" },
		{ NULL, "{}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *output = builtin_output_new(rows[i].image);
		AUTO(string) char *expected = quoted(rows[i].output);

		assert_string_equal(output, expected);
	}
}

static void the_model_is_below_the_job_directory(void **state)
{
	static const struct {
		const char *output, *job_dir, *finished;
	} rows[] = {
		{ "{'builtInAlgorithmOutput':{'framework':'X'}}", "gs://b/d",
		  "{'builtInAlgorithmOutput':{'framework':'X','modelPath':'gs://b/d/model/'}}" },
		{ "{'builtInAlgorithmOutput':{}}", "gs://b/d/",
		  "{'builtInAlgorithmOutput':{'modelPath':'gs://b/d/model/'}}" },
		{ "{'builtInAlgorithmOutput':{}}", NULL, "{'builtInAlgorithmOutput':{}}" },
		{ "{'isBuiltInAlgorithmJob':true}", "gs://b/d", "{'isBuiltInAlgorithmJob':true}" },
		{ "{}", "gs://b/d", "{}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *output = json_of(rows[i].output);

		builtin_output_finish(output, rows[i].job_dir);
		assert_json_text(output, rows[i].finished);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in_algorithms_are_known_by_their_image),
		cmocka_unit_test(the_model_is_below_the_job_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
