/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_binary.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/binary_reader.h"
#include "api/message/syntax.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

/* The functions with binary_ in their names are described in binary_reader.h. */
static json_t *message_decode(struct binary *binary, const struct message *message, struct wire wire,
			      json_t *earlier);

json_t *binary_refuse(struct binary *binary, const char *what)
{
	error_set(&binary->reader.err, STATUS_INVALID_ARGUMENT, NULL,
		  "Invalid binary payload received. %s at '%s'.", what,
		  binary->reader.path.length ? binary->reader.path.data : "");
	binary->reader.fault_count++;
	return NULL;
}

bool binary_may_go_on(struct binary *binary)
{
	if (binary->depth <= SYNTAX_DEPTH_MAX && binary->values++ < SYNTAX_VALUES_MAX)
		return true;
	binary_refuse(binary, "Too many or too deeply nested values");
	return false;
}

static json_t *bytes_decode(const struct wire *bytes)
{
	const size_t size = sodium_base64_ENCODED_LEN(wire_left(bytes), sodium_base64_VARIANT_ORIGINAL);
	AUTO(string) char *text = memory_alloc(size);

	sodium_bin2base64(text, size, bytes->at, wire_left(bytes), sodium_base64_VARIANT_ORIGINAL);
	return json_string(text);
}

static enum wire_type type_on_wire(const struct field *field)
{
	switch (field->type) {
	case FIELD_BOOL:
	case FIELD_INT32:
	case FIELD_INT64:
	case FIELD_ENUM:
		return WIRE_VARINT;
	case FIELD_DOUBLE:
		return WIRE_64_BITS;
	default:
		return WIRE_BYTES;
	}
}

/* The numbers of enums are kept; message_read() turns them into names. */
static json_t *number_decode(const struct field *field, uint64_t bits)
{
	switch (field->type) {
	case FIELD_BOOL:
		return json_boolean(bits != 0);
	case FIELD_INT32:
	case FIELD_ENUM:
		return json_integer((int32_t)bits);
	case FIELD_INT64:
		return json_sprintf("%" PRId64, (int64_t)bits);
	default:
		return binary_double(bits);
	}
}

/* google.protobuf.Any: type_url = 1, value = 2. Choice: its message stays as it came, in base64, as its type is not known
 * here: { "@type": URL, "value": BASE64 }. */
static json_t *any_decode(struct binary *binary, struct wire wire, json_t *earlier)
{
	AUTO(json) json_t *any = earlier ? json_incref(earlier) : json_object();
	struct wire_field part;

	while (wire_next(&wire, &part)) {
		json_t *member;

		if (part.type != WIRE_BYTES || (part.number != 1 && part.number != 2))
			return binary_refuse(binary, "A broken message of any type");
		member = part.number == 1 ? binary_string(binary, &part.bytes) : bytes_decode(&part.bytes);
		if (!member)
			return NULL;
		json_object_set_new(any, part.number == 1 ? "@type" : "value", member);
	}
	return wire.is_broken ? binary_refuse(binary, "A broken message of any type") : TAKE(any);
}

static json_t *bytes_field_decode(struct binary *binary, const struct field *field, const struct wire *bytes,
				  json_t *earlier)
{
	switch (field->type) {
	case FIELD_STRING:
		return binary_string(binary, bytes);
	case FIELD_BYTES:
		return bytes_decode(bytes);
	case FIELD_DURATION:
		return binary_duration(binary, *bytes, earlier);
	case FIELD_TIMESTAMP:
		return binary_timestamp(binary, *bytes, earlier);
	case FIELD_MASK:
		return binary_mask(binary, *bytes, earlier);
	case FIELD_STRUCT:
		return field->flags & FIELD_ANY ? any_decode(binary, *bytes, earlier)
						: binary_struct(binary, *bytes, earlier);
	case FIELD_VALUE:
		return binary_value(binary, *bytes, earlier);
	default:
		return message_decode(binary, field->message, *bytes, earlier);
	}
}

/* Int32Value and similar messages: field 1 is the value. Without that field, the earlier value or the type's
 * default. */
static json_t *wrapped_decode(struct binary *binary, const struct field *field, struct wire wire,
			      json_t *earlier)
{
	struct wire_field part,
		value = { .type = type_on_wire(field),
			  .bytes = { .at = (const uint8_t *)"", .end = (const uint8_t *)"" } };

	while (wire_next(&wire, &part))
		if (part.number == 1 && part.type == value.type)
			value = part;
	if (wire.is_broken)
		return binary_refuse(binary, "A broken field");
	if (earlier && !value.number)
		return json_incref(earlier);
	return value.type == WIRE_BYTES ? bytes_field_decode(binary, field, &value.bytes, NULL)
					: number_decode(field, value.value);
}

/* Reads the field's value, or one element if the field is repeated or a map. */
static json_t *element_decode(struct binary *binary, const struct field *field,
			      const struct wire_field *on_wire, json_t *earlier)
{
	if (!binary_may_go_on(binary))
		return NULL;
	if (field->flags & FIELD_WRAPPED && on_wire->type == WIRE_BYTES)
		return wrapped_decode(binary, field, on_wire->bytes, earlier);
	if (on_wire->type != type_on_wire(field))
		return binary_refuse(binary, "A field of another type");
	return on_wire->type == WIRE_BYTES ? bytes_field_decode(binary, field, &on_wire->bytes, earlier)
					   : number_decode(field, on_wire->value);
}

static json_t *collection_at(json_t *object, const struct field *field)
{
	json_t *found = json_object_get(object, field->name);

	if (found)
		return found;
	found = field->flags & FIELD_MAP ? json_object() : json_array();
	json_object_set_new(object, field->name, found);
	return found;
}

static bool packed_elements_decode(struct binary *binary, const struct field *field, struct wire wire,
				   json_t *list)
{
	uint64_t bits;

	while (wire_next_packed(&wire, type_on_wire(field), &bits)) {
		if (!binary_may_go_on(binary))
			return false;
		json_array_append_new(list, number_decode(field, bits));
	}
	return !wire.is_broken || binary_refuse(binary, "A broken list");
}

static bool repeated_decode(struct binary *binary, const struct field *field,
			    const struct wire_field *on_wire, json_t *list)
{
	const size_t before = reader_enter_index(&binary->reader, json_array_size(list));
	json_t *element;

	if (on_wire->type == WIRE_BYTES && type_on_wire(field) != WIRE_BYTES) {
		reader_leave(&binary->reader, before);
		return packed_elements_decode(binary, field, on_wire->bytes, list);
	}
	element = element_decode(binary, field, on_wire, NULL);
	if (!element)
		return false;
	json_array_append_new(list, element);
	reader_leave(&binary->reader, before);
	return true;
}

static bool entry_decode(struct binary *binary, const struct field *field, const struct wire_field *on_wire,
			 json_t *object)
{
	const struct binary_map map = { element_decode, field, type_on_wire(field) };
	struct wire key;
	json_t *value;

	if (on_wire->type != WIRE_BYTES)
		return binary_refuse(binary, "A broken map");
	value = binary_entry(binary, on_wire->bytes, &map, &key);
	return value && binary_member_set(binary, object, &key, value);
}

static bool single_decode(struct binary *binary, const struct field *field, const struct wire_field *on_wire,
			  json_t *object)
{
	json_t *value = element_decode(binary, field, on_wire, json_object_get(object, field->name));

	if (!value)
		return false;
	json_object_set_new(object, field->name, value);
	return true;
}

/* Only the last member of a oneof counts: earlier ones are dropped, whereas the JSON reader refuses two. Source:
 * https://protobuf.dev/programming-guides/proto3/#oneof-features */
static void others_forget(const struct message *message, const struct field *field, json_t *object)
{
	for (const struct field *other = message->fields; field->oneof && other->name; other++)
		if (other != field && other->oneof && strcmp(other->oneof, field->oneof) == 0)
			json_object_del(object, other->name);
}

static bool field_decode(struct binary *binary, const struct field *field, const struct wire_field *on_wire,
			 json_t *object)
{
	const size_t before = reader_enter(&binary->reader, field->name);
	bool done;

	if (!(field->flags & (FIELD_REPEATED | FIELD_MAP))) {
		done = single_decode(binary, field, on_wire, object);
	} else {
		json_t *collection = collection_at(object, field);

		done = field->flags & FIELD_MAP ? entry_decode(binary, field, on_wire, collection)
						: repeated_decode(binary, field, on_wire, collection);
	}
	if (done)
		reader_leave(&binary->reader, before);
	return done;
}

static const struct field *field_numbered(const struct message *message, uint32_t number)
{
	for (const struct field *field = message->fields; field->name; field++)
		if (field->number == number)
			return field;
	return NULL;
}

static json_t *message_decode(struct binary *binary, const struct message *message, struct wire wire,
			      json_t *earlier)
{
	AUTO(json) json_t *object = earlier ? json_incref(earlier) : json_object();
	struct wire_field on_wire;

	if (!binary_may_go_on(binary))
		return NULL;
	binary->depth++;
	while (wire_next(&wire, &on_wire)) {
		const struct field *field = field_numbered(message, on_wire.number);
		char what[64];

		snprintf(what, sizeof(what), "Unknown field number %" PRIu32, on_wire.number);
		if (!field)
			return binary_refuse(binary, what);
		others_forget(message, field, object);
		if (!field_decode(binary, field, &on_wire, object))
			return NULL;
	}
	binary->depth--;
	return wire.is_broken ? binary_refuse(binary, "A broken message") : TAKE(object);
}

enum status message_from_binary(const struct message *message, const void *data, size_t length,
				const char *root, json_t **ret_value, struct error *err)
{
	struct binary binary = { 0 };
	const uint8_t *bytes = length ? data : (const uint8_t *)"";
	AUTO(json) json_t *value = NULL;
	enum status rc;

	memory_holds_json(length);
	reader_init(&binary.reader, root);
	value = message_decode(&binary, message, (struct wire){ .at = bytes, .end = bytes + length }, NULL);
	rc = reader_finish(&binary.reader, err);
	if (!rc)
		*ret_value = TAKE(value);
	return rc;
}
