/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *json_text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *value = json_object_get(object, key);
	char *end;
	long long number;

	if (json_is_integer(value))
		return json_integer_value(value);
	if (!json_is_string(value) || json_string_length(value) == 0)
		return otherwise;
	errno = 0;
	number = strtoll(json_string_value(value), &end, 10);
	return errno || *end ? otherwise : number;
}

bool json_true_at(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

enum status json_parse_own(const char *text, json_t **ret_value, struct error *err)
{
	json_error_t problem = { 0 };
	json_t *value = text ? memory_json_read(text, strlen(text), JSON_DECODE_ANY, &problem) : NULL;

	if (!value && json_error_code(&problem) == json_error_out_of_memory)
		return error_no_memory(err);
	if (!value)
		return error_set(err, STATUS_INTERNAL, NULL, "stored JSON cannot be read: %s",
				 text ? problem.text : "nothing there");
	*ret_value = value;
	return STATUS_OK;
}

static void real_write(struct text *text, double real)
{
	char digits[32];

	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	text_puts(text, digits);
	if (!strpbrk(digits, ".eE"))
		text_puts(text, ".0");
}

static void object_write(struct text *text, const json_t *object)
{
	const char *separator = "";
	const char *key;
	json_t *member;

	text_putc(text, '{');
	json_object_foreach((json_t *)object, key, member) {
		text_puts(text, separator);
		text_json(text, key, strlen(key));
		text_putc(text, ':');
		json_write(text, member);
		separator = ",";
	}
	text_putc(text, '}');
}

static void array_write(struct text *text, const json_t *array)
{
	text_putc(text, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i)
			text_putc(text, ',');
		json_write(text, json_array_get(array, i));
	}
	text_putc(text, ']');
}

void json_write(struct text *text, const json_t *value)
{
	if (!value) {
		memory_note_failure();
		text->failed = true;
		return;
	}
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		object_write(text, value);
		break;
	case JSON_ARRAY:
		array_write(text, value);
		break;
	case JSON_STRING:
		text_json(text, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		text_printf(text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		real_write(text, json_real_value(value));
		break;
	case JSON_TRUE:
		text_puts(text, "true");
		break;
	case JSON_FALSE:
		text_puts(text, "false");
		break;
	case JSON_NULL:
		text_puts(text, "null");
		break;
	}
}

char *json_dump_compact(const json_t *value)
{
	struct text text AUTO_TEXT = { 0 };

	json_write(&text, value);
	return text_take(&text);
}
