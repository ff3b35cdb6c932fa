/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/spec_deviations.h"

#include <stdio.h>
#include <string.h>

#include "api/aiplatform/prebuilt.h"
#include "api/aiplatform/rules_parts.h"
#include "api/aiplatform/spec_defaults.h"
#include "api/training/parity_warnings.h"
#include "api/training/regions.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/machine.h"
#include "scheduler/plan/plan.h"

enum { FIELD_SIZE = 128 };

/* The arguments of all report functions. @list: the plan's deviations, to which they add. */
struct view {
	const json_t *job, *spec;
	const char *root;
	const struct plan *plan;
	json_t *list;
};

/* "jobSpec.network" */
static const char *spec_field(const struct view *view, const char *below, char field[FIELD_SIZE])
{
	snprintf(field, FIELD_SIZE, "%s.%s", view->root, below);
	return field;
}

/* "jobSpec.workerPoolSpecs[0].machineSpec" */
static const char *pool_field(const struct view *view, int index, const char *below, char field[FIELD_SIZE])
{
	snprintf(field, FIELD_SIZE, "%s.workerPoolSpecs[%d].%s", view->root, index, below);
	return field;
}

static const json_t *pool_at(const struct view *view, int index)
{
	return json_array_get(json_object_get(view->spec, "workerPoolSpecs"), (size_t)index);
}

/* Members of the spec that have no effect in trainyard, with any value. */
static const struct {
	const char *member, *code, *text;
} spec_rows[] = {
	{ "network", "vpc-network", "The VPC network has no effect: replicas share a network of their own." },
	{ "reservedIpRanges", "vpc-network",
	  "The reserved ranges have no effect: replicas share a network of their own." },
	{ "pscInterfaceConfig", "vpc-network",
	  "Private Service Connect has no effect: replicas share a network of their own." },
	{ "persistentResourceId", "persistent-resource",
	  "The persistent resource has no effect: replicas run on this machine." },
	{ "serviceAccount", "service-account", "The service account has no effect on what replicas may do." },
	{ "tensorboard", "tensorboard",
	  "The TensorBoard has no effect: no logs are uploaded to it, and AIP_TENSORBOARD_RESOURCE_NAME alone is set." },
	{ "experiment", "experiment", "The experiment has no effect: nothing is recorded in it." },
	{ "experimentRun", "experiment",
	  "The run of the experiment has no effect: nothing is recorded in it." },
	{ "protectedArtifactLocationId", "artifact-location",
	  "The location of protected artifacts has no effect: there are none." },
	{ "models", "checkpoint-models",
	  "The names of models have no effect: checkpoints are not registered." },
	{ "enableDashboardAccess", "dashboard",
	  "There is no address of the dashboard: AIP_DASHBOARD_PORT alone is set." },
};

static void report_without_effect(const struct view *view)
{
	char field[FIELD_SIZE];

	for (size_t i = 0; i < sizeof(spec_rows) / sizeof(spec_rows[0]); i++)
		if (json_object_get(view->spec, spec_rows[i].member))
			deviation_add(view->list, WITHOUT_EFFECT, spec_rows[i].code,
				      spec_field(view, spec_rows[i].member, field), "%s", spec_rows[i].text);
	if (json_object_get(view->job, "encryptionSpec"))
		deviation_add(view->list, WITHOUT_EFFECT, "encryption-key", "encryptionSpec.kmsKeyName",
			      "The encryption key has no effect: nothing is encrypted with it.");
}

static void report_strategy(const struct view *view)
{
	const char *strategy = json_text_at(json_object_get(view->spec, "scheduling"), "strategy");
	char field[FIELD_SIZE];

	if (view->plan->preemptible)
		deviation_add(
			view->list, DONE_OTHERWISE, "scheduling-strategy",
			spec_field(view, "scheduling.strategy", field),
			"There are no preemptible machines: with %s, too, no replica is preempted but by an "
			"ordered fault.",
			strategy);
}

/* The same table for members of a pool. */
static const struct {
	const char *object, *member, *field, *code, *text;
} pool_rows[] = {
	{ NULL, "diskSpec", "diskSpec", "disk-config",
	  "The pool's disk has no effect: replicas use the container engine's storage." },
	{ "machineSpec", "reservationAffinity", "machineSpec.reservationAffinity", "reservation",
	  "The pool's reservation has no effect: there are none." },
	{ "machineSpec", "gpuPartitionSize", "machineSpec.gpuPartitionSize", "gpu-partition",
	  "The pool's partition size has no effect: its replicas have whole GPUs." },
};

static void report_pool_members(const struct view *view, int index)
{
	char field[FIELD_SIZE];

	for (size_t i = 0; i < sizeof(pool_rows) / sizeof(pool_rows[0]); i++) {
		const json_t *pool = pool_at(view, index);
		const json_t *object =
			pool_rows[i].object ? json_object_get(pool, pool_rows[i].object) : pool;

		if (!json_object_get(object, pool_rows[i].member))
			continue;
		/* A job that is submitted once more has the disk that the service added. */
		if (strcmp(pool_rows[i].member, "diskSpec") == 0 && spec_disk_is_default(pool))
			continue;
		deviation_add(view->list, WITHOUT_EFFECT, pool_rows[i].code,
			      pool_field(view, index, pool_rows[i].field, field), "%s", pool_rows[i].text);
	}
}

/* Paths where the service reads log lines, besides stdout and stderr.
 * Source: https://cloud.google.com/vertex-ai/docs/training/code-requirements#write-container-logs (read 2026-11-22) */
static const char *const log_places[] = { "/var/log-storage/output", "/dev/log" };

static bool names_log_place(const json_t *texts, const char *place)
{
	size_t i;
	const json_t *text;

	json_array_foreach(texts, i, text) {
		const char *value =
			json_is_object(text) ? json_text_at(text, "value") : json_string_value(text);

		if (value && strstr(value, place))
			return true;
	}
	return false;
}

/* Finds log paths only in the job's command, arguments and environment, not inside the image. */
static void report_log_places(const struct view *view, int index)
{
	static const char *const members[] = { "command", "args", "env" };
	const bool packaged = view->plan->pools[index].python_module;
	const char *task = packaged ? "pythonPackageSpec" : "containerSpec";
	const json_t *object = json_object_get(pool_at(view, index), task);
	char below[64], field[FIELD_SIZE];

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		for (size_t j = 0; j < sizeof(log_places) / sizeof(log_places[0]); j++) {
			if (!names_log_place(json_object_get(object, members[i]), log_places[j]))
				continue;
			snprintf(below, sizeof(below), "%s.%s", task, members[i]);
			deviation_add(view->list, WITHOUT_EFFECT, "log-place",
				      pool_field(view, index, below, field),
				      "What is written to /var/log-storage or /dev/log is no log entry: only "
				      "stdout and stderr are read.");
		}
	}
}

/* Reports an accelerator or a TPU that the region does not have. The cloud's list changes, so the deviation is only
 * IN_DOUBT_IN_CLOUD. */
static void report_region(const struct view *view, int index)
{
	const struct pool *pool = &view->plan->pools[index];
	const char *region = view->plan->region, *type = pool->accelerator_type;
	AUTO(string) char *series = memory_strndup(pool->machine_type, strcspn(pool->machine_type, "-"));
	char field[FIELD_SIZE];

	if (!region || !region_find(region) || (!type && !pool_has_tpu(pool_at(view, index))))
		return;
	if (!region_trains_with(region, type ? type : series))
		deviation_add(view->list, IN_DOUBT_IN_CLOUD, "accelerator-region",
			      pool_field(view, index,
					 type ? "machineSpec.acceleratorType" : "machineSpec.machineType",
					 field),
			      "The region %s has no %s%s for training in the service's list of 2026.", region,
			      type ? "accelerators of type " : "machines ", type ? type : pool->machine_type);
}

/* Reports a retired accelerator, which only lenient validation accepts, or one that the region does not have. */
static void report_accelerator(const struct view *view, int index)
{
	const char *type = view->plan->pools[index].accelerator_type;
	char field[FIELD_SIZE];

	if (!type || !accelerator_is_retired(type))
		report_region(view, index);
	else
		deviation_add(view->list, REFUSED_BY_CLOUD, "accelerator-retired",
			      pool_field(view, index, "machineSpec.acceleratorType", field),
			      "The service has no more accelerators of type %s.", type);
}

static void report_machine(const struct view *view, int index)
{
	const char *type = view->plan->pools[index].machine_type;
	const json_t *spec = json_object_get(pool_at(view, index), "machineSpec");
	struct machine machine;
	char field[FIELD_SIZE];

	if (!machine_find_in(type, MACHINE_OF_VERTEX, &machine)) {
		unknown_report(view->list, "machine-type-unknown",
			       pool_field(view, index, "machineSpec.machineType", field), "machine type",
			       type);
		return;
	}
	if (pool_has_tpu(pool_at(view, index))) {
		deviation_add(view->list, WITHOUT_EFFECT, "cloud-tpu",
			      pool_field(view, index, "machineSpec.machineType", field),
			      "There is no Cloud TPU: the replica runs without it.");
		return;
	}
	if (machine.accelerator_type && !json_object_get(spec, "acceleratorType"))
		deviation_add(
			view->list, IN_DOUBT_IN_CLOUD, "accelerator-implied",
			pool_field(view, index, "machineSpec.acceleratorType", field),
			"The cloud may want the accelerators of %s to be named: %u of type %s are taken to "
			"be meant.",
			machine.name, machine.accelerator_count, machine.accelerator_type);
}

static void report_image(const struct view *view, int index)
{
	const struct pool *pool = &view->plan->pools[index];
	const bool packaged = pool->python_module;
	const char *image = pool->cloud_image ? pool->cloud_image : pool->image;
	struct prebuilt prebuilt;
	char name[FIELD_SIZE];
	const char *field =
		pool_field(view, index,
			   packaged ? "pythonPackageSpec.executorImageUri" : "containerSpec.imageUri", name);

	if (pool->cloud_image)
		deviation_add(view->list, DONE_OTHERWISE, "image-mapped", field,
			      "The image %.*s runs in the place of %.*s, as the "
			      "configuration says.",
			      FINDINGS_SHOWN_BYTES, pool->image, FINDINGS_SHOWN_BYTES, pool->cloud_image);
	if (packaged && !prebuilt_parse(image, &prebuilt)) {
		deviation_add(view->list, REFUSED_BY_CLOUD, "executor-image", field,
			      "The cloud takes prebuilt training images only to run packages in, not "
			      "%.*s.",
			      FINDINGS_SHOWN_BYTES, image);
		return;
	}
	registry_report(view->list, image, field);
}

/* Reports deviations in the early stopping of trials, and in fields that only v1beta1 has. */
static void report_study(const struct view *view)
{
	const json_t *study = json_object_get(view->job, "studySpec");

	if (json_object_get(study, "convexAutomatedStoppingSpec"))
		deviation_add(
			view->list, DONE_OTHERWISE, "convex-stopping",
			"studySpec.convexAutomatedStoppingSpec",
			"A trial that is stopped keeps its last measurement: none is predicted for it or for others.");
	if (json_object_get(study, "transferLearningConfig"))
		deviation_add(view->list, WITHOUT_EFFECT, "transfer-learning",
			      "studySpec.transferLearningConfig",
			      "Transfer learning has no effect: trials learn from their own job alone.");
}

static void report_location(const struct view *view)
{
	const char *location = view->plan->region;

	if (location && !region_find(location))
		unknown_report(view->list, "region-unknown", "name", "region", location);
}

void spec_deviations_add(const json_t *job, const char *root, const json_t *spec, struct plan *plan)
{
	const struct view view = { job, spec, root, plan, plan->deviations };

	for (int index = 0; index < ROLE_COUNT; index++) {
		if (!plan->pools[index].count)
			continue;
		report_image(&view, index);
		report_machine(&view, index);
		report_accelerator(&view, index);
		report_pool_members(&view, index);
		report_log_places(&view, index);
	}
	report_without_effect(&view);
	report_strategy(&view);
	report_study(&view);
	report_location(&view);
}
