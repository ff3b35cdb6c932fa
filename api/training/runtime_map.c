/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/runtime_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/training/forms.h"
#include "api/training/image_name.h"
#include "daemon/base/memory.h"

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

bool runtime_at_least(const char *version, unsigned long major, unsigned long minor)
{
	char *end = NULL;
	unsigned long its_major = strtoul(version, &end, 10);
	unsigned long its_minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return its_major != major ? its_major > major : its_minor >= minor;
}

const char *runtime_python(const char *version, const char *python)
{
	if (python || !version || !text_matches(version, "[0-9]+\\.[0-9]+") ||
	    runtime_at_least(version, 2, 0))
		return python;
	return "2.7";
}

/* The parts of a rule, pointing into its text. A length of 0: the rule does not have that part. */
struct rule {
	const char *version, *python;
	size_t version_length, python_length;
	bool cpu, gpu; /* whether the rule holds for jobs without and with GPUs */
	const char *image;
};

static bool is_star(const char *text, size_t length)
{
	return length == 1 && *text == '*';
}

/* True for numbers joined by single dots ("2", "2.11", "3.7.1"), or a star. */
static bool version_valid(const char *text, size_t length)
{
	bool after_digit = false;

	if (is_star(text, length))
		return true;
	for (size_t i = 0; i < length; i++) {
		bool is_digit = text[i] >= '0' && text[i] <= '9';

		if (!is_digit && (text[i] != '.' || !after_digit))
			return false;
		after_digit = is_digit;
	}
	return after_digit;
}

static bool word_is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* Reads a part of a rule that follows a slash. */
static bool rule_take(struct rule *rule, const char *text, size_t length)
{
	bool device_was_given = rule->cpu != rule->gpu;

	if (device_was_given)
		return false;
	if (word_is(text, length, "cpu") || word_is(text, length, "gpu")) {
		rule->cpu = *text == 'c';
		rule->gpu = *text == 'g';
		return true;
	}
	if (rule->python_length || !version_valid(text, length))
		return false;
	rule->python = text;
	rule->python_length = length;
	return true;
}

static bool rule_parse(const char *text, struct rule *ret_rule)
{
	struct rule rule = { .version = text, .cpu = true, .gpu = true };
	const char *at = text + strcspn(text, "/=");
	struct image_name name;

	rule.version_length = (size_t)(at - text);
	if (!version_valid(text, rule.version_length))
		return false;
	while (*at == '/') {
		size_t length = strcspn(++at, "/=");

		if (!rule_take(&rule, at, length))
			return false;
		at += length;
	}
	if (*at != '=' || !image_name_parse(at + 1, &name))
		return false;
	rule.image = at + 1;
	*ret_rule = rule;
	return true;
}

bool runtime_rule_valid(const char *rule)
{
	struct rule parsed;

	return rule_parse(rule, &parsed);
}

static bool part_fits(const char *part, size_t length, const char *value)
{
	return !length || is_star(part, length) || word_is(part, length, value);
}

static bool rule_fits(const struct rule *rule, const struct runtime *runtime)
{
	return part_fits(rule->version, rule->version_length, runtime->version) &&
	       part_fits(rule->python, rule->python_length, runtime->python) &&
	       (runtime->gpu ? rule->gpu : rule->cpu);
}

/* Source: https://cloud.google.com/ai-platform/training/docs/using-containers (read 2026-11-20) */
#define FRAMEWORK_IMAGES "gcr.io/cloud-aiplatform/training/"

bool is_framework_image(const char *image)
{
	return strncmp(image, FRAMEWORK_IMAGES, strlen(FRAMEWORK_IMAGES)) == 0;
}

/* Finds the image that Google publishes for @runtime; *ret_image stays NULL if there is none, as for Python 2. */
static void default_image(const struct runtime *runtime, char **ret_image)
{
	char *dot;

	if (!runtime_known(runtime->version, runtime->python) || strcmp(runtime->python, "2.7") == 0)
		return;
	*ret_image =
		memory_printf(FRAMEWORK_IMAGES "tf-%s.%s", runtime->gpu ? "gpu" : "cpu", runtime->version);
	dot = strrchr(*ret_image, '.');
	*dot = '-';
}

void runtime_map_rule(const struct runtime_map *map, const struct runtime *runtime, char **ret_image)
{
	for (size_t i = 0; map && i < map->count; i++) {
		struct rule rule;

		if (!rule_parse(map->rules[i], &rule) || !rule_fits(&rule, runtime))
			continue;
		*ret_image = memory_strdup(rule.image);
		return;
	}
	*ret_image = NULL;
}

enum status runtime_map_find(const struct runtime_map *map, const struct runtime *runtime, char **ret_image,
			     bool *ret_default, struct error *err)
{
	char *image = NULL;
	bool is_default;

	runtime_map_rule(map, runtime, &image);
	is_default = !image;
	if (is_default)
		default_image(runtime, &image);
	if (!image)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, "runtime_version",
			"This emulator has no image for the runtime version %.20s with Python %.20s on %ss: "
			"deploy/runtime/build makes one, and trainyard serve --runtime '%.20s/%.20s=IMAGE' "
			"uses it.",
			runtime->version, runtime->python, runtime->gpu ? "GPU" : "CPU", runtime->version,
			runtime->python);
	*ret_image = image;
	*ret_default = is_default;
	return STATUS_OK;
}
