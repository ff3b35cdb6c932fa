/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_write.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "api/message/message.h"
#include "daemon/base/timestamp.h"

/* Finds the field @name. The linker merges equal literals, so comparing addresses is usually enough. Most calls follow
 * the order of the table, so the search starts behind the last field found. */
static const struct field *row_find(struct writer *writer, const char *name)
{
	const struct field *field = writer->next;

	while (field->name && field->name != name)
		field++;
	if (!field->name)
		for (field = writer->message->fields; field->name && field->name != name;)
			field++;
	if (!field->name)
		for (field = writer->message->fields; field->name && strcmp(field->name, name) != 0;)
			field++;
	assert(field->name && "the message has this field");
	writer->next = field + 1;
	return field;
}

/* Writes what comes before a member: a comma, if it is not the first. A list or a map is not written if it stays empty,
 * so its name and its opening bracket are written before its first member. */
static void separate(struct writer *writer)
{
	if (writer->has_members) {
		text_putc(writer->text, ',');
		return;
	}
	writer->has_members = true;
	if (writer->name) {
		member_begin(writer->outer, writer->name);
		text_putc(writer->text, writer->opening);
	}
}

static const struct field *begin(struct writer *writer, const char *name)
{
	const struct field *field = writer->message ? row_find(writer, name) : NULL;
	const size_t length = strlen(name);
	char key[64];

	if (field && writer->has_members && length + strlen(",\"\":") <= sizeof(key)) {
		/* Most members go this way: the name of a field needs no escapes, so that one append is enough. */
		memcpy(key, ",\"", 2);
		memcpy(key + 2, name, length);
		memcpy(key + 2 + length, "\":", 2);
		text_append(writer->text, key, length + 4);
		return field;
	}
	separate(writer);
	text_json(writer->text, name, length);
	text_putc(writer->text, ':');
	return field;
}

struct text *member_begin(struct writer *writer, const char *name)
{
	begin(writer, name);
	return writer->text;
}

static struct writer writer_of(struct text *text, const struct message *message, char opening, char closing)
{
	return (struct writer){ .text = text,
				.message = message,
				.next = message ? message->fields : NULL,
				.opening = opening,
				.closing = closing };
}

struct writer message_open(struct text *text, const struct message *message)
{
	text_putc(text, '{');
	return writer_of(text, message, '{', '}');
}

void message_close(struct writer *writer)
{
	if (!writer->name || writer->has_members)
		text_putc(writer->text, writer->closing);
}

struct writer member_message(struct writer *writer, const char *name)
{
	const struct field *field = begin(writer, name);

	assert(!field || field->flags & FIELD_MAP || field->type == FIELD_MESSAGE ||
	       field->type == FIELD_STRUCT || field->type == FIELD_VALUE);
	assert(!field || !(field->flags & FIELD_REPEATED));
	return message_open(writer->text, field && !(field->flags & FIELD_MAP) ? field->message : NULL);
}

static struct writer held_back(struct writer *writer, const char *name, const struct field *field,
			       char opening, char closing)
{
	struct writer inner = writer_of(writer->text, field ? field->message : NULL, opening, closing);

	inner.outer = writer;
	inner.name = name;
	return inner;
}

struct writer member_list(struct writer *writer, const char *name)
{
	const struct field *field = writer->message ? row_find(writer, name) : NULL;

	assert(!field || field->flags & FIELD_REPEATED);
	return held_back(writer, name, field, '[', ']');
}

struct writer member_map(struct writer *writer, const char *name)
{
	const struct field *field = writer->message ? row_find(writer, name) : NULL;

	assert(!field || field->flags & FIELD_MAP || field->type == FIELD_STRUCT);
	return held_back(writer, name, NULL, '{', '}');
}

struct text *element_begin(struct writer *list)
{
	separate(list);
	return list->text;
}

struct writer element_message(struct writer *list)
{
	return message_open(element_begin(list), list->message);
}

void element_text(struct writer *list, const char *value)
{
	text_json(element_begin(list), value, strlen(value));
}

void element_json(struct writer *list, const char *json, size_t length)
{
	text_append(element_begin(list), json, length);
}

static bool travels_in_quotes(const struct field *field)
{
	return !field || (field->type != FIELD_BOOL && field->type != FIELD_INT32 &&
			  field->type != FIELD_DOUBLE && field->type != FIELD_MESSAGE);
}

void member_text(struct writer *writer, const char *name, const char *value)
{
	const struct field *field;
	int number;

	if (!value)
		return;
	field = begin(writer, name);
	assert(travels_in_quotes(field));
	assert(!field || field->type != FIELD_ENUM || enum_number(field->enum_type, value, &number));
	(void)number;
	text_json(writer->text, value, strlen(value));
}

void member_printf(struct writer *writer, const char *name, const char *format, ...)
{
	const struct field *field = begin(writer, name);
	va_list args;

	assert(travels_in_quotes(field));
	text_putc(writer->text, '"');
	va_start(args, format);
	text_vprintf(writer->text, format, args);
	va_end(args);
	text_putc(writer->text, '"');
}

/* Without printf(), which would take longer than everything else. */
void member_int(struct writer *writer, const char *name, int64_t value)
{
	const struct field *field = begin(writer, name);
	const bool quoted = field && (field->type == FIELD_INT64 || field->type == FIELD_STRING);
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	assert(!field || quoted || field->type == FIELD_INT32 || field->type == FIELD_VALUE);
	if (quoted)
		digits[--at] = '"';
	do
		digits[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		digits[--at] = '-';
	if (quoted)
		digits[--at] = '"';
	text_append(writer->text, digits + at, sizeof(digits) - at);
}

void member_double(struct writer *writer, const char *name, double value)
{
	const struct field *field = begin(writer, name);

	assert(!field || field->type == FIELD_DOUBLE);
	text_printf(writer->text, "%.15g", value);
}

void member_bool(struct writer *writer, const char *name, bool value)
{
	const struct field *field = begin(writer, name);

	assert(!field || field->type == FIELD_BOOL);
	text_puts(writer->text, value ? "true" : "false");
}

void member_time(struct writer *writer, const char *name, int64_t wall_us, enum time_digits digits)
{
	const struct field *field;

	if (!wall_us)
		return;
	field = begin(writer, name);
	assert(!field || field->type == FIELD_TIMESTAMP);
	(void)field;
	text_putc(writer->text, '"');
	switch (digits) {
	case TIME_SECONDS:
		text_time_seconds(writer->text, wall_us);
		break;
	case TIME_MILLISECONDS:
		text_time_millis(writer->text, wall_us);
		break;
	case TIME_MICROSECONDS:
		text_time_micros(writer->text, wall_us);
		break;
	}
	text_putc(writer->text, '"');
}

void member_json(struct writer *writer, const char *name, const char *json)
{
	if (json)
		text_puts(member_begin(writer, name), json);
}

void member_value(struct writer *writer, const char *name, const json_t *value)
{
	if (value)
		json_write(member_begin(writer, name), value);
}

void member_value_new(struct writer *writer, const char *name, json_t *value)
{
	member_value(writer, name, value);
	json_decref(value);
}

void members_json(struct writer *writer, const char *object)
{
	const size_t length = object ? strlen(object) : 0;

	if (length <= strlen("{}"))
		return;
	separate(writer);
	text_append(writer->text, object + 1, length - 2);
}

static bool is_among(const char *name, const char *const *names)
{
	while (names && *names && strcmp(*names, name) != 0)
		names++;
	return names && *names;
}

void members_value(struct writer *writer, const json_t *object, const char *const *but)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		if (is_among(name, but))
			continue;
		separate(writer);
		text_json(writer->text, name, strlen(name));
		text_putc(writer->text, ':');
		json_write(writer->text, value);
	}
}
