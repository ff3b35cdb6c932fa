/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/names.h"
#include "api/message/reader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/refusal.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/nearest.h"

void reader_init(struct reader *reader, const char *root)
{
	*reader = (struct reader){ 0 };
	text_puts(&reader->path, root);
}

enum status reader_finish(struct reader *reader, struct error *err)
{
	const enum status status = reader->err.status;

	text_deinit(&reader->path);
	if (status)
		error_move(err, &reader->err);
	error_deinit(&reader->err);
	return status;
}

bool reader_failed(const struct reader *reader)
{
	return reader->err.status != STATUS_OK;
}

size_t reader_enter(struct reader *reader, const char *camel)
{
	size_t length = reader->path.length;
	AUTO(string) char *snake = name_to_snake(camel);

	if (length)
		text_putc(&reader->path, '.');
	text_puts(&reader->path, snake);
	return length;
}

size_t reader_enter_index(struct reader *reader, size_t index)
{
	size_t length = reader->path.length;

	text_printf(&reader->path, "[%zu]", index);
	return length;
}

void reader_leave(struct reader *reader, size_t length)
{
	if (length >= reader->path.length)
		return;
	reader->path.length = length;
	reader->path.data[length] = '\0';
}

/* NULL: the path is that of the request itself. */
static const char *reader_field(const struct reader *reader)
{
	return reader->path.length ? reader->path.data : NULL;
}

static bool reader_may_say(struct reader *reader)
{
	if (reader->fault_count >= FAULTS_MAX)
		return false;
	reader->fault_count++;
	return true;
}

/* How much of @string is shown: whole characters only. */
static int shown_length(const char *string)
{
	size_t length = strnlen(string, SHOWN_VALUE_BYTES + 1);

	if (length <= SHOWN_VALUE_BYTES)
		return (int)length;
	length = SHOWN_VALUE_BYTES;
	while (length && ((unsigned char)string[length] & 0xc0) == 0x80)
		length--;
	return (int)length;
}

void reader_refuse_name(struct reader *reader, const char *name, const char *why)
{
	const char *path = reader_field(reader);

	if (!reader_may_say(reader))
		return;
	if (path)
		refusal_add_transcoding(&reader->err, path,
					"Invalid JSON payload received. Unknown name \"%.*s\" at '%s': %s",
					shown_length(name), name, path, why);
	else
		refusal_add_transcoding(&reader->err, NULL,
					"Invalid JSON payload received. Unknown name \"%.*s\": %s",
					shown_length(name), name, why);
}

void reader_refuse_own_name(struct reader *reader, const struct message *message, const char *name)
{
	struct nearest nearest = { .wanted = name };
	struct text why AUTO_TEXT = { 0 };
	const char *between = "";
	char hint[NEAREST_HINT_SIZE];

	text_puts(&why, "Cannot find field: there are ");
	for (const struct field *field = message->fields; field->name; field++) {
		if (field->flags & FIELD_OUTPUT_ONLY)
			continue;
		nearest_look(&nearest, field->name);
		text_printf(&why, "%s%s", between, field->name);
		between = ", ";
	}
	text_puts(&why, nearest_hint(&nearest, "", hint));
	reader_refuse_name(reader, name, why.data);
}

void reader_refuse(struct reader *reader, const char *type, const char *format, ...)
{
	const char *path = reader_field(reader);
	char *what;
	va_list args;

	if (!reader_may_say(reader))
		return;
	va_start(args, format);
	what = memory_vprintf(format, args);
	va_end(args);
	if (path)
		refusal_add_transcoding(&reader->err, path, "Invalid value at '%s' (%s), %s", path, type,
					what);
	else
		refusal_add_transcoding(&reader->err, NULL, "Invalid value (%s), %s", type, what);
	free(what);
}

static void value_show(struct text *shown, const json_t *value)
{
	if (json_is_string(value))
		text_json(shown, json_string_value(value), (size_t)shown_length(json_string_value(value)));
	else if (json_is_object(value) || json_is_array(value))
		text_puts(shown, json_is_object(value) ? "{...}" : "[...]");
	else
		json_write(shown, value);
}

void reader_refuse_value(struct reader *reader, const char *type, const json_t *value)
{
	struct text shown AUTO_TEXT = { 0 };

	value_show(&shown, value);
	reader_refuse(reader, type, "%s", shown.data);
}

void reader_refuse_own_value(struct reader *reader, const char *type, const struct enum_type *enum_type,
			     const json_t *value)
{
	struct nearest nearest = { .wanted = json_is_string(value) ? json_string_value(value) : "" };
	struct text what AUTO_TEXT = { 0 };
	const char *between = "";
	char hint[NEAREST_HINT_SIZE];

	value_show(&what, value);
	text_puts(&what, ": there are ");
	for (const struct enum_value *one = enum_type->values; one->name; one++) {
		if (one->number == 0)
			continue; /* this number has no name of its own */
		nearest_look(&nearest, one->name);
		text_printf(&what, "%s%s", between, one->name);
		between = ", ";
	}
	text_puts(&what, nearest_hint(&nearest, "", hint));
	reader_refuse(reader, type, "%s", what.data);
}

/* Source: public reports of Cloud Storage's refusals, of which the values are in lower case and sorted
 * (https://github.com/googleapis/google-cloud-python/issues/1659, read 2026-11-27) */
void reader_refuse_choice(struct reader *reader, const struct field *field, const json_t *value)
{
	const char *given = json_is_string(value) ? json_string_value(value) : "";
	struct text values AUTO_TEXT = { 0 };

	if (!reader_may_say(reader))
		return;
	for (const struct enum_value *one = field->enum_type->values; one->name; one++) {
		text_puts(&values, one == field->enum_type->values ? "" : ", ");
		for (const char *c = one->name; *c; c++)
			text_putc(&values, (char)tolower((unsigned char)*c));
	}
	refusal_add_transcoding(&reader->err, NULL, "Invalid string value: '%.*s'. Allowed values: [%s]",
				shown_length(given), given, values.data);
	error_add_reason(&reader->err, "invalidParameter", "parameter", field->name);
}
