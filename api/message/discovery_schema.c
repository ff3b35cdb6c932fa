/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/discovery_schema.h"

#include <ctype.h>
#include <string.h>

#include "api/message/discovery.h"
#include "api/message/message.h"
#include "daemon/base/json.h"

/* Source: https://developers.google.com/discovery/v1/type-format (read 2026-11-21) */
static const struct {
	const char *type, *format;
} types[] = {
	[FIELD_STRING] = { "string", NULL },
	[FIELD_BOOL] = { "boolean", NULL },
	[FIELD_INT32] = { "integer", "int32" },
	[FIELD_INT64] = { "string", "int64" },
	[FIELD_DOUBLE] = { "number", "double" },
	[FIELD_BYTES] = { "string", "byte" },
	[FIELD_DURATION] = { "string", "google-duration" },
	[FIELD_TIMESTAMP] = { "string", "google-datetime" },
	[FIELD_MASK] = { "string", "google-fieldmask" },
	[FIELD_STRUCT] = { "object", NULL },
	[FIELD_VALUE] = { "any", NULL },
	[FIELD_ENUM] = { "string", NULL },
};

/* Returns the start of the message's name, after the package; segments of the package begin with small letters. */
static const char *behind_package(const char *full_name)
{
	const char *dot;

	while (!isupper((unsigned char)*full_name) && (dot = strchr(full_name, '.')))
		full_name = dot + 1;
	return full_name;
}

void discovery_schema_name(struct text *text, const struct discovery_api *api, const struct message *message)
{
	const char *own = behind_package(message->full_name);
	bool nested = strchr(own, '.');

	if (!api->short_names) {
		for (const char *c = message->full_name; c < own; c++)
			if (*c != '.')
				text_putc(text, (char)(c == message->full_name || c[-1] == '.'
							       ? toupper((unsigned char)*c)
							       : *c));
		if (!api->joined_names)
			text_puts(text, nested ? "_" : "__");
	}
	for (const char *c = own; *c; c++) {
		if (*c != '.')
			text_putc(text, *c);
		else if (!api->joined_names)
			text_putc(text, '_');
	}
}

json_t *schema_reference(const struct discovery_api *api, const struct message *message)
{
	struct text name AUTO_TEXT = { 0 };

	discovery_schema_name(&name, api, message);
	return json_pack("{s:s}", "$ref", name.data);
}

/* Adds the names of an enumeration's values, and their meanings. */
static void enum_describe(json_t *described, const struct enum_type *type)
{
	json_t *names = json_array(), *helps = json_array();

	json_object_set_new(described, "enum", names);
	json_object_set_new(described, "enumDescriptions", helps);
	for (const struct enum_value *value = type->values; value->name; value++) {
		json_array_append_new(names, json_string(value->name));
		json_array_append_new(helps, json_string(value->help));
	}
}

/* Describes one value of a field. @api: NULL: for a parameter, which contains no message. */
static json_t *value_describe(const struct discovery_api *api, const struct field *field)
{
	AUTO(json) json_t *described = NULL;

	if (field->type == FIELD_MESSAGE)
		return schema_reference(api, field->message);
	described = json_pack("{s:s, s:s*}", "type", types[field->type].type, "format",
			      types[field->type].format);
	if (field->type == FIELD_ENUM)
		enum_describe(described, field->enum_type);
	if (field->type == FIELD_STRUCT)
		json_object_set_new(described, "additionalProperties",
				    json_pack("{s:s, s:s}", "type", "any", "description", "Any value."));
	return TAKE(described);
}

static void help_add(json_t *described, const struct field *field)
{
	const char *role = field->flags & FIELD_OUTPUT_ONLY ? "Output only. "
			   : field->flags & FIELD_REQUIRED  ? "Required. "
							    : "";
	const char *change = field->flags & FIELD_IMMUTABLE ? "Immutable. " : "";

	json_object_set_new(described, "description", json_sprintf("%s%s%s", role, change, field->help));
}

static json_t *property_describe(const struct discovery_api *api, const struct field *field)
{
	AUTO(json) json_t *value = value_describe(api, field);
	AUTO(json) json_t *property = NULL;

	if (field->flags & FIELD_MAP)
		property = json_pack("{s:s, s:O}", "type", "object", "additionalProperties", value);
	else if (field->flags & FIELD_REPEATED)
		property = json_pack("{s:s, s:O}", "type", "array", "items", value);
	else
		property = TAKE(value);
	help_add(property, field);
	if (field->flags & FIELD_OUTPUT_ONLY)
		json_object_set_new(property, "readOnly", json_true());
	return TAKE(property);
}

static void properties_add(json_t *properties, const struct discovery_api *api, const struct message *message)
{
	for (const struct field *field = message->fields; field->name; field++)
		json_object_set_new(properties, field->name, property_describe(api, field));
}

void schema_add(json_t *schemas, const struct discovery_api *api, const struct message *message)
{
	struct text name AUTO_TEXT = { 0 };
	json_t *properties;

	discovery_schema_name(&name, api, message);
	if (json_object_get(schemas, name.data))
		return;
	properties = json_object();
	/* Added before the messages inside it, because a message can contain itself. */
	json_object_set_new(schemas, name.data,
			    json_pack("{s:s, s:s, s:s, s:o}", "id", name.data, "description", message->help,
				      "type", "object", "properties", properties));
	properties_add(properties, api, message);
	for (const struct field *field = message->fields; field->name; field++)
		if (field->type == FIELD_MESSAGE)
			schema_add(schemas, api, field->message);
}

static json_t *parameter_describe(const struct field *field)
{
	AUTO(json) json_t *parameter = value_describe(NULL, field);

	help_add(parameter, field);
	json_object_set_new(parameter, "location", json_string("query"));
	if (field->flags & FIELD_REPEATED)
		json_object_set_new(parameter, "repeated", json_true());
	return TAKE(parameter);
}

/* Adds the fields that message_read_query() reads from a query. */
static void fields_add(json_t *parameters, const struct message *message, const char *before)
{
	for (const struct field *field = message->fields; field->name; field++) {
		struct text name AUTO_TEXT = { 0 };
		bool inside = field->type == FIELD_MESSAGE && !(field->flags & (FIELD_REPEATED | FIELD_MAP));

		text_printf(&name, "%s%s%s", before, field->name, inside ? "." : "");
		if (inside) {
			fields_add(parameters, field->message, name.data);
		} else if (field->type != FIELD_MESSAGE && field->type != FIELD_STRUCT &&
			   !(field->flags & FIELD_MAP)) {
			json_object_set_new(parameters, name.data, parameter_describe(field));
		}
	}
}

void parameters_add(json_t *parameters, const struct message *message)
{
	fields_add(parameters, message, "");
}
