/* SPDX-License-Identifier: Apache-2.0 */
/* Python packages and the runtimes they run in, and which kinds of jobs are run at all. */
#include <string.h>

#include "api/ml/rules.h"
#include "daemon/base/json.h"

enum { PACKAGES_MAX = 100 };

/* Source: https://cloud.google.com/ai-platform/training/docs/runtime-version-list */
static const struct {
	const char *version, *python, *other_python;
} runtimes[] = {
	{ "1.15", "3.7", "2.7" }, { "2.1", "3.7", NULL }, { "2.2", "3.7", NULL },  { "2.3", "3.7", NULL },
	{ "2.4", "3.7", NULL },   { "2.5", "3.7", NULL }, { "2.6", "3.7", NULL },  { "2.7", "3.7", NULL },
	{ "2.8", "3.7", NULL },   { "2.9", "3.7", NULL }, { "2.10", "3.7", NULL }, { "2.11", "3.7", NULL },
};

bool runtime_known(const char *version, const char *python)
{
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		if (strcmp(runtimes[i].version, version) != 0)
			continue;
		return !python || strcmp(runtimes[i].python, python) == 0 ||
		       (runtimes[i].other_python && strcmp(runtimes[i].other_python, python) == 0);
	}
	return false;
}

static void check_runtime(struct rules *rules, const char *version)
{
	const char *python = json_text_at(rules->input, "pythonVersion");

	if (python && (rules->settings->lenient || runtime_known(version, python)))
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
		if (!is_storage_path(json_string_value(uri), true))
			rules_refuse(rules, "package_uris",
				     "'%.*s' is not a Cloud Storage object: it should be gs://BUCKET/OBJECT.",
				     RULES_SHOWN_BYTES, json_string_value(uri));
	}
}

/* A runtime needs packages; a custom image may have them. */
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
	if (module && !text_matches(module, "[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*"))
		rules_refuse(rules, "python_module", "'%.*s' is not the name of a Python module.",
			     RULES_SHOWN_BYTES, module);
}

static const char packages_text[] =
	"trainyard does not run Python-package jobs: give masterConfig.imageUri, and leave "
	"runtimeVersion, packageUris and pythonModule out.";
static const char tuning_text[] =
	"trainyard does not run hyperparameter tuning jobs: leave hyperparameters out.";
static const char search_text[] =
	"trainyard does not run neural architecture searches: leave nasJobSpec out.";

/* What trainyard does not run, though the service would: a row goes when the kind is run. */
static const struct {
	const char *member, *snake, *text;
} not_run[] = {
	{ "runtimeVersion", "runtime_version", packages_text },
	{ "packageUris", "package_uris", packages_text },
	{ "pythonModule", "python_module", packages_text },
	{ "hyperparameters", "hyperparameters", tuning_text },
	{ "nasJobSpec", "nas_job_spec", search_text },
};

/* Each text once, for the first field that calls for it. */
void rules_check_capabilities(struct rules *rules)
{
	const char *said = NULL;

	for (size_t i = 0; i < sizeof(not_run) / sizeof(not_run[0]); i++) {
		if (!json_object_get(rules->input, not_run[i].member) || not_run[i].text == said)
			continue;
		said = not_run[i].text;
		rules_refuse(rules, not_run[i].snake, "%s", said);
	}
}
