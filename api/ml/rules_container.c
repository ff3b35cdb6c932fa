/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the programs of a replica: images, commands, arguments, disks, the TPU's TensorFlow.
 * Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#ReplicaConfig and
 * https://cloud.google.com/ai-platform/training/docs/containers-overview */
#include <string.h>

#include "api/ml/builtin.h"
#include "api/ml/rules.h"
#include "api/training/forms.h"
#include "api/training/image_name.h"
#include "api/training/runtime_map.h"
#include "daemon/base/json.h"

static const char *master_image(const struct rules *rules)
{
	return input_image(rules->input, ROLE_MASTER);
}

static void check_image_or_runtime(struct rules *rules)
{
	const char *runtime = json_text_at(rules->input, "runtimeVersion");

	if (master_image(rules) && runtime)
		rules_refuse(
			rules, NULL,
			"Only one of runtime version or the master Docker image URI should be provided.");
	else if (!master_image(rules) && !runtime)
		rules_refuse(rules, "runtime_version",
			     "Either a runtime version or the master Docker image URI should be provided.");
}

/* Choice: fields of a container are refused for a worker that is a Cloud TPU, because it runs no container. */
static bool runs_container(const struct rules *rules, enum role role)
{
	return role != ROLE_WORKER || !input_has_tpu(rules->input);
}

static void check_image(struct rules *rules, enum role role, const json_t *config)
{
	const char *image = json_text_at(config, "imageUri");
	char name[FIELD_NAME_SIZE];
	const char *field = role_field(role, "image_uri", name);
	struct image_name parsed;

	if (!image)
		return;
	if (!image_name_parse(image, &parsed))
		rules_refuse(
			rules, field,
			"'%.*s' is not a Docker image URI: it should be [HOST[:PORT]/]PATH[:TAG][@DIGEST], with "
			"a lowercase path.",
			RULES_SHOWN_BYTES, image);
	if (!runs_container(rules, role))
		rules_refuse(rules, field, "It cannot be given for TPU workers, which run no container.");
	if (!master_image(rules))
		rules_refuse(
			rules, field,
			"An image for the %s can only be given together with the master Docker image URI.",
			ml_roles[role].noun);
}

static void check_command(struct rules *rules, enum role role, const json_t *config)
{
	static const struct {
		const char *member, *snake;
	} rows[] = { { "containerCommand", "container_command" }, { "containerArgs", "container_args" } };
	bool has_args = json_object_get(rules->input, "args");
	char name[FIELD_NAME_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!json_object_get(config, rows[i].member))
			continue;
		if (!input_image(rules->input, role))
			rules_refuse(rules, role_field(role, rows[i].snake, name),
				     "It can only be given together with a custom container image.");
		if (!runs_container(rules, role))
			rules_refuse(rules, role_field(role, rows[i].snake, name),
				     "It cannot be given for TPU workers, which run no container.");
		if (has_args)
			rules_refuse(rules, role_field(role, rows[i].snake, name),
				     "It cannot be given together with args.");
	}
}

static void check_tpu_form(struct rules *rules, const char *field, const char *version)
{
	if (!text_matches(version, "[0-9]+\\.[0-9]+"))
		rules_refuse(rules, field, "'%.*s' is not a runtime version such as 2.11.", RULES_SHOWN_BYTES,
			     version);
	else if (!rules->settings->lenient && !runtime_known(version, NULL))
		rules_refuse(
			rules, field,
			"The runtime version '%.*s' is not supported or is deprecated. Supported versions are "
			"listed at https://cloud.google.com/ai-platform/training/docs/runtime-version-list.",
			RULES_SHOWN_BYTES, version);
}

/* Jobs with a built-in algorithm need no TensorFlow version, because the algorithm has its own.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-tpus (custom containers) */
static void check_tpu_version(struct rules *rules, enum role role, const json_t *config)
{
	const char *version = json_text_at(config, "tpuTfVersion");
	const char *image = master_image(rules);
	bool allowed = role == ROLE_WORKER && input_has_tpu(rules->input) && image;
	char name[FIELD_NAME_SIZE];
	const char *field = role_field(role, "tpu_tf_version", name);

	if (version && !allowed)
		rules_refuse(rules, field,
			     "It can only be given for TPU workers of a job with a custom container image.");
	else if (!version && allowed && !builtin_image(image))
		rules_refuse(rules, field,
			     "It is required for TPU workers of a job with a custom container image.");
	else if (version)
		check_tpu_form(rules, field, version);
}

static void check_disk(struct rules *rules, enum role role, const json_t *config)
{
	const json_t *disk = json_object_get(config, "diskConfig");
	const char *type = json_text_at(disk, "bootDiskType");
	int64_t size_gb = json_int_at(disk, "bootDiskSizeGb", 0);
	char name[FIELD_NAME_SIZE];

	if (type && strcmp(type, "pd-ssd") != 0 && strcmp(type, "pd-standard") != 0)
		rules_refuse(rules, role_field(role, "disk_config.boot_disk_type", name),
			     "The disk type must be pd-ssd or pd-standard, not '%.*s'.", RULES_SHOWN_BYTES,
			     type);
	if (size_gb && (size_gb < 100 || size_gb > 64000))
		rules_refuse(rules, role_field(role, "disk_config.boot_disk_size_gb", name),
			     "The disk size must be from 100 to 64000, not %lld.", (long long)size_gb);
}

void rules_check_containers(struct rules *rules)
{
	check_image_or_runtime(rules);
	for (int role = 0; role < ROLE_COUNT; role++) {
		const json_t *config = json_object_get(rules->input, ml_roles[role].config);

		check_image(rules, (enum role)role, config);
		check_command(rules, (enum role)role, config);
		check_tpu_version(rules, (enum role)role, config);
		check_disk(rules, (enum role)role, config);
	}
}
