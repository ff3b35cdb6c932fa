/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the programs of a pool's replicas: containers, Python packages, arguments, environment.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec#ContainerSpec and its neighbours */
#include <string.h>

#include "api/aiplatform/rules_parts.h"
#include "api/training/forms.h"
#include "api/training/image_name.h"
#include "daemon/base/json.h"

enum { ENV_MAX = 100, PACKAGES_MAX = 100, ARGS_CHARACTERS_MAX = 100000 };

void check_image(struct findings *findings, const char *field, const char *image)
{
	struct image_name name;

	if (!image)
		findings_add(findings, field, "The image must be specified.");
	else if (!image_name_parse(image, &name))
		findings_add(
			findings, field,
			"'%.*s' is not a Docker image URI: it should be [HOST[:PORT]/]PATH[:TAG][@DIGEST], "
			"with a lowercase path.",
			FINDINGS_SHOWN_BYTES, image);
}

/* Limits the total length of all arguments of the pool. Choice: counts characters, as the reference says, not bytes. */
static void check_args(struct findings *findings, const json_t *args)
{
	size_t characters = 0, index;
	const json_t *arg;

	json_array_foreach((json_t *)args, index, arg)
		characters += utf8_count(json_string_value(arg));
	if (characters > ARGS_CHARACTERS_MAX)
		findings_add(findings, "args",
			     "The arguments must have at most %d characters in total, not %zu.",
			     ARGS_CHARACTERS_MAX, characters);
}

static void check_env_names(struct findings *findings, const json_t *list)
{
	size_t index;
	const json_t *variable;

	json_array_foreach((json_t *)list, index, variable) {
		const char *name = json_text_at(variable, "name");
		const size_t length = findings_enter(findings, "env");

		findings_enter_index(findings, index);
		if (!name)
			findings_add(findings, "name", "The name must be specified.");
		else if (!text_matches(name, "[A-Za-z_][A-Za-z0-9_]*"))
			findings_add(findings, "name", "'%.*s' is not a valid C identifier.",
				     FINDINGS_SHOWN_BYTES, name);
		findings_leave(findings, length);
	}
}

static bool names_are_unique(const json_t *list)
{
	AUTO(json) json_t *names = json_object();
	size_t index;
	const json_t *variable;

	json_array_foreach((json_t *)list, index, variable) {
		const char *name = json_text_at(variable, "name");

		if (name && json_object_get(names, name))
			return false;
		if (name)
			json_object_set_new(names, name, json_true());
	}
	return true;
}

void check_env(struct findings *findings, const json_t *list)
{
	if (json_array_size(list) > ENV_MAX) {
		findings_add(findings, "env", "There can be at most %d environment variables, not %zu.",
			     ENV_MAX, json_array_size(list));
		return; /* more variables are not checked one by one, because that takes time */
	}
	check_env_names(findings, list);
	if (!names_are_unique(list))
		findings_add(findings, "env", "EnvVar names must be unique.");
}

static void check_container(struct findings *findings, const json_t *spec)
{
	check_image(findings, "image_uri", json_text_at(spec, "imageUri"));
	check_args(findings, json_object_get(spec, "args"));
	check_env(findings, json_object_get(spec, "env"));
}

static void check_package_uris(struct findings *findings, const json_t *uris)
{
	const size_t count = json_array_size(uris);
	size_t index;
	const json_t *uri;

	if (!count)
		findings_add(findings, "package_uris", "At least one package must be specified.");
	if (count > PACKAGES_MAX) {
		findings_add(findings, "package_uris", "At most %d packages can be specified, not %zu.",
			     PACKAGES_MAX, count);
		return; /* more packages are not checked one by one, because that takes time */
	}
	json_array_foreach((json_t *)uris, index, uri) {
		const size_t length = findings_enter(findings, "package_uris");
		char fault[STORAGE_FAULT_SIZE];

		findings_enter_index(findings, index);
		if (storage_path_fault(json_string_value(uri), STORAGE_OBJECT, fault))
			findings_add(findings, NULL, "'%.*s' %s.", FINDINGS_SHOWN_BYTES,
				     json_string_value(uri), fault);
		findings_leave(findings, length);
	}
}

/* Choice: any image is accepted here, though the service requires its own prebuilt ones, because developers build
 * images that replace those. */
static void check_python_package(struct findings *findings, const json_t *spec)
{
	const char *module = json_text_at(spec, "pythonModule");

	check_image(findings, "executor_image_uri", json_text_at(spec, "executorImageUri"));
	check_package_uris(findings, json_object_get(spec, "packageUris"));
	if (!module)
		findings_add(findings, "python_module", "The Python module must be specified.");
	else if (!is_python_module(module))
		findings_add(findings, "python_module", "'%.*s' is not the name of a Python module.",
			     FINDINGS_SHOWN_BYTES, module);
	check_args(findings, json_object_get(spec, "args"));
	check_env(findings, json_object_get(spec, "env"));
}

/* A pool with both containerSpec and pythonPackageSpec does not get here: message_read() refuses it. */
void check_task(struct findings *findings, const json_t *pool)
{
	const json_t *container = json_object_get(pool, "containerSpec");
	const json_t *package = json_object_get(pool, "pythonPackageSpec");
	const size_t length = findings->path.length;

	if (container) {
		findings_enter(findings, "container_spec");
		check_container(findings, container);
	} else if (package) {
		findings_enter(findings, "python_package_spec");
		check_python_package(findings, package);
	} else {
		findings_add(findings, NULL,
			     "Exactly one of container_spec and python_package_spec must be specified.");
	}
	findings_leave(findings, length);
}
