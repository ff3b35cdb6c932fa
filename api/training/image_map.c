/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/image_map.h"

#include <string.h>

#include "api/training/image_name.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

/* Returns @to with @rest in place of its star, if it has one. The caller frees. */
static char *target_write(const char *to, const char *rest)
{
	struct text text AUTO_TEXT = { 0 };
	size_t before = strcspn(to, "*");

	text_append(&text, to, before);
	if (to[before] == '*') {
		text_puts(&text, rest);
		text_puts(&text, to + before + 1);
	}
	return text_take(&text);
}

/* Whether @to is a valid image reference once a text replaces its star, if it has one; checked with the text "x".
 * @has_rest: FROM has a star, so @to may have one too. */
static bool target_valid(const char *to, bool has_rest)
{
	const char *star = strchr(to, '*');
	AUTO(string) char *sample = NULL;
	struct image_name name;

	if (star && (!has_rest || strchr(star + 1, '*')))
		return false;
	sample = target_write(to, "x");
	return sample && image_name_parse(sample, &name);
}

bool image_rule_valid(const char *rule)
{
	size_t length = strcspn(rule, "=");
	AUTO(string) char *from = NULL;
	struct image_name name;

	if (rule[length] != '=' || !length)
		return false;
	if (rule[length - 1] == '*')
		return strcspn(rule, "* \t") == length - 1 && target_valid(rule + length + 1, true);
	from = memory_strndup(rule, length);
	return from && image_name_parse(from, &name) && target_valid(rule + length + 1, false);
}

/* The text matched by FROM's star, "" without a star; NULL: the rule does not match. */
static const char *rule_rest(const char *rule, size_t from_length, const char *image)
{
	struct image_name name;
	bool starred = rule[from_length - 1] == '*';

	if (strncmp(rule, image, from_length - starred) != 0)
		return NULL;
	if (starred)
		return image + from_length - 1;
	if (!image[from_length])
		return "";
	return image_name_parse(image, &name) && name.name_length == from_length ? "" : NULL;
}

enum status image_map_apply(const struct image_map *map, const char *image, char **ret_mapped,
			    struct error *err)
{
	for (size_t i = 0; map && i < map->count; i++) {
		const char *rule = map->rules[i];
		size_t length = strcspn(rule, "=");
		const char *rest = rule_rest(rule, length, image);
		AUTO(string) char *mapped = rest ? target_write(rule + length + 1, rest) : NULL;
		struct image_name name;

		if (!rest)
			continue;
		if (!image_name_parse(mapped, &name))
			return error_set(
				err, STATUS_FAILED_PRECONDITION, NULL,
				"The image map of this emulator has no image for %s: the rule %s turns it "
				"into %s, which is not the name of an image.",
				image, rule, mapped);
		*ret_mapped = TAKE(mapped);
		return STATUS_OK;
	}
	*ret_mapped = NULL;
	return STATUS_OK;
}
