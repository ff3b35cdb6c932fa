/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_binary.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/reader.h"
#include "api/message/syntax.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/wire.h"

/* One reading. The reader carries the path and the one fault that ends it. */
struct binary {
	struct reader reader;
	unsigned depth;
	size_t values;
};

/* A message that comes twice is both of them: the second one is read on top of @earlier, so that lists go on, and of two
 * values of a key the later one counts. @earlier is borrowed; NULL: there is none.
 * Source: https://protobuf.dev/programming-guides/encoding/#last-one-wins */
static json_t *message_decode(struct binary *binary, const struct message *message, struct wire wire,
			      json_t *earlier);
static json_t *value_decode(struct binary *binary, struct wire wire, json_t *earlier);

static json_t *refuse(struct binary *binary, const char *what)
{
	error_set(&binary->reader.err, STATUS_INVALID_ARGUMENT, NULL,
		  "Invalid binary payload received. %s at '%s'.", what,
		  binary->reader.path.length ? binary->reader.path.data : "");
	binary->reader.fault_count++;
	return NULL;
}

static json_t *made(struct binary *binary, json_t *value)
{
	if (!value)
		binary->reader.out_of_memory = true;
	return value;
}

/* Each level costs stack, each value memory that has nothing to do with its bytes. */
static bool may_go_on(struct binary *binary)
{
	if (binary->depth <= SYNTAX_DEPTH_MAX && binary->values++ < SYNTAX_VALUES_MAX)
		return true;
	refuse(binary, "Too many or too deeply nested values");
	return false;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* JSON has no numbers for these. */
static json_t *double_decode(uint64_t bits)
{
	const double value = double_of(bits);

	if (isnan(value))
		return json_string("NaN");
	if (isinf(value))
		return json_string(value > 0 ? "Infinity" : "-Infinity");
	return json_real(value);
}

static json_t *string_decode(struct binary *binary, const struct wire *bytes)
{
	json_t *string = NULL;

	/* JSON's own texts are without NUL here, too. */
	if (!memchr(bytes->at, '\0', wire_left(bytes)))
		string = json_stringn((const char *)bytes->at, wire_left(bytes));
	return string ? string : refuse(binary, "A text that is no UTF-8, or has a NUL");
}

static json_t *bytes_decode(struct binary *binary, const struct wire *bytes)
{
	const size_t size = sodium_base64_ENCODED_LEN(wire_left(bytes), sodium_base64_VARIANT_ORIGINAL);
	AUTO(string) char *text = malloc(size);

	if (!text)
		return made(binary, NULL);
	sodium_bin2base64(text, size, bytes->at, wire_left(bytes), sodium_base64_VARIANT_ORIGINAL);
	return made(binary, json_string(text));
}

/* Two numbers: seconds = 1, nanos = 2. */
static bool instant_read(struct binary *binary, struct wire wire, int64_t *ret_seconds, int32_t *ret_nanos)
{
	struct wire_field part;

	*ret_seconds = 0;
	*ret_nanos = 0;
	while (wire_next(&wire, &part)) {
		if (part.number == 1 && part.type == WIRE_VARINT)
			*ret_seconds = (int64_t)part.value;
		else if (part.number == 2 && part.type == WIRE_VARINT)
			*ret_nanos = (int32_t)part.value;
	}
	if (!wire.is_broken && *ret_nanos > -1000000000 && *ret_nanos < 1000000000)
		return true;
	refuse(binary, "A broken time");
	return false;
}

/* What is out of range is left for message_read() to say. */
static json_t *duration_decode(struct binary *binary, struct wire wire)
{
	int64_t seconds;
	int32_t nanos;

	if (!instant_read(binary, wire, &seconds, &nanos))
		return NULL;
	if ((seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0))
		return refuse(binary, "A broken time");
	return made(binary, json_sprintf("%s%" PRIu64 ".%09ds", seconds < 0 || nanos < 0 ? "-" : "",
					 seconds < 0 ? -(uint64_t)seconds : (uint64_t)seconds, abs(nanos)));
}

static json_t *timestamp_decode(struct binary *binary, struct wire wire)
{
	struct text text AUTO_TEXT = { 0 };
	int64_t seconds;
	int32_t nanos;

	if (!instant_read(binary, wire, &seconds, &nanos))
		return NULL;
	if (nanos < 0 || seconds <= INT64_MIN / 1000000000 || seconds >= INT64_MAX / 1000000000)
		return refuse(binary, "A broken time");
	text_time_nanos(&text, seconds * 1000000000 + nanos);
	return made(binary, text.failed ? NULL : json_string(text.data));
}

static json_t *mask_decode(struct binary *binary, struct wire wire)
{
	struct text text AUTO_TEXT = { 0 };
	struct wire_field path;

	text_append(&text, "", 0);
	while (wire_next(&wire, &path)) {
		if (path.number != 1 || path.type != WIRE_BYTES)
			return refuse(binary, "A broken mask");
		if (text.length)
			text_putc(&text, ',');
		text_append(&text, path.bytes.at, wire_left(&path.bytes));
	}
	if (wire.is_broken)
		return refuse(binary, "A broken mask");
	return made(binary, text.failed ? NULL : json_string(text.data));
}

/* fields = 1: entries of key = 1, value = 2; the same form as every map. */
static bool entry_read(struct binary *binary, struct wire entry, struct wire *ret_key,
		       struct wire_field *ret_value)
{
	struct wire_field part;

	*ret_key = (struct wire){ .at = (const uint8_t *)"", .end = (const uint8_t *)"" };
	*ret_value = (struct wire_field){ .type = WIRE_BYTES, .bytes = *ret_key };
	while (wire_next(&entry, &part)) {
		if (part.number == 1 && part.type == WIRE_BYTES)
			*ret_key = part.bytes;
		else if (part.number == 2)
			*ret_value = part;
	}
	if (!entry.is_broken)
		return true;
	refuse(binary, "A broken map");
	return false;
}

/* Steals @value. */
static bool member_set(struct binary *binary, json_t *object, const struct wire *key, json_t *value)
{
	AUTO(json) json_t *name = string_decode(binary, key);

	if (name)
		return json_object_set_new(object, json_string_value(name), value) == 0 || made(binary, NULL);
	json_decref(value);
	return false;
}

static json_t *struct_decode(struct binary *binary, struct wire wire, json_t *earlier)
{
	AUTO(json) json_t *object = json_is_object(earlier) ? json_incref(earlier) : json_object();
	struct wire_field field;

	while (wire_next(&wire, &field)) {
		struct wire_field value;
		struct wire key;
		json_t *decoded;

		if (field.number != 1 || field.type != WIRE_BYTES ||
		    !entry_read(binary, field.bytes, &key, &value) || value.type != WIRE_BYTES)
			return refuse(binary, "A broken struct");
		decoded = value_decode(binary, value.bytes, NULL);
		if (!decoded || !member_set(binary, object, &key, decoded))
			return NULL;
	}
	return wire.is_broken ? refuse(binary, "A broken struct") : made(binary, TAKE(object));
}

static json_t *list_decode(struct binary *binary, struct wire wire, json_t *earlier)
{
	AUTO(json) json_t *list = json_is_array(earlier) ? json_incref(earlier) : json_array();
	struct wire_field field;

	while (wire_next(&wire, &field)) {
		json_t *element;

		if (field.number != 1 || field.type != WIRE_BYTES)
			return refuse(binary, "A broken list");
		element = value_decode(binary, field.bytes, NULL);
		if (!element)
			return NULL;
		if (json_array_append_new(list, element))
			return made(binary, NULL);
	}
	return wire.is_broken ? refuse(binary, "A broken list") : made(binary, TAKE(list));
}

enum { VALUE_NULL = 1, VALUE_NUMBER, VALUE_STRING, VALUE_BOOL, VALUE_STRUCT, VALUE_LIST };

static json_t *kind_decode(struct binary *binary, const struct wire_field *kind, json_t *earlier)
{
	switch (kind->number << 3 | kind->type) {
	case VALUE_NULL << 3 | WIRE_VARINT:
		return json_null();
	case VALUE_NUMBER << 3 | WIRE_64_BITS:
		return made(binary, double_decode(kind->value));
	case VALUE_STRING << 3 | WIRE_BYTES:
		return string_decode(binary, &kind->bytes);
	case VALUE_BOOL << 3 | WIRE_VARINT:
		return json_boolean(kind->value != 0);
	case VALUE_STRUCT << 3 | WIRE_BYTES:
		return struct_decode(binary, kind->bytes, earlier);
	case VALUE_LIST << 3 | WIRE_BYTES:
		return list_decode(binary, kind->bytes, earlier);
	default:
		return refuse(binary, "A broken value");
	}
}

/* google.protobuf.Value: the last of its kinds counts; without any it stays what it was, null at first. */
static json_t *value_decode(struct binary *binary, struct wire wire, json_t *earlier)
{
	AUTO(json) json_t *value = earlier ? json_incref(earlier) : json_null();
	struct wire_field kind;

	if (!may_go_on(binary))
		return NULL;
	binary->depth++;
	while (wire_next(&wire, &kind)) {
		json_t *next = kind_decode(binary, &kind, value);

		if (!next)
			return NULL;
		json_decref(value);
		value = next;
	}
	binary->depth--;
	return wire.is_broken ? refuse(binary, "A broken value") : TAKE(value);
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

/* Enums stay numbers, which message_read() knows. */
static json_t *number_decode(struct binary *binary, const struct field *field, uint64_t bits)
{
	switch (field->type) {
	case FIELD_BOOL:
		return json_boolean(bits != 0);
	case FIELD_INT32:
	case FIELD_ENUM:
		return made(binary, json_integer((int32_t)bits));
	case FIELD_INT64:
		return made(binary, json_sprintf("%" PRId64, (int64_t)bits));
	default:
		return made(binary, double_decode(bits));
	}
}

static json_t *bytes_field_decode(struct binary *binary, const struct field *field, const struct wire *bytes,
				  json_t *earlier)
{
	switch (field->type) {
	case FIELD_STRING:
		return string_decode(binary, bytes);
	case FIELD_BYTES:
		return bytes_decode(binary, bytes);
	case FIELD_DURATION:
		return duration_decode(binary, *bytes);
	case FIELD_TIMESTAMP:
		return timestamp_decode(binary, *bytes);
	case FIELD_MASK:
		return mask_decode(binary, *bytes);
	case FIELD_STRUCT:
		return field->flags & FIELD_ANY ? refuse(binary, "A message of any type")
						: struct_decode(binary, *bytes, earlier);
	case FIELD_VALUE:
		return value_decode(binary, *bytes, earlier);
	default:
		return message_decode(binary, field->message, *bytes, earlier);
	}
}

/* Int32Value and its like: value = 1; without it, the type's default. */
static json_t *wrapped_decode(struct binary *binary, const struct field *field, struct wire wire)
{
	struct wire_field part,
		value = { .type = type_on_wire(field),
			  .bytes = { .at = (const uint8_t *)"", .end = (const uint8_t *)"" } };

	while (wire_next(&wire, &part))
		if (part.number == 1 && part.type == value.type)
			value = part;
	if (wire.is_broken)
		return refuse(binary, "A broken field");
	return value.type == WIRE_BYTES ? bytes_field_decode(binary, field, &value.bytes, NULL)
					: number_decode(binary, field, value.value);
}

/* One element of the field, whatever it is repeated or a map's. */
static json_t *element_decode(struct binary *binary, const struct field *field,
			      const struct wire_field *on_wire, json_t *earlier)
{
	if (!may_go_on(binary))
		return NULL;
	if (field->flags & FIELD_WRAPPED && on_wire->type == WIRE_BYTES)
		return wrapped_decode(binary, field, on_wire->bytes);
	if (on_wire->type != type_on_wire(field))
		return refuse(binary, "A field of another type");
	return on_wire->type == WIRE_BYTES ? bytes_field_decode(binary, field, &on_wire->bytes, earlier)
					   : number_decode(binary, field, on_wire->value);
}

static json_t *collection_at(json_t *object, const struct field *field)
{
	json_t *found = json_object_get(object, field->name);

	if (found)
		return found;
	found = field->flags & FIELD_MAP ? json_object() : json_array();
	return json_object_set_new(object, field->name, found) ? NULL : found;
}

static bool packed_elements_decode(struct binary *binary, const struct field *field, struct wire wire,
				   json_t *list)
{
	uint64_t bits;

	while (wire_next_packed(&wire, type_on_wire(field), &bits)) {
		if (!may_go_on(binary))
			return false;
		if (json_array_append_new(list, number_decode(binary, field, bits)))
			return made(binary, NULL);
	}
	return !wire.is_broken || refuse(binary, "A broken list");
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
	if (!element || json_array_append_new(list, element))
		return false;
	reader_leave(&binary->reader, before);
	return true;
}

static bool entry_decode(struct binary *binary, const struct field *field, const struct wire_field *on_wire,
			 json_t *object)
{
	struct wire_field value;
	struct wire key;
	json_t *decoded;

	if (on_wire->type != WIRE_BYTES || !entry_read(binary, on_wire->bytes, &key, &value))
		return refuse(binary, "A broken map");
	if (value.number == 0) /* none was sent: the type's default */
		value.type = type_on_wire(field);
	decoded = element_decode(binary, field, &value, NULL);
	return decoded && member_set(binary, object, &key, decoded);
}

static bool single_decode(struct binary *binary, const struct field *field, const struct wire_field *on_wire,
			  json_t *object)
{
	json_t *value = element_decode(binary, field, on_wire, json_object_get(object, field->name));

	return value && (json_object_set_new(object, field->name, value) == 0 || made(binary, NULL));
}

/* The member of a oneof that comes last is the one that is set: those before it are forgotten, where JSON's reader
 * refuses two.
 * Source: https://protobuf.dev/programming-guides/proto3/#oneof-features */
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

		done = collection &&
		       (field->flags & FIELD_MAP ? entry_decode(binary, field, on_wire, collection)
						 : repeated_decode(binary, field, on_wire, collection));
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

	if (!object)
		return made(binary, NULL);
	if (!may_go_on(binary))
		return NULL;
	binary->depth++;
	while (wire_next(&wire, &on_wire)) {
		const struct field *field = field_numbered(message, on_wire.number);
		char what[64];

		snprintf(what, sizeof(what), "Unknown field number %" PRIu32, on_wire.number);
		if (!field)
			return refuse(binary, what);
		others_forget(message, field, object);
		if (!field_decode(binary, field, &on_wire, object))
			return NULL;
	}
	binary->depth--;
	return wire.is_broken ? refuse(binary, "A broken message") : made(binary, TAKE(object));
}

enum status message_from_binary(const struct message *message, const void *data, size_t length,
				const char *root, json_t **ret_value, struct error *err)
{
	struct binary binary = { 0 };
	const uint8_t *bytes = length ? data : (const uint8_t *)"";
	AUTO(json) json_t *value = NULL;
	enum status rc;

	reader_init(&binary.reader, root, false);
	value = message_decode(&binary, message, (struct wire){ .at = bytes, .end = bytes + length }, NULL);
	if (!value && !binary.reader.fault_count)
		binary.reader.out_of_memory = true;
	rc = reader_finish(&binary.reader, err);
	if (!rc)
		*ret_value = TAKE(value);
	return rc;
}
