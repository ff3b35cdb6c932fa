/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/builtin.h"

#include <string.h>

#include "daemon/base/json.h"

static const char prefix[] = "gcr.io/cloud-ml-algos/";

/* Choice: all algorithms get the last 1.x runtime, which serves the models of all of them; earlier, the service
 * named other versions. */
#define RUNTIME "1.15"
#define PYTHON  "3.7"

/* Source: https://cloud.google.com/ai-platform/training/docs/algorithms (each one's "framework") */
static const struct {
	const char *algorithm, *framework;
} rows[] = {
	{ "linear_learner_cpu", "TENSORFLOW" },
	{ "linear_learner_gpu", "TENSORFLOW" },
	{ "wide_deep_learner_cpu", "TENSORFLOW" },
	{ "wide_deep_learner_gpu", "TENSORFLOW" },
	{ "tab_net", "TENSORFLOW" },
	{ "image_classification", "TENSORFLOW" },
	{ "image_object_detection", "TENSORFLOW" },
	{ "boosted_trees", "XGBOOST" },
	{ "xgboost_dist", "XGBOOST" },
};

bool builtin_image(const char *image)
{
	return strncmp(image, prefix, strlen(prefix)) == 0;
}

/* Returns the framework of an algorithm's image; NULL if the table has no row for the algorithm. */
static const char *framework_of(const char *image)
{
	const char *algorithm = image + strlen(prefix);
	size_t length = strcspn(algorithm, ":@");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].algorithm) == length && strncmp(rows[i].algorithm, algorithm, length) == 0)
			return rows[i].framework;
	return NULL;
}

char *builtin_output_new(const char *image)
{
	AUTO(json) json_t *output = json_object();
	const char *framework;

	if (!image || !builtin_image(image))
		return json_dump_compact(output);
	framework = framework_of(image);
	json_object_set_new(output, "isBuiltInAlgorithmJob", json_true());
	if (framework)
		json_object_set_new(output, "builtInAlgorithmOutput",
				    json_pack("{s:s, s:s, s:s}", "framework", framework, "runtimeVersion",
					      RUNTIME, "pythonVersion", PYTHON));
	return json_dump_compact(output);
}

void builtin_output_finish(json_t *output, const char *job_dir)
{
	json_t *result = json_object_get(output, "builtInAlgorithmOutput");
	size_t length = job_dir ? strlen(job_dir) : 0;
	const char *slash = length && job_dir[length - 1] == '/' ? "" : "/";

	if (!result || !length)
		return;
	json_object_set_new(result, "modelPath", json_sprintf("%s%smodel/", job_dir, slash));
}
