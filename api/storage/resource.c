/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/resource.h"

#include <string.h>
#include <strings.h>

#include "api/message/message.h"
#include "api/storage/parts.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum status resource_parse(const char *data, size_t length, json_t **ret_given, struct error *err)
{
	return message_parse_body(data ? data : "", length, ret_given, err);
}

static const struct field *writable_field(const struct message *table, const char *name)
{
	for (const struct field *field = table->fields; field->name; field++)
		if (strcmp(field->name, name) == 0)
			return field->flags & FIELD_OUTPUT_ONLY ? NULL : field;
	return NULL;
}

static json_t *value_filter(const struct field *field, const json_t *value);

/* The members of @given that @table has. A new reference, no deeper than the table. */
static json_t *object_filter(const struct message *table, const json_t *given)
{
	AUTO(json) json_t *kept = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)given, name, value) {
		const struct field *field = writable_field(table, name);

		if (field && json_object_set_new(kept, name, value_filter(field, value)))
			return NULL;
	}
	return TAKE(kept);
}

static json_t *list_filter(const struct field *field, const json_t *list)
{
	AUTO(json) json_t *kept = json_array();
	size_t index;
	json_t *value;

	json_array_foreach((json_t *)list, index, value) {
		json_t *element =
			json_is_object(value) ? object_filter(field->message, value) : json_incref(value);

		if (json_array_append_new(kept, element))
			return NULL;
	}
	return TAKE(kept);
}

static json_t *value_filter(const struct field *field, const json_t *value)
{
	if (field->type == FIELD_MESSAGE && json_is_object(value))
		return object_filter(field->message, value);
	if (field->type == FIELD_MESSAGE && json_is_array(value))
		return list_filter(field, value);
	return json_incref((json_t *)value);
}

/* Source: RFC 7396 section 2. The depth is bounded by what message_parse_body() takes. */
static json_t *patch_apply(const json_t *base, const json_t *patch)
{
	AUTO(json) json_t *merged = json_is_object(base) ? json_copy((json_t *)base) : json_object();
	const char *name;
	json_t *value;

	if (!json_is_object(patch))
		return json_incref((json_t *)patch);
	json_object_foreach((json_t *)patch, name, value) {
		if (json_is_null(value))
			json_object_del(merged, name);
		else if (json_object_set_new(merged, name, patch_apply(json_object_get(base, name), value)))
			return NULL;
	}
	return TAKE(merged);
}

enum status resource_merge(const struct message *table, const json_t *base, const json_t *given,
			   json_t **ret_merged, struct error *err)
{
	AUTO(json) json_t *kept = object_filter(table, given);
	AUTO(json) json_t *merged = kept ? patch_apply(base, kept) : NULL;

	return message_read(table, merged, "", ret_merged, err);
}

char *resource_take(json_t *resource, const char *member)
{
	const char *value = json_text_at(resource, member);
	char *taken = value ? memory_strdup(value) : NULL;

	json_object_del(resource, member);
	return taken;
}

/* Source: https://cloud.google.com/storage/docs/storage-classes (read 2026-11-22) */
enum status storage_class_read(json_t *resource, struct error *err)
{
	static const char *const classes[] = { "STANDARD",
					       "NEARLINE",
					       "COLDLINE",
					       "ARCHIVE",
					       "REGIONAL",
					       "MULTI_REGIONAL",
					       "DURABLE_REDUCED_AVAILABILITY" };
	const char *given = json_text_at(resource, "storageClass");

	if (!given)
		return STATUS_OK;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strcasecmp(classes[i], given) != 0)
			continue;
		json_object_set_new(resource, "storageClass", json_string(classes[i]));
		return STATUS_OK;
	}
	return error_parameter(err, "invalid", NULL, "Invalid storage class: %.64s", given);
}
