/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/expansion.h"

#include <string.h>

/* Finds the variable's index, *ret_at; if several variables have the name, the last one's. False: there is no such
 * variable. */
static bool variable_find(const json_t *environment, const char *name, size_t length, size_t *ret_at)
{
	for (size_t i = json_array_size(environment); i > 0; i--) {
		const char *variable = json_string_value(json_array_get(environment, i - 1));

		if (!variable || strncmp(variable, name, length) != 0 || variable[length] != '=')
			continue;
		*ret_at = i - 1;
		return true;
	}
	return false;
}

/* Appends the expansion of the dollar sign at @at; returns the end of the text that it replaces. @last: the word's last
 * closing bracket (NULL: none). Without it, a word with many "$(" and no ")" would be searched to its end for each of
 * them. */
static const char *dollar_expand(const char *at, const char *last, const json_t *environment,
				 struct text *ret_text)
{
	const char *end = at[1] == '(' && last && at < last ? strchr(at, ')') : NULL;
	size_t place;

	if (at[1] == '$') {
		text_putc(ret_text, '$');
		return at + 2;
	}
	if (!end) {
		text_putc(ret_text, '$');
		return at + 1;
	}
	if (variable_find(environment, at + 2, (size_t)(end - at - 2), &place))
		text_puts(ret_text, strchr(json_string_value(json_array_get(environment, place)), '=') + 1);
	else
		text_append(ret_text, at, (size_t)(end + 1 - at));
	return end + 1;
}

bool text_expand(const char *word, const json_t *environment, size_t limit, struct text *ret_text)
{
	const size_t begin = ret_text->length;
	const char *last = strrchr(word, ')');

	text_puts(ret_text, "");
	while (*word) {
		const size_t plain = strcspn(word, "$");

		text_append(ret_text, word, plain);
		word += plain;
		if (*word)
			word = dollar_expand(word, last, environment, ret_text);
		if (ret_text->length - begin >= limit)
			return false;
	}
	return true;
}

void environment_set(json_t *environment, const char *variable)
{
	size_t at;

	if (variable_find(environment, variable, strcspn(variable, "="), &at))
		json_array_set_new(environment, at, json_string(variable));
	else
		json_array_append_new(environment, json_string(variable));
}
