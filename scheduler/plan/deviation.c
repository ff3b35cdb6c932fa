/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/deviation.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

static const char *const kind_names[] = {
	[DONE_OTHERWISE] = "DONE_OTHERWISE",
	[WITHOUT_EFFECT] = "WITHOUT_EFFECT",
	[REFUSED_BY_CLOUD] = "REFUSED_BY_CLOUD",
	[IN_DOUBT_IN_CLOUD] = "IN_DOUBT_IN_CLOUD",
};

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_listed(const json_t *list, const char *code, const char *field)
{
	size_t index;
	const json_t *deviation;

	json_array_foreach((json_t *)list, index, deviation) {
		if (is_same(json_text_at(deviation, "code"), code) &&
		    is_same(json_text_at(deviation, "field"), field))
			return true;
	}
	return false;
}

/* A deviation with the same text about another field; NULL: none. */
static json_t *alike_find(json_t *list, const char *kind, const char *code, const char *text)
{
	size_t index;
	json_t *deviation;

	json_array_foreach(list, index, deviation) {
		if (json_text_at(deviation, "field") && is_same(json_text_at(deviation, "kind"), kind) &&
		    is_same(json_text_at(deviation, "code"), code) &&
		    is_same(json_text_at(deviation, "text"), text))
			return deviation;
	}
	return NULL;
}

static void field_add(json_t *deviation, const char *field)
{
	json_t *fields = json_object_get(deviation, "fields");
	const json_t *listed;
	size_t index;

	if (!fields) {
		fields = json_pack("[O]", json_object_get(deviation, "field"));
		json_object_set_new(deviation, "fields", fields);
	}
	json_array_foreach(fields, index, listed)
		if (is_same(json_string_value(listed), field))
			return;
	json_array_append_new(fields, json_string(field));
}

void deviation_add(json_t *list, enum deviation_kind kind, const char *code, const char *field,
		   const char *format, ...)
{
	AUTO(string) char *text = NULL;
	json_t *alike;
	va_list args;

	if (is_listed(list, code, field))
		return;
	va_start(args, format);
	text = memory_vprintf(format, args);
	va_end(args);
	alike = field ? alike_find(list, kind_names[kind], code, text) : NULL;
	if (alike)
		field_add(alike, field);
	else
		json_array_append_new(list, json_pack("{s:s, s:s, s:s*, s:s}", "kind", kind_names[kind],
						      "code", code, "field", field, "text", text));
}

size_t deviations_count(const json_t *list, const char *code, const char *text, bool *ret_has)
{
	size_t index, count = 0;
	const json_t *deviation;

	*ret_has = false;
	json_array_foreach((json_t *)list, index, deviation) {
		if (!is_same(json_text_at(deviation, "code"), code))
			continue;
		count++;
		*ret_has = *ret_has || is_same(json_text_at(deviation, "text"), text);
	}
	return count;
}

bool deviations_begin(const json_t *list, const char *code, const char *beginning)
{
	const json_t *deviation;
	size_t index;

	json_array_foreach((json_t *)list, index, deviation) {
		const char *text = json_text_at(deviation, "text");

		if (is_same(json_text_at(deviation, "code"), code) && text &&
		    strncmp(text, beginning, strlen(beginning)) == 0)
			return true;
	}
	return false;
}

void deviation_append(json_t *list, enum deviation_kind kind, const char *code, const char *text)
{
	json_array_append_new(
		list, json_pack("{s:s, s:s, s:s}", "kind", kind_names[kind], "code", code, "text", text));
}

void deviation_add_another(json_t *list, enum deviation_kind kind, const char *code, const char *text)
{
	bool has;

	deviations_count(list, code, text, &has);
	if (!has)
		deviation_append(list, kind, code, text);
}

static bool kind_is_known(const char *name)
{
	for (size_t i = 0; name && i < COUNT_OF(kind_names); i++)
		if (strcmp(kind_names[i], name) == 0)
			return true;
	return false;
}

static bool code_is_valid(const char *code)
{
	return code && *code && !code[strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static bool deviation_is_valid(const json_t *deviation)
{
	const json_t *field = json_object_get(deviation, "field");
	const json_t *fields = json_object_get(deviation, "fields");
	const char *text = json_text_at(deviation, "text");

	return kind_is_known(json_text_at(deviation, "kind")) &&
	       code_is_valid(json_text_at(deviation, "code")) && (!field || json_is_string(field)) &&
	       (!fields || json_is_array(fields)) && text && *text;
}

bool deviations_valid(const json_t *list)
{
	size_t index;
	const json_t *deviation;

	if (!json_is_array(list))
		return false;
	json_array_foreach((json_t *)list, index, deviation) {
		if (!deviation_is_valid(deviation))
			return false;
	}
	return true;
}

/* Appends the deviation's sentence and, if it concerns several fields, the fields: they name the pools. */
static void text_append_report(struct text *line, const json_t *deviation)
{
	const char *text = json_text_at(deviation, "text");
	const json_t *fields = json_object_get(deviation, "fields"), *field;
	size_t index, length = text ? strlen(text) : 0;

	if (!length)
		return;
	if (!json_array_size(fields)) {
		text_printf(line, " %s", text);
		return;
	}
	text_printf(line, " %.*s", (int)(length - (text[length - 1] == '.')), text);
	json_array_foreach((json_t *)fields, index, field)
		text_printf(line, "%s%s", index ? ", " : " (", json_string_value(field));
	text_puts(line, ").");
}

static void texts_append(struct text *line, const json_t *list)
{
	size_t index;
	const json_t *deviation;

	json_array_foreach((json_t *)list, index, deviation)
		text_append_report(line, deviation);
}

char *deviations_line(const json_t *first, const json_t *second)
{
	static const char start[] = "Unlike in the cloud:";
	struct text line AUTO_TEXT = { 0 };

	text_puts(&line, start);
	texts_append(&line, first);
	texts_append(&line, second);
	return line.length > strlen(start) ? text_take(&line) : NULL;
}
