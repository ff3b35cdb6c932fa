/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message.h"

#include "api/message/names.h"
#include "daemon/base/cleanup.h"

static json_t *value_to_snake(const struct field *field, const json_t *value);

static json_t *list_to_snake(const struct field *field, const json_t *list)
{
	AUTO(json) json_t *copy = json_array();
	size_t index;
	const json_t *element;

	json_array_foreach((json_t *)list, index, element) {
		if (json_array_append_new(copy, value_to_snake(field, element)))
			return NULL;
	}
	return TAKE(copy);
}

static json_t *map_to_snake(const struct field *field, const json_t *map)
{
	AUTO(json) json_t *copy = json_object();
	const char *key;
	json_t *entry;

	json_object_foreach((json_t *)map, key, entry) {
		if (json_object_set_new(copy, key, value_to_snake(field, entry)))
			return NULL;
	}
	return TAKE(copy);
}

static json_t *value_to_snake(const struct field *field, const json_t *value)
{
	if (field->type == FIELD_MESSAGE)
		return message_to_snake(field->message, value);
	return json_deep_copy(value);
}

static json_t *member_to_snake(const struct field *field, const json_t *value)
{
	if (field->flags & FIELD_MAP)
		return map_to_snake(field, value);
	if (field->flags & FIELD_REPEATED)
		return list_to_snake(field, value);
	return value_to_snake(field, value);
}

json_t *message_to_snake(const struct message *message, const json_t *canonical)
{
	AUTO(json) json_t *copy = json_object();

	for (const struct field *field = message->fields; field->name; field++) {
		const json_t *value = json_object_get(canonical, field->name);
		AUTO(string) char *snake = value ? name_to_snake(field->name) : NULL;

		if (value && (!snake || json_object_set_new(copy, snake, member_to_snake(field, value))))
			return NULL;
	}
	return TAKE(copy);
}
