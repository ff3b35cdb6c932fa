/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/input_deviations.h"

#include <stdio.h>
#include <string.h>

#include "api/ml/cluster.h"
#include "api/ml/job_rules.h"
#include "api/ml/rules.h"
#include "api/training/parity_warnings.h"
#include "api/training/regions.h"
#include "api/training/runtime_map.h"
#include "daemon/base/json.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/machine.h"
#include "scheduler/plan/plan.h"

/* A job's input and plan, for the functions that report deviations. @list: the plan's list, to which they add. */
struct view {
	const json_t *input;
	const struct ml_settings *settings;
	const struct plan *plan;
	json_t *list;
};

/* "trainingInput.workerConfig.imageUri" */
static const char *config_field(enum role role, const char *below, char field[FIELD_NAME_SIZE])
{
	snprintf(field, FIELD_NAME_SIZE, "trainingInput.%s.%s", ml_roles[role].config, below);
	return field;
}

static const json_t *role_config(const struct view *view, enum role role)
{
	return json_object_get(view->input, ml_roles[role].config);
}

/* Reports members of the input that have no effect in trainyard, with any value. */
static void report_without_effect(const struct view *view)
{
	static const struct {
		const char *object, *member, *field, *code, *text;
	} rows[] = {
		{ NULL, "network", "trainingInput.network", "vpc-network",
		  "The VPC network has no effect: replicas share a network of their own." },
		{ "encryptionConfig", "kmsKeyName", "trainingInput.encryptionConfig.kmsKeyName",
		  "encryption-key", "The encryption key has no effect: nothing is encrypted with it." },
		{ NULL, "serviceAccount", "trainingInput.serviceAccount", "service-account",
		  "The service account has no effect on what replicas may do." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const json_t *object =
			rows[i].object ? json_object_get(view->input, rows[i].object) : view->input;

		if (json_object_get(object, rows[i].member))
			deviation_add(view->list, WITHOUT_EFFECT, rows[i].code, rows[i].field, "%s",
				      rows[i].text);
	}
}

static void report_strategy(const struct view *view)
{
	const char *strategy = json_text_at(json_object_get(view->input, "scheduling"), "strategy");

	if (strategy && strcmp(strategy, "LOW_COST") == 0)
		deviation_add(view->list, WITHOUT_EFFECT, "scheduling-strategy",
			      "trainingInput.scheduling.strategy",
			      "The strategy LOW_COST has no effect: there are no preemptible machines.");
}

static void report_disks(const struct view *view)
{
	char field[FIELD_NAME_SIZE];

	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!view->plan->pools[role].count ||
		    !json_object_get(role_config(view, (enum role)role), "diskConfig"))
			continue;
		deviation_add(view->list, WITHOUT_EFFECT, "disk-config",
			      config_field((enum role)role, "diskConfig", field),
			      "The disk configuration has no effect: replicas use the container "
			      "engine's storage.");
	}
}

static void report_tpu(const struct view *view)
{
	if (input_has_tpu(view->input) && !view->settings->tpu_config)
		deviation_add(view->list, WITHOUT_EFFECT, "cloud-tpu",
			      json_text_at(view->input, "workerType") ? "trainingInput.workerType"
								      : "trainingInput.scaleTier",
			      "There is no Cloud TPU: the other replicas run without it, and without a "
			      "TPU_CONFIG.");
}

/* Writes the field that sets the role's image: its own imageUri, else the master's, else runtimeVersion. */
static const char *image_field(const struct view *view, enum role role, char field[FIELD_NAME_SIZE])
{
	if (view->plan->runtime_version)
		return "trainingInput.runtimeVersion";
	bool own = json_text_at(role_config(view, role), "imageUri");

	return config_field(own ? role : ROLE_MASTER, "imageUri", field);
}

/* Returns the image that the client named, before the image map replaced it. */
static const char *named_image(const struct pool *pool)
{
	return pool->cloud_image ? pool->cloud_image : pool->image;
}

static void report_images(const struct view *view)
{
	char name[FIELD_NAME_SIZE];

	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &view->plan->pools[role];
		const char *field = image_field(view, (enum role)role, name);

		if (!pool->count)
			continue;
		if (pool->cloud_image)
			deviation_add(view->list, DONE_OTHERWISE, "image-mapped", field,
				      "The image %.*s runs in the place of %.*s, as the image map says.",
				      RULES_SHOWN_BYTES, pool->image, RULES_SHOWN_BYTES, pool->cloud_image);
		if (!view->plan->runtime_version)
			registry_report(view->list, named_image(pool), field);
	}
}

/* Reports once, for the first role that has one, that an image replaces the runtime version. Google's own framework
 * images are no deviation. */
static void report_runtime(const struct view *view)
{
	const struct pool *pools = view->plan->pools;
	const char *runtime = view->plan->runtime_version;

	for (int role = 0; runtime && role < ROLE_COUNT; role++) {
		if (!pools[role].count || is_framework_image(pools[role].image))
			continue;
		deviation_add(view->list, DONE_OTHERWISE, "runtime-image", "trainingInput.runtimeVersion",
			      "The image %.*s runs in the place of the runtime version %.*s: its Python and "
			      "its libraries may be of other versions.",
			      RULES_SHOWN_BYTES, pools[role].image, RULES_SHOWN_BYTES, runtime);
	}
}

/* In the cloud, the image's own entry point would install the packages and run the module; here trainyard does both. */
static void report_packages(const struct view *view)
{
	if (view->plan->runtime_version)
		return;
	if (view->plan->pools[ROLE_MASTER].python_module) {
		deviation_add(view->list, DONE_OTHERWISE, "module-launched", "trainingInput.pythonModule",
			      "trainyard installs the packages and runs the module in the image: its "
			      "entry point, which would do so in the cloud, is not run.");
		return;
	}
	if (json_array_size(json_object_get(view->input, "packageUris")))
		deviation_add(view->list, DONE_OTHERWISE, "packages-not-installed",
			      "trainingInput.packageUris",
			      "trainyard does not install the packages: the image's own program runs, and "
			      "finds their names in CLOUD_ML_JOB.");
}

/* The path of the field that requests the role's accelerators: acceleratorConfig, else the machine type, else
 * scaleTier. */
static const char *accelerator_field(const struct view *view, enum role role, char field[FIELD_NAME_SIZE])
{
	if (json_object_get(role_config(view, role), "acceleratorConfig"))
		return config_field(role, "acceleratorConfig.type", field);
	if (!json_text_at(view->input, ml_roles[role].type))
		return "trainingInput.scaleTier";
	snprintf(field, FIELD_NAME_SIZE, "trainingInput.%s", ml_roles[role].type);
	return field;
}

static void report_accelerators(const struct view *view)
{
	const char *region = json_text_at(view->input, "region");
	char field[FIELD_NAME_SIZE];

	for (int role = 0; role < ROLE_COUNT && region_known(region); role++) {
		struct role_accelerators wanted;

		input_accelerators(view->input, (enum role)role, &wanted);
		if (wanted.count && !region_has_accelerator(region, wanted.type))
			deviation_add(view->list, REFUSED_BY_CLOUD, "accelerator-region",
				      accelerator_field(view, (enum role)role, field),
				      "The region %s does not offer accelerators of type %s.", region,
				      wanted.type);
	}
}

static void report_unknown_region(const struct view *view)
{
	const char *region = json_text_at(view->input, "region");

	if (!region_known(region))
		unknown_report(view->list, "region-unknown", "trainingInput.region", "region", region);
}

static void report_unknown_machines(const struct view *view)
{
	char field[FIELD_NAME_SIZE];

	for (int role = 0; role < ROLE_COUNT; role++) {
		const char *type = json_text_at(view->input, ml_roles[role].type);
		struct machine machine;

		if (!type ||
		    (machine_find_in(type, MACHINE_OF_ML, &machine) && machine.category != MACHINE_OF_TIER))
			continue;
		snprintf(field, sizeof(field), "trainingInput.%s", ml_roles[role].type);
		unknown_report(view->list, "machine-type-unknown", field, "machine type", type);
	}
}

static void report_unknown_runtime(const struct view *view)
{
	const char *tpu_version = json_text_at(role_config(view, ROLE_WORKER), "tpuTfVersion");
	const char *version = view->plan->runtime_version;
	const char *python = runtime_python(version, json_text_at(view->input, "pythonVersion"));
	char field[FIELD_NAME_SIZE];

	if (version && !runtime_known(version, python))
		deviation_add(
			view->list, REFUSED_BY_CLOUD, "runtime-version-unknown",
			"trainingInput.runtimeVersion",
			"The runtime version '%.*s' with the Python version '%.*s' is not known to exist in "
			"the service.",
			RULES_SHOWN_BYTES, version, RULES_SHOWN_BYTES, python ? python : "");
	if (tpu_version && !runtime_known(tpu_version, NULL))
		unknown_report(view->list, "runtime-version-unknown",
			       config_field(ROLE_WORKER, "tpuTfVersion", field), "runtime version",
			       tpu_version);
}

static void report_unset_python(const struct view *view)
{
	const char *version = view->plan->runtime_version;
	const char *python = runtime_python(version, NULL);

	if (python && !json_text_at(view->input, "pythonVersion"))
		deviation_add(
			view->list, REFUSED_BY_CLOUD, "python-version-unset", "trainingInput.pythonVersion",
			"The service wants the Python version named: the runtime version '%.*s' runs with %s, "
			"its default while there was one.",
			RULES_SHOWN_BYTES, version, python);
}

/* Report functions in the order of the list of deviations; the last four report only jobs that lenient validation
 * accepted. */
static void (*const tellers[])(const struct view *view) = {
	report_images,
	report_runtime,
	report_packages,
	report_accelerators,
	report_tpu,
	report_disks,
	report_without_effect,
	report_strategy,
	report_unknown_region,
	report_unknown_machines,
	report_unknown_runtime,
	report_unset_python,
};

void input_deviations_add(const json_t *input, const struct ml_settings *settings, struct plan *plan)
{
	const struct view view = { input, settings, plan, plan->deviations };

	for (size_t i = 0; i < sizeof(tellers) / sizeof(tellers[0]); i++)
		tellers[i](&view);
}
