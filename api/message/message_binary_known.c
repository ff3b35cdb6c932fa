/* SPDX-License-Identifier: Apache-2.0 */
/* google.protobuf's own types in binary: Duration, Timestamp, FieldMask, Struct, ListValue, Value. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/binary_reader.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/timestamp.h"

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Infinities and NaN become strings, because JSON has no numbers for them. */
json_t *binary_double(uint64_t bits)
{
	const double value = double_of(bits);

	if (isnan(value))
		return json_string("NaN");
	if (isinf(value))
		return json_string(value > 0 ? "Infinity" : "-Infinity");
	return json_real(value);
}

json_t *binary_string(struct binary *binary, const struct wire *bytes)
{
	json_t *string = NULL;

	/* A text with NUL is refused, as in JSON. */
	if (!memchr(bytes->at, '\0', wire_left(bytes)))
		string = json_stringn((const char *)bytes->at, wire_left(bytes));
	return string ? string : binary_refuse(binary, "A text that is not UTF-8, or has a NUL");
}

enum { NANOS_PER_S = 1000000000 };

/* ---- times ---- */

/* A Duration, or a Timestamp: seconds = 1, nanos = 2. */
struct instant {
	int64_t seconds;
	int32_t nanos;
};

/* An invalid time is kept as text, too, because a later field may correct it; message_read() refuses such a text. */
#define NO_TIME         "%" PRId64 " s and %" PRId32 " ns"
#define NO_TIME_SCANNED "%" SCNd64 " s and %" SCNd32 " ns"

static bool no_time_read(const char *text, struct instant *instant)
{
	return sscanf(text, NO_TIME_SCANNED, &instant->seconds, &instant->nanos) == 2;
}

static json_t *no_time_made(const struct instant *instant)
{
	return json_sprintf(NO_TIME, instant->seconds, instant->nanos);
}

/* Reads the fields that are present; the others keep what @instant has. */
static bool instant_read(struct binary *binary, struct wire wire, struct instant *instant)
{
	struct wire_field part;

	while (wire_next(&wire, &part)) {
		if (part.number == 1 && part.type == WIRE_VARINT)
			instant->seconds = (int64_t)part.value;
		else if (part.number == 2 && part.type == WIRE_VARINT)
			instant->nanos = (int32_t)part.value;
	}
	if (wire.is_broken)
		binary_refuse(binary, "A broken time");
	return !wire.is_broken;
}

static bool nanos_valid(const struct instant *instant)
{
	return instant->nanos > -NANOS_PER_S && instant->nanos < NANOS_PER_S;
}

/* Reads a duration in the form in which this file writes it: "-1.000000002s". */
static struct instant duration_read(const char *text)
{
	struct instant instant = { 0 };
	const bool negative = *text == '-';
	char *end;

	if (no_time_read(text, &instant))
		return instant;
	instant.seconds = (int64_t)(negative ? -strtoull(text + 1, &end, 10) : strtoull(text, &end, 10));
	instant.nanos = (int32_t)strtol(end + 1, NULL, 10) * (negative ? -1 : 1);
	return instant;
}

static uint64_t size_of(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

json_t *binary_duration(struct binary *binary, struct wire wire, const json_t *earlier)
{
	struct instant instant = earlier ? duration_read(json_string_value(earlier)) : (struct instant){ 0 };

	if (!instant_read(binary, wire, &instant))
		return NULL;
	if (!nanos_valid(&instant) || (instant.seconds < 0 && instant.nanos > 0) ||
	    (instant.seconds > 0 && instant.nanos < 0))
		return no_time_made(&instant);
	return json_sprintf("%s%" PRIu64 ".%09ds", instant.seconds < 0 || instant.nanos < 0 ? "-" : "",
			    size_of(instant.seconds), abs(instant.nanos));
}

static struct instant timestamp_read(const char *text)
{
	struct instant instant = { 0 };
	int64_t wall_ns;

	if (no_time_read(text, &instant) || !time_parse_strict(text, &wall_ns))
		return instant;
	instant.seconds = wall_ns / NANOS_PER_S - (wall_ns % NANOS_PER_S < 0);
	instant.nanos = (int32_t)(wall_ns - instant.seconds * NANOS_PER_S);
	return instant;
}

json_t *binary_timestamp(struct binary *binary, struct wire wire, const json_t *earlier)
{
	struct instant instant = earlier ? timestamp_read(json_string_value(earlier)) : (struct instant){ 0 };
	struct text text AUTO_TEXT = { 0 };

	if (!instant_read(binary, wire, &instant))
		return NULL;
	if (!nanos_valid(&instant) || instant.nanos < 0 || instant.seconds < TIME_FIRST_S ||
	    instant.seconds >= TIME_END_S)
		return no_time_made(&instant);
	text_time_nanos(&text, instant.seconds * NANOS_PER_S + instant.nanos);
	return json_string(text.data);
}

/* ---- masks ---- */

json_t *binary_mask(struct binary *binary, struct wire wire, const json_t *earlier)
{
	struct text text AUTO_TEXT = { 0 };
	struct wire_field path;
	bool is_first;

	text_puts(&text, earlier ? json_string_value(earlier) : "");
	is_first = text.length == 0;
	while (wire_next(&wire, &path)) {
		if (path.number != 1 || path.type != WIRE_BYTES)
			return binary_refuse(binary, "A broken mask");
		if (!is_first)
			text_putc(&text, ',');
		is_first = false;
		text_append(&text, path.bytes.at, wire_left(&path.bytes));
	}
	if (wire.is_broken)
		return binary_refuse(binary, "A broken mask");
	return binary_string(binary, &(struct wire){ .at = (const uint8_t *)text.data,
						     .end = (const uint8_t *)text.data + text.length });
}

/* ---- any JSON value ---- */

bool binary_member_set(struct binary *binary, json_t *object, const struct wire *key, json_t *value)
{
	AUTO(json) json_t *name = binary_string(binary, key);

	if (!name) {
		json_decref(value);
		return false;
	}
	json_object_set_new(object, json_string_value(name), value);
	return true;
}

json_t *binary_entry(struct binary *binary, struct wire entry, const struct binary_map *map,
		     struct wire *ret_key)
{
	const struct wire nothing = { .at = (const uint8_t *)"", .end = (const uint8_t *)"" };
	const struct wire_field absent = { .type = map->type, .bytes = nothing };
	AUTO(json) json_t *value = NULL;
	struct wire_field part;

	*ret_key = nothing;
	while (wire_next(&entry, &part)) {
		json_t *next;

		if (part.number == 1 && part.type == WIRE_BYTES)
			*ret_key = part.bytes;
		if (part.number != 2)
			continue;
		next = map->decode(binary, map->field, &part, value);
		if (!next)
			return NULL;
		json_decref(value);
		value = next;
	}
	if (entry.is_broken)
		return binary_refuse(binary, "A broken map");
	return value ? TAKE(value) : map->decode(binary, map->field, &absent, NULL);
}

static json_t *member_decode(struct binary *binary, const struct field *field,
			     const struct wire_field *on_wire, json_t *earlier)
{
	(void)field;
	return on_wire->type == WIRE_BYTES ? binary_value(binary, on_wire->bytes, earlier)
					   : binary_refuse(binary, "A broken struct");
}

json_t *binary_struct(struct binary *binary, struct wire wire, json_t *earlier)
{
	AUTO(json) json_t *object = json_is_object(earlier) ? json_incref(earlier) : json_object();
	static const struct binary_map members = { .decode = member_decode, .type = WIRE_BYTES };
	struct wire_field field;

	while (wire_next(&wire, &field)) {
		struct wire key;
		json_t *member;

		if (field.number != 1 || field.type != WIRE_BYTES)
			return binary_refuse(binary, "A broken struct");
		member = binary_entry(binary, field.bytes, &members, &key);
		if (!member || !binary_member_set(binary, object, &key, member))
			return NULL;
	}
	return wire.is_broken ? binary_refuse(binary, "A broken struct") : TAKE(object);
}

static json_t *list_decode(struct binary *binary, struct wire wire, json_t *earlier)
{
	AUTO(json) json_t *list = json_is_array(earlier) ? json_incref(earlier) : json_array();
	struct wire_field field;

	while (wire_next(&wire, &field)) {
		json_t *element;

		if (field.number != 1 || field.type != WIRE_BYTES)
			return binary_refuse(binary, "A broken list");
		element = binary_value(binary, field.bytes, NULL);
		if (!element)
			return NULL;
		json_array_append_new(list, element);
	}
	return wire.is_broken ? binary_refuse(binary, "A broken list") : TAKE(list);
}

/* Converts a double to a JSON number: a whole number has no fraction, as protobuf writes 3 and not 3.0. */
static json_t *number_decode(uint64_t bits)
{
	enum { EXACT_BITS = 53 };
	const double value = double_of(bits);

	if (fabs(value) <= (double)(INT64_C(1) << EXACT_BITS) && value == trunc(value))
		return json_integer((json_int_t)value);
	return binary_double(bits);
}

/* Decodes free text, such as a program's log line. It may have NULs, which become U+FFFD, as in lines of logs. */
static json_t *free_text_decode(struct binary *binary, const struct wire *bytes)
{
	const char *data = (const char *)bytes->at;
	struct text clean AUTO_TEXT = { 0 };

	if (!memchr(data, '\0', wire_left(bytes)) || !utf8_valid(data, wire_left(bytes)))
		return binary_string(binary, bytes);
	text_clean(&clean, data, wire_left(bytes));
	return json_stringn(clean.data, clean.length);
}

enum { VALUE_NULL = 1, VALUE_NUMBER, VALUE_STRING, VALUE_BOOL, VALUE_STRUCT, VALUE_LIST };

static json_t *kind_decode(struct binary *binary, const struct wire_field *kind, json_t *earlier)
{
	switch (kind->number << 3 | kind->type) {
	case VALUE_NULL << 3 | WIRE_VARINT:
		return json_null();
	case VALUE_NUMBER << 3 | WIRE_64_BITS:
		return number_decode(kind->value);
	case VALUE_STRING << 3 | WIRE_BYTES:
		return free_text_decode(binary, &kind->bytes);
	case VALUE_BOOL << 3 | WIRE_VARINT:
		return json_boolean(kind->value != 0);
	case VALUE_STRUCT << 3 | WIRE_BYTES:
		return binary_struct(binary, kind->bytes, earlier);
	case VALUE_LIST << 3 | WIRE_BYTES:
		return list_decode(binary, kind->bytes, earlier);
	default:
		return binary_refuse(binary, "A broken value");
	}
}

/* Reads a google.protobuf.Value. If several of its fields are present, the last counts; if none is, the value stays
 * @earlier, or null. */
json_t *binary_value(struct binary *binary, struct wire wire, json_t *earlier)
{
	AUTO(json) json_t *value = earlier ? json_incref(earlier) : json_null();
	struct wire_field kind;

	if (!binary_may_go_on(binary))
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
	return wire.is_broken ? binary_refuse(binary, "A broken value") : TAKE(value);
}
