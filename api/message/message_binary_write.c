/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/message_binary.h"
#include "daemon/base/base64.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/wire.h"

/* One writing. */
struct binary {
	const struct message *const *any;
	const char *wrong; /* the field that has a value of another type; NULL: none */
};

static void message_encode(struct binary *binary, const struct message *message, const json_t *value,
			   struct text *bytes);
static void value_encode(const json_t *value, struct text *bytes);

static void varint_write(struct text *bytes, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		text_putc(bytes, (char)(value | 0x80));
	text_putc(bytes, (char)value);
}

static void key_write(struct text *bytes, unsigned number, enum wire_type type)
{
	varint_write(bytes, (uint64_t)number << 3 | type);
}

static void bytes_write(struct text *bytes, unsigned number, const void *data, size_t length)
{
	key_write(bytes, number, WIRE_BYTES);
	varint_write(bytes, length);
	text_append(bytes, data, length);
}

/* A message within one; empties it. */
static void part_write(struct text *bytes, unsigned number, struct text *part)
{
	bytes_write(bytes, number, part->length ? part->data : "", part->length);
	bytes->failed |= part->failed;
	text_deinit(part);
}

static void varint_field_write(struct text *bytes, unsigned number, uint64_t value)
{
	key_write(bytes, number, WIRE_VARINT);
	varint_write(bytes, value);
}

static void double_write(struct text *bytes, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (unsigned i = 0; i < 8; i++)
		text_putc(bytes, (char)(bits >> 8 * i));
}

static void string_write(struct text *bytes, unsigned number, const json_t *string)
{
	bytes_write(bytes, number, json_string_value(string), json_string_length(string));
}

/* ---- what any value may hold ---- */

static void struct_encode(const json_t *object, struct text *bytes)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)object, name, member) {
		struct text entry = { 0 }, value = { 0 };

		bytes_write(&entry, 1, name, strlen(name));
		value_encode(member, &value);
		part_write(&entry, 2, &value);
		part_write(bytes, 1, &entry);
	}
}

static void list_encode(const json_t *list, struct text *bytes)
{
	size_t i;
	json_t *element;

	json_array_foreach((json_t *)list, i, element) {
		struct text value = { 0 };

		value_encode(element, &value);
		part_write(bytes, 1, &value);
	}
}

/* google.protobuf.Value: null 1, number 2, string 3, bool 4, struct 5, list 6. */
static void value_encode(const json_t *value, struct text *bytes)
{
	struct text part = { 0 };

	switch (json_typeof(value)) {
	case JSON_NULL:
		varint_field_write(bytes, 1, 0);
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		key_write(bytes, 2, WIRE_64_BITS);
		double_write(bytes, json_number_value(value));
		break;
	case JSON_STRING:
		string_write(bytes, 3, value);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		varint_field_write(bytes, 4, json_is_true(value));
		break;
	case JSON_OBJECT:
		struct_encode(value, &part);
		part_write(bytes, 5, &part);
		break;
	case JSON_ARRAY:
		list_encode(value, &part);
		part_write(bytes, 6, &part);
		break;
	}
}

/* ---- scalars ---- */

static bool double_of(const json_t *value, double *ret_double)
{
	static const struct {
		const char *name;
		double value;
	} words[] = { { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY } };

	*ret_double = json_number_value(value);
	if (json_is_number(value))
		return true;
	for (size_t i = 0; json_is_string(value) && i < sizeof(words) / sizeof(words[0]); i++) {
		*ret_double = words[i].value;
		if (strcmp(json_string_value(value), words[i].name) == 0)
			return true;
	}
	return false;
}

static bool integer_of(const struct field *field, const json_t *value, uint64_t *ret_bits)
{
	int number = 0;

	if (field->type == FIELD_BOOL) {
		*ret_bits = json_is_true(value);
		return json_is_boolean(value);
	}
	if (field->type == FIELD_ENUM) {
		if (!json_is_string(value) ||
		    !enum_number(field->enum_type, json_string_value(value), &number))
			return false;
		*ret_bits = (uint64_t)(int64_t)number;
		return true;
	}
	*ret_bits = json_is_string(value) ? (uint64_t)strtoll(json_string_value(value), NULL, 10)
					  : (uint64_t)json_integer_value(value);
	return json_is_string(value) || json_is_integer(value);
}

/* seconds = 1, nanos = 2; zeros are left out. */
static void instant_write(struct text *bytes, int64_t seconds, int64_t nanos)
{
	if (seconds)
		varint_field_write(bytes, 1, (uint64_t)seconds);
	if (nanos)
		varint_field_write(bytes, 2, (uint64_t)nanos);
}

/* "-3.5s": both parts have the sign. */
static bool duration_encode(const char *text, struct text *bytes)
{
	const bool negative = *text == '-';
	char *end, digits[10] = "000000000";
	int64_t seconds, nanos = 0, us;

	if (!duration_parse(text, &us))
		return false;
	seconds = strtoll(text, &end, 10);
	if (*end == '.') {
		memcpy(digits, end + 1, strspn(end + 1, "0123456789"));
		nanos = strtoll(digits, NULL, 10);
	}
	instant_write(bytes, seconds, negative ? -nanos : nanos);
	return true;
}

static bool timestamp_encode(const char *text, struct text *bytes)
{
	int64_t wall_ns, seconds;

	if (!time_parse_strict(text, &wall_ns))
		return false;
	seconds = wall_ns / 1000000000 - (wall_ns % 1000000000 < 0);
	instant_write(bytes, seconds, wall_ns - seconds * 1000000000);
	return true;
}

/* Paths travel in snake_case, each for itself. */
static bool mask_encode(const char *text, struct text *bytes)
{
	while (*text) {
		const size_t length = strcspn(text, ",");
		AUTO(string) char *camel = memory_strndup(text, length);
		AUTO(string) char *snake = name_to_snake(camel);

		bytes_write(bytes, 1, snake, strlen(snake));
		text += length + (text[length] == ',');
	}
	return true;
}

static bool base64_encode(const json_t *value, unsigned number, struct text *bytes)
{
	const size_t size = json_string_length(value);
	AUTO(string) char *data = malloc(size + 1);
	size_t length = 0;

	if (!data) {
		bytes->failed = true;
		return true;
	}
	if (!base64_decode(json_string_value(value), size, NULL, sodium_base64_VARIANT_ORIGINAL, data, size,
			   &length))
		return false;
	bytes_write(bytes, number, data, length);
	return true;
}

/* What is a message of its own on the wire, though a text in JSON. */
static bool text_message_encode(enum field_type type, const char *text, unsigned number, struct text *bytes)
{
	struct text part = { 0 };
	const bool done = type == FIELD_DURATION    ? duration_encode(text, &part)
			  : type == FIELD_TIMESTAMP ? timestamp_encode(text, &part)
						    : mask_encode(text, &part);

	part_write(bytes, number, &part);
	return done;
}

static const struct message *any_find(const struct message *const *any, const char *type)
{
	const char *name = strrchr(type, '/');

	for (; any && *any && name; any++)
		if (strcmp((*any)->full_name, name + 1) == 0)
			return *any;
	return NULL;
}

static const char struct_url[] = "type.googleapis.com/google.protobuf.Struct";

/* google.protobuf.Any: type_url = 1, value = 2. Choice: what has no type, or one that is not known here, is a Struct of all its
 * members, "@type" among them: an empty message of its type would say that it held nothing. */
static void any_encode(struct binary *binary, const json_t *object, unsigned number, struct text *bytes)
{
	const json_t *type = json_object_get(object, "@type"), *kept = json_object_get(object, "value");
	const char *url = json_is_string(type) ? json_string_value(type) : "";
	const struct message *message = any_find(binary->any, url);
	const bool has_value_alone = *url && kept && json_object_size(object) == 2;
	struct text part = { 0 }, value = { 0 }, whole = { 0 };

	if (message) {
		message_encode(binary, message, object, &value);
	} else if (has_value_alone && json_is_object(kept) && strcmp(url, struct_url) == 0) {
		struct_encode(kept, &value);
	} else if (has_value_alone && json_is_string(kept) && base64_encode(kept, 2, &whole)) {
		/* as message_from_binary() reads it */
	} else if (json_object_size(object) > (*url != '\0')) {
		url = struct_url;
		struct_encode(object, &value);
	}
	if (*url)
		bytes_write(&part, 1, url, strlen(url));
	if (whole.length)
		text_append(&part, whole.data, whole.length);
	if (value.length)
		part_write(&part, 2, &value);
	text_deinit(&whole);
	part_write(bytes, number, &part);
}

static bool struct_field_encode(struct binary *binary, const struct field *field, const json_t *value,
				unsigned number, struct text *bytes)
{
	struct text part = { 0 };

	if (!json_is_object(value))
		return false;
	if (field->flags & FIELD_ANY) {
		any_encode(binary, value, number, bytes);
		return true;
	}
	struct_encode(value, &part);
	part_write(bytes, number, &part);
	return true;
}

/* One value under @number, which is 1 inside a wrapper and 2 inside a map's entry. False: of another type. */
static bool scalar_encode(struct binary *binary, const struct field *field, const json_t *value,
			  unsigned number, struct text *bytes)
{
	struct text part = { 0 };
	uint64_t bits;
	double real;

	switch (field->type) {
	case FIELD_BOOL:
	case FIELD_INT32:
	case FIELD_INT64:
	case FIELD_ENUM:
		if (!integer_of(field, value, &bits))
			return false;
		varint_field_write(bytes, number, bits);
		return true;
	case FIELD_DOUBLE:
		if (!double_of(value, &real))
			return false;
		key_write(bytes, number, WIRE_64_BITS);
		double_write(bytes, real);
		return true;
	case FIELD_STRING:
		if (!json_is_string(value))
			return false;
		string_write(bytes, number, value);
		return true;
	case FIELD_BYTES:
		return json_is_string(value) && base64_encode(value, number, bytes);
	case FIELD_DURATION:
	case FIELD_TIMESTAMP:
	case FIELD_MASK:
		return json_is_string(value) &&
		       text_message_encode(field->type, json_string_value(value), number, bytes);
	case FIELD_STRUCT:
		return struct_field_encode(binary, field, value, number, bytes);
	case FIELD_VALUE:
		value_encode(value, &part);
		part_write(bytes, number, &part);
		return true;
	case FIELD_MESSAGE:
		if (!json_is_object(value))
			return false;
		message_encode(binary, field->message, value, &part);
		part_write(bytes, number, &part);
		return true;
	}
	return false;
}

static bool element_encode(struct binary *binary, const struct field *field, const json_t *value,
			   struct text *bytes)
{
	struct text part = { 0 };
	bool done;

	if (!(field->flags & FIELD_WRAPPED))
		return scalar_encode(binary, field, value, field->number, bytes);
	done = scalar_encode(binary, field, value, 1, &part);
	part_write(bytes, field->number, &part);
	return done;
}

/* Numbers are written one by one, too: every reader takes them packed or not. */
static bool list_field_encode(struct binary *binary, const struct field *field, const json_t *list,
			      struct text *bytes)
{
	size_t i;
	json_t *element;

	json_array_foreach((json_t *)list, i, element) {
		if (!element_encode(binary, field, element, bytes))
			return false;
	}
	return json_is_array(list);
}

static bool map_field_encode(struct binary *binary, const struct field *field, const json_t *object,
			     struct text *bytes)
{
	const char *name;
	json_t *value;
	bool done = json_is_object(object);

	json_object_foreach((json_t *)object, name, value) {
		struct text entry = { 0 };

		bytes_write(&entry, 1, name, strlen(name));
		done = done && scalar_encode(binary, field, value, 2, &entry);
		part_write(bytes, field->number, &entry);
	}
	return done;
}

static void message_encode(struct binary *binary, const struct message *message, const json_t *value,
			   struct text *bytes)
{
	for (const struct field *field = message->fields; field->name; field++) {
		const json_t *member = json_object_get(value, field->name);
		bool done;

		/* null is unset, but for a field that may hold anything. */
		if (!field->number || !member || (json_is_null(member) && field->type != FIELD_VALUE))
			continue;
		if (field->flags & FIELD_MAP)
			done = map_field_encode(binary, field, member, bytes);
		else if (field->flags & FIELD_REPEATED)
			done = list_field_encode(binary, field, member, bytes);
		else
			done = element_encode(binary, field, member, bytes);
		if (!done && !binary->wrong)
			binary->wrong = field->name;
	}
}

enum status message_to_binary(const struct message *message, const json_t *value,
			      const struct message *const *any, struct text *bytes, struct error *err)
{
	struct binary binary = { .any = any };

	message_encode(&binary, message, value, bytes);
	if (bytes->failed)
		return error_no_memory(err);
	if (binary.wrong)
		return error_set(err, STATUS_INTERNAL, NULL, "%s: the value of %s is of another type",
				 message->full_name, binary.wrong);
	return STATUS_OK;
}
