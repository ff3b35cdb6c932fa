/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of Python packages and runtime versions, and the kinds of jobs that trainyard does not run. */
#include <string.h>

#include "api/ml/rules.h"
#include "api/training/forms.h"
#include "api/training/runtime_map.h"
#include "daemon/base/json.h"

enum { PACKAGES_MAX = 100 };

static void check_runtime(struct rules *rules, const char *version)
{
	const char *python = json_text_at(rules->input, "pythonVersion");

	if (rules->settings->lenient ? runtime_python(version, python) != NULL
				     : python && runtime_known(version, python))
		return;
	rules_refuse(rules, "runtime_version",
		     "The specified runtime version '%.*s' with the Python version '%.*s' is not supported "
		     "or is deprecated. "
		     "Supported versions are listed at "
		     "https://cloud.google.com/ai-platform/training/docs/runtime-version-list.",
		     RULES_SHOWN_BYTES, version, RULES_SHOWN_BYTES, python ? python : "");
}

static void check_package_uris(struct rules *rules, const json_t *uris)
{
	size_t index;
	const json_t *uri;

	if (json_array_size(uris) > PACKAGES_MAX) {
		rules_refuse(rules, "package_uris", "At most %d packages can be given, not %zu.",
			     PACKAGES_MAX, json_array_size(uris));
		return;
	}
	json_array_foreach((json_t *)uris, index, uri) {
		char fault[STORAGE_FAULT_SIZE];

		if (storage_path_fault(json_string_value(uri), STORAGE_OBJECT, fault))
			rules_refuse(rules, "package_uris", "'%.*s' %s.", RULES_SHOWN_BYTES,
				     json_string_value(uri), fault);
	}
}

/* Packages are required with a runtime version, and optional with a custom image. */
void rules_check_packages(struct rules *rules)
{
	const char *runtime = json_text_at(rules->input, "runtimeVersion");
	const json_t *uris = json_object_get(rules->input, "packageUris");
	const char *module = json_text_at(rules->input, "pythonModule");

	if (runtime && !input_image(rules->input, ROLE_MASTER)) {
		check_runtime(rules, runtime);
		if (!uris)
			rules_refuse(rules, "package_uris",
				     "At least one package is required with a runtime version.");
		if (!module)
			rules_refuse(rules, "python_module", "A module is required with a runtime version.");
	}
	check_package_uris(rules, uris);
	if (module && !is_python_module(module))
		rules_refuse(rules, "python_module", "'%.*s' is not the name of a Python module.",
			     RULES_SHOWN_BYTES, module);
}

static const char search_text[] =
	"trainyard does not run neural architecture searches: leave nasJobSpec out.";

/* Kinds of jobs that the service runs and trainyard does not; remove a row when trainyard supports the kind. */
static const struct {
	const char *member, *snake, *text;
} not_run[] = {
	{ "nasJobSpec", "nas_job_spec", search_text },
};

/* The service's documents name this algorithm, but none describes it, so trainyard cannot run it. */
static void check_algorithm(struct rules *rules)
{
	const char *algorithm = json_text_at(json_object_get(rules->input, "hyperparameters"), "algorithm");

	if (algorithm && strcmp(algorithm, "POPULATION_BASED_TRAINING") == 0)
		rules_refuse(
			rules, "hyperparameters.algorithm",
			"trainyard does not run population-based training: leave the algorithm out, or give "
			"GRID_SEARCH or RANDOM_SEARCH.");
}

void rules_check_capabilities(struct rules *rules)
{
	check_algorithm(rules);
	for (size_t i = 0; i < sizeof(not_run) / sizeof(not_run[0]); i++)
		if (json_object_get(rules->input, not_run[i].member))
			rules_refuse(rules, not_run[i].snake, "%s", not_run[i].text);
}
