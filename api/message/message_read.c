/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/names.h"
#include "api/message/reader.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

static json_t *read_object(struct reader *reader, const struct message *message, const json_t *object);

/* Refuses an object where the field is a scalar. As protobuf does, the error names the path of the parent, and the
 * member by its snake_case name. */
static void refuse_object_for_scalar(struct reader *reader, const struct field *field, size_t parent_length)
{
	struct text own AUTO_TEXT = { 0 };
	AUTO(string) char *snake = name_to_snake(field->name);
	const char *name = snake; /* the name of the element; for a member it is the last part of the path */

	text_puts(&own, reader->path.data + parent_length);
	if (own.length)
		name = own.data + (own.data[0] == '.');
	reader_leave(reader, parent_length);
	reader_refuse(reader, name, "Starting an object on a scalar field");
	text_puts(&reader->path, own.data ? own.data : "");
}

static void refuse_list(struct reader *reader, const char *key, size_t parent_length)
{
	struct text own AUTO_TEXT = { 0 };

	text_puts(&own, reader->path.data + parent_length);
	reader_leave(reader, parent_length);
	reader_refuse_name(reader, key, "Proto field is not repeating, cannot start list.");
	text_puts(&reader->path, own.data ? own.data : "");
}

/* One value of a field: an element of a list, a value of a map, or the field itself. @parent_length: length of the
 * parent's path. New reference, or NULL after a fault. */
static json_t *read_one(struct reader *reader, const struct field *field, const char *key,
			const json_t *value, size_t parent_length)
{
	if (field->type == FIELD_VALUE || (field->type == FIELD_STRUCT && json_is_object(value))) {
		json_t *copy = json_deep_copy(value);

		if (!(field->flags & FIELD_ANY))
			json_struct_numbers(copy);
		return copy;
	}
	if (json_is_array(value)) {
		refuse_list(reader, key, parent_length);
		return NULL;
	}
	if (field->type == FIELD_MESSAGE && json_is_object(value))
		return read_object(reader, field->message, value);
	if (json_is_object(value)) {
		refuse_object_for_scalar(reader, field, parent_length);
		return NULL;
	}
	return read_scalar(reader, field, key, value);
}

/* A single value stands for a list of one; null is no element. Source:
 * https://github.com/protocolbuffers/protobuf/blob/v3.20.0/src/google/protobuf/util/internal/proto_writer.cc (as the
 * front end behaves; protobuf's page on JSON does not mention it) */
static json_t *read_list(struct reader *reader, const struct field *field, const char *key,
			 const json_t *value, size_t parent_length)
{
	AUTO(json) json_t *list = json_array();
	size_t index;
	const json_t *element;

	if (!json_is_array(value)) {
		json_array_append_new(list, read_one(reader, field, key, value, parent_length));
		return TAKE(list);
	}
	json_array_foreach((json_t *)value, index, element) {
		size_t length;
		json_t *canonical;

		if (json_is_null(element) && field->type != FIELD_VALUE)
			continue;
		length = reader_enter_index(reader, index);
		canonical = read_one(reader, field, "", element, reader->path.length);
		json_array_append_new(list, canonical);
		reader_leave(reader, length);
		if (reader->fault_count >= FAULTS_MAX)
			break;
	}
	return TAKE(list);
}

static void refuse_map(struct reader *reader, const struct message *owner, const struct field *field,
		       const char *key, const json_t *value, size_t parent_length)
{
	AUTO(string) char *type = NULL;

	if (json_is_array(value)) {
		reader_leave(reader, parent_length);
		reader_refuse(reader, "Map", "Cannot bind a list to map for field '%.*s'.", SHOWN_VALUE_BYTES,
			      key);
		return;
	}
	type = memory_printf("type.googleapis.com/%s.%c%sEntry", owner->full_name,
			     toupper((unsigned char)field->name[0]), field->name + 1);
	reader_refuse_value(reader, type, value);
}

/* Reads the value of a map's entry. Null becomes an empty value of the entry's type. */
static json_t *read_entry(struct reader *reader, const struct field *field, const json_t *value,
			  size_t parent_length)
{
	if (!json_is_null(value) || field->type == FIELD_VALUE)
		return read_one(reader, field, "value", value, parent_length);
	return field->type == FIELD_MESSAGE || field->type == FIELD_STRUCT ? json_object() : json_string("");
}

/* Reads a map. Errors name an entry like an element of a repeated message: labels[0].value. */
static json_t *read_map(struct reader *reader, const struct field *field, const json_t *value)
{
	AUTO(json) json_t *map = json_object();
	size_t index = 0;
	const char *key;
	json_t *entry;

	json_object_foreach((json_t *)value, key, entry) {
		size_t length = reader_enter_index(reader, index++);
		size_t entry_length = reader->path.length;
		json_t *canonical;

		reader_enter(reader, "value");
		canonical = read_entry(reader, field, entry, entry_length);
		json_object_set_new(map, key, canonical);
		reader_leave(reader, length);
		if (reader->fault_count >= FAULTS_MAX)
			break;
	}
	return TAKE(map);
}

/* Values that protobuf does not print, because they cannot be distinguished from an unset field. */
static bool is_default(const struct field *field, const json_t *value)
{
	if (field->flags & (FIELD_REPEATED | FIELD_MAP))
		return json_is_array(value) ? json_array_size(value) == 0 : json_object_size(value) == 0;
	switch (field->type) {
	case FIELD_STRING:
	case FIELD_BYTES:
		return json_string_length(value) == 0;
	case FIELD_BOOL:
		return json_is_false(value);
	case FIELD_INT32:
		return json_integer_value(value) == 0;
	case FIELD_INT64:
		return strcmp(json_string_value(value), "0") == 0;
	case FIELD_DOUBLE:
		return json_is_number(value) && json_number_value(value) == 0 &&
		       !signbit(json_number_value(value));
	case FIELD_ENUM: {
		const char *zero = enum_name(field->enum_type, 0);

		return zero && strcmp(json_string_value(value), zero) == 0;
	}
	case FIELD_DURATION:
	case FIELD_TIMESTAMP:
	case FIELD_MASK:
	case FIELD_STRUCT:
	case FIELD_VALUE:
	case FIELD_MESSAGE:
		break; /* messages have presence */
	}
	return false;
}

/* Reads one member; NULL: it is unset, a default, ignored or faulty. */
static json_t *read_field(struct reader *reader, const struct message *owner, const struct field *field,
			  const char *key, const json_t *value)
{
	AUTO(json) json_t *canonical = NULL;
	size_t length = reader->path.length;

	if (json_is_null(value) && field->type != FIELD_VALUE)
		return NULL;
	reader_enter(reader, field->name);
	if (field->flags & FIELD_MAP && !json_is_object(value))
		refuse_map(reader, owner, field, key, value, length);
	else if (field->flags & FIELD_MAP)
		canonical = read_map(reader, field, value);
	else if (field->flags & FIELD_REPEATED)
		canonical = read_list(reader, field, key, value, length);
	else
		canonical = read_one(reader, field, key, value, length);
	reader_leave(reader, length);
	if (!canonical || field->flags & FIELD_OUTPUT_ONLY ||
	    (!(field->flags & FIELD_PRESENCE) && is_default(field, canonical)))
		return NULL;
	return TAKE(canonical);
}

/* Whether another member of the field's oneof, or the field itself, was there before it.
 * Source: https://github.com/protocolbuffers/protobuf/blob/v3.20.0/src/google/protobuf/util/internal/proto_writer.cc
 * (what is refused, and the words) */
static bool oneof_is_taken(const struct message *message, const struct field *field, json_t *const *slots)
{
	for (size_t i = 0; field->oneof && message->fields[i].name; i++)
		if (slots[i] && message->fields[i].oneof &&
		    strcmp(message->fields[i].oneof, field->oneof) == 0)
			return true;
	return false;
}

/* Members are read in the order sent (faults are reported in that order; if a field is given in both spellings, the
 * last counts) and stored in the table's order. */
static void read_members(struct reader *reader, const struct message *message, const json_t *object,
			 json_t **slots)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		const struct field *field = field_find(message, key);
		json_t **slot;

		if (reader->fault_count >= FAULTS_MAX)
			break;
		if (!field) {
			if (message->is_own)
				reader_refuse_own_name(reader, message, key);
			else
				reader_refuse_name(reader, key, "Cannot find field.");
			continue;
		}
		if (!json_is_null(value) && oneof_is_taken(message, field, slots)) {
			reader_refuse(reader, "oneof", "oneof field '%s' is already set. Cannot set '%s'",
				      field->oneof, key);
			continue;
		}
		slot = &slots[field - message->fields];
		json_decref(*slot);
		*slot = read_field(reader, message, field, key, value);
	}
}

static json_t *read_object(struct reader *reader, const struct message *message, const json_t *object)
{
	size_t count = field_count(message);
	json_t **slots = memory_calloc(count + 1, sizeof(json_t *));
	AUTO(json) json_t *canonical = json_object();

	read_members(reader, message, object, slots);
	for (size_t i = 0; i < count; i++)
		if (slots[i])
			json_object_set_new(canonical, message->fields[i].name, slots[i]);
	free(slots);
	return TAKE(canonical);
}

enum status message_read(const struct message *message, const json_t *value, const char *root,
			 json_t **ret_canonical, struct error *err)
{
	AUTO(json) json_t *canonical = NULL;
	struct reader reader;
	enum status status;

	reader_init(&reader, root);
	if (json_is_object(value))
		canonical = read_object(&reader, message, value);
	else
		reader_refuse_name(&reader, "", "Root element must be a message.");
	status = reader_finish(&reader, err);
	if (status)
		return status;
	*ret_canonical = TAKE(canonical);
	return STATUS_OK;
}
