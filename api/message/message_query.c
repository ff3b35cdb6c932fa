/* SPDX-License-Identifier: Apache-2.0 */
/* Converts query parameters to a JSON object, which message_read() then reads. */
#include <string.h>

#include "api/message/names.h"
#include "api/message/reader.h"
#include "api/message/refusal.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

/* Choice: the deepest nesting of a parameter's name (a.b.c); no table has fields as deep as
 * this. */
enum { QUERY_DEPTH_MAX = 16 };

static void refuse_unknown(struct reader *reader, const char *name)
{
	if (reader->fault_count++ >= FAULTS_MAX)
		return;
	refusal_add_transcoding(
		&reader->err, NULL,
		"Invalid JSON payload received. Unknown name \"%.*s\": Cannot bind query parameter. "
		"Field '%.*s' could not be found in request message.",
		SHOWN_VALUE_BYTES, name, SHOWN_VALUE_BYTES, name);
}

static void refuse_message(struct reader *reader, const char *name)
{
	if (reader->fault_count++ >= FAULTS_MAX)
		return;
	refusal_add_transcoding(
		&reader->err, NULL,
		"Invalid JSON payload received. Unknown name \"%.*s\": Cannot bind query parameter. "
		"'%.*s' is a message type. Parameters can only be bound to primitive types.",
		SHOWN_VALUE_BYTES, name, SHOWN_VALUE_BYTES, name);
}

static json_t *member_object(json_t *object, const char *name)
{
	json_t *member = json_object_get(object, name);

	if (member)
		return member;
	member = json_object();
	json_object_set_new(object, name, member);
	return member;
}

static void set_value(json_t *object, const struct field *field, const char *value)
{
	json_t *list = json_object_get(object, field->name);

	if (!(field->flags & FIELD_REPEATED))
		json_object_set_new(object, field->name, json_string(value));
	else if (list)
		json_array_append_new(list, json_string(value));
	else
		json_object_set_new(object, field->name, json_pack("[s]", value));
}

/* Puts one parameter into @object, making the objects on the way. */
static void bind_parameter(struct reader *reader, const struct message *message, json_t *object,
			   const char *name, const char *value)
{
	AUTO(string) char *path = memory_strdup(name);
	char *rest = path;

	for (int depth = 0; rest && depth < QUERY_DEPTH_MAX; depth++) {
		const struct field *field = field_find(message, strsep(&rest, "."));

		if (!field)
			break;
		if (!rest && field->type != FIELD_MESSAGE && field->type != FIELD_STRUCT &&
		    !(field->flags & FIELD_MAP)) {
			set_value(object, field, value);
			return;
		}
		if (!rest) {
			refuse_message(reader, name);
			return;
		}
		if (field->type != FIELD_MESSAGE || field->flags & (FIELD_REPEATED | FIELD_MAP))
			break;
		message = field->message;
		object = member_object(object, field->name);
	}
	refuse_unknown(reader, name);
}

enum status message_read_query(const struct message *message, const json_t *pairs, json_t **ret_canonical,
			       struct error *err)
{
	AUTO(json) json_t *object = json_object();
	struct reader binder;
	enum status status;
	size_t index;
	const json_t *pair;

	reader_init(&binder, "");
	json_array_foreach((json_t *)pairs, index, pair) {
		const char *name = json_string_value(json_array_get(pair, 0));
		const char *value = json_string_value(json_array_get(pair, 1));

		if (name)
			bind_parameter(&binder, message, object, name, value ? value : "");
	}
	status = reader_finish(&binder, err);
	if (status)
		return status;
	return message_read(message, object, "", ret_canonical, err);
}

bool message_query_marks(const struct message *message, const char *name)
{
	const struct field *field = field_find(message, name);

	return field && field->type == FIELD_STRING && field->flags & FIELD_PRESENCE;
}

bool message_query_knows(const struct message *message, const char *name)
{
	char first[64];
	const size_t length = strcspn(name, ".");

	if (length >= sizeof(first))
		return false;
	memcpy(first, name, length);
	first[length] = '\0';
	return field_find(message, first) != NULL;
}
