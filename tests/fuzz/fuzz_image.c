/* SPDX-License-Identifier: Apache-2.0 */
/* Names of images as jobs and maps have them: the first line is a name, the others are rules of --image-map and
 * --runtime.
 *
 * What must hold beside not crashing: a name's parts lie within it, the engine's reader takes each name that the API's
 * takes, rules that are good make names or say that they do not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/training/image_map.h"
#include "api/training/image_name.h"
#include "api/training/runtime_map.h"
#include "daemon/base/cleanup.h"
#include "scheduler/engine/docker_credentials.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RULES_MAX = 16 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Credentials are sent only to the image's registry. */
static void registry_check(const char *text, const struct image_name *name,
			   const struct image_reference *reference)
{
	static const char hub[] = "https://index.docker.io/v1/";
	AUTO(string) char *registry = strndup(text, name->registry_length);

	expect(registry != NULL);
	if (!*registry || strcmp(registry, "docker.io") == 0 || strcmp(registry, "index.docker.io") == 0)
		expect(strcmp(reference->registry, hub) == 0);
	else
		expect(strcmp(reference->registry, registry) == 0);
}

static void name_try(const char *text)
{
	struct image_reference reference;
	struct image_name name;
	const bool is_name = image_name_parse(text, &name);
	const enum status rc = image_reference_parse(text, &reference, NULL);

	expect(rc == STATUS_OK || rc == STATUS_INVALID_ARGUMENT);
	if (!is_name)
		return;
	expect(name.registry_length < name.name_length && name.name_length <= strlen(text));
	expect(strlen(text) >= REFERENCE_SIZE || rc == STATUS_OK);
	if (!rc)
		registry_check(text, &name, &reference);
	image_origin(text);
	is_framework_image(text);
}

static void images_try(const struct image_map *map, const char *image)
{
	AUTO(string) char *mapped = NULL;
	struct image_name name;
	const enum status rc = image_map_apply(map, image, &mapped, NULL);

	expect(rc == STATUS_OK || (rc == STATUS_FAILED_PRECONDITION && !mapped));
	expect(!mapped || image_name_parse(mapped, &name));
}

static void runtimes_try(const struct runtime_map *map)
{
	const struct runtime runtime = { "2.11", "3.7", true };
	AUTO(string) char *image = NULL;

	runtime_map_rule(map, &runtime, &image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *text = strndup(size ? (const char *)data : "", size);
	char *image_rules[RULES_MAX], *runtime_rules[RULES_MAX], *rest = text;
	const char *name = text ? strsep(&rest, "\n") : NULL;
	struct image_map images = { image_rules, 0 };
	struct runtime_map runtimes = { runtime_rules, 0 };

	if (!name)
		return 0;
	name_try(name);
	for (char *rule; (rule = strsep(&rest, "\n"));) {
		if (image_rule_valid(rule) && images.count < RULES_MAX)
			image_rules[images.count++] = rule;
		if (runtime_rule_valid(rule) && runtimes.count < RULES_MAX)
			runtime_rules[runtimes.count++] = rule;
	}
	images_try(&images, name);
	runtimes_try(&runtimes);
	return 0;
}
