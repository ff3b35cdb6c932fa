/* SPDX-License-Identifier: Apache-2.0 */
/* The scalars of protobuf's JSON and the canonical form of each.
 * Source: https://protobuf.dev/programming-guides/json/ (read 2026-11-20) */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/message/reader.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"

static const char *const type_texts[] = {
	[FIELD_STRING] = "TYPE_STRING",
	[FIELD_BOOL] = "TYPE_BOOL",
	[FIELD_INT32] = "TYPE_INT32",
	[FIELD_INT64] = "TYPE_INT64",
	[FIELD_DOUBLE] = "TYPE_DOUBLE",
	[FIELD_BYTES] = "TYPE_BYTES",
	[FIELD_DURATION] = "type.googleapis.com/google.protobuf.Duration",
	[FIELD_TIMESTAMP] = "type.googleapis.com/google.protobuf.Timestamp",
	[FIELD_MASK] = "type.googleapis.com/google.protobuf.FieldMask",
	[FIELD_STRUCT] = "type.googleapis.com/google.protobuf.Struct",
	[FIELD_VALUE] = "type.googleapis.com/google.protobuf.Value",
};

char *field_type_text(const struct field *field)
{
	const char *full_name;

	if (field->type == FIELD_ENUM)
		full_name = field->enum_type->full_name;
	else if (field->type == FIELD_MESSAGE)
		full_name = field->message->full_name;
	else
		return memory_strdup(type_texts[field->type]);
	return memory_printf("type.googleapis.com/%s", full_name);
}

/* Whether the text is a decimal number only: no spaces, no hexadecimal, no names. */
static bool is_decimal(const char *text)
{
	size_t digits;

	text += *text == '-' || *text == '+';
	digits = strspn(text, "0123456789");
	if (!digits)
		return false;
	text += digits;
	if (*text == '.') {
		digits = strspn(text + 1, "0123456789");
		if (!digits)
			return false;
		text += 1 + digits;
	}
	if (*text == 'e' || *text == 'E') {
		text += 1 + (text[1] == '+' || text[1] == '-');
		digits = strspn(text, "0123456789");
		if (!digits)
			return false;
		text += digits;
	}
	return *text == '\0';
}

static bool real_to_integer(double real, int64_t *ret_integer)
{
	if (!(real >= -0x1p63 && real < 0x1p63) || real != trunc(real))
		return false;
	*ret_integer = (int64_t)real;
	return true;
}

static bool text_to_integer(const char *text, int64_t *ret_integer)
{
	long long integer;

	if (!is_decimal(text))
		return false;
	if (strpbrk(text, ".eE"))
		return real_to_integer(strtod(text, NULL), ret_integer);
	errno = 0;
	integer = strtoll(text, NULL, 10);
	*ret_integer = integer;
	return errno == 0;
}

/* Integers come as numbers, as numbers with a fraction of zero, and as either of them in quotes. */
static bool value_to_integer(const json_t *value, int64_t *ret_integer)
{
	if (json_is_integer(value)) {
		*ret_integer = json_integer_value(value);
		return true;
	}
	if (json_is_real(value))
		return real_to_integer(json_real_value(value), ret_integer);
	return json_is_string(value) && text_to_integer(json_string_value(value), ret_integer);
}

static json_t *read_integer(const struct field *field, const json_t *value)
{
	int64_t integer;

	if (!value_to_integer(value, &integer))
		return NULL;
	if (field->type == FIELD_INT32)
		return integer < INT32_MIN || integer > INT32_MAX ? NULL : json_integer(integer);
	return json_sprintf("%lld", (long long)integer);
}

static json_t *read_double(const struct field *field, const json_t *value)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
	const char *text = json_string_value(value);
	double real;
	char *end;

	(void)field;
	if (json_is_number(value))
		return json_copy((json_t *)value);
	if (!text)
		return NULL;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i]) == 0)
			return json_string(text);
	real = strtod(text, &end);
	return end != text && !*end && !isspace((unsigned char)*text) && isfinite(real) ? json_real(real)
											: NULL;
}

static json_t *read_string(const struct field *field, const json_t *value)
{
	(void)field;
	return json_is_string(value) ? json_copy((json_t *)value) : NULL;
}

/* Texts are taken as protobuf's safe_strtob() takes them, in any case of letters.
 * Source: DataPiece::ToBool() of protobuf 3.20, src/google/protobuf/util/internal/datapiece.cc, and stubs/strutil.cc */
static json_t *read_bool(const json_t *value)
{
	static const char *const texts[][2] = {
		{ "false", "true" }, { "f", "t" }, { "no", "yes" }, { "n", "y" }, { "0", "1" },
	};
	const char *text = json_string_value(value);

	if (json_is_boolean(value))
		return json_boolean(json_is_true(value));
	for (size_t i = 0; text && i < 2 * (sizeof(texts) / sizeof(texts[0])); i++)
		if (strcasecmp(text, texts[i / 2][i % 2]) == 0)
			return json_boolean(i % 2 == 1);
	return NULL;
}

static json_t *read_choice(const struct enum_type *type, const json_t *value)
{
	for (const struct enum_value *one = type->values; one->name; one++)
		if (json_is_string(value) && strcasecmp(json_string_value(value), one->name) == 0)
			return json_string(one->name);
	return NULL;
}

/* Reads a value that is a name, a number, or a number in quotes.
 * Choice: numbers that the enum lacks are refused; protobuf alone would keep those without quotes, but nothing here
 * could say what they mean.
 * Source: DataPiece::ToEnum() of protobuf 3.20, src/google/protobuf/util/internal/datapiece.cc */
static json_t *read_enum(const struct field *field, const json_t *value)
{
	const char *name = NULL;
	int64_t integer;
	int number;

	if (field->enum_type->any_case)
		return read_choice(field->enum_type, value);
	if (json_is_string(value) && enum_number(field->enum_type, json_string_value(value), &number))
		return json_copy((json_t *)value);
	if (value_to_integer(value, &integer) && integer >= INT32_MIN && integer <= INT32_MAX)
		name = enum_name(field->enum_type, (int)integer);
	return name ? json_string(name) : NULL;
}

/* Standard or URL-safe alphabet, padded or not: the digits' values are gathered and written again in
 * the standard alphabet with padding. @length counts the text without its padding. */
static bool base64_rewrite(const char *text, size_t length, char *to)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < length; i++) {
		const int c = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
		const char *found = memchr(alphabet, c, 64);
		size_t digit;

		if (!found)
			return false;
		digit = (size_t)(found - alphabet);
		if (i == length - 1 && length % 4 == 2)
			digit &= ~(size_t)15; /* bits that belong to no byte */
		if (i == length - 1 && length % 4 == 3)
			digit &= ~(size_t)3;
		to[i] = alphabet[digit];
	}
	while (length % 4)
		to[length++] = '=';
	to[length] = '\0';
	return true;
}

static json_t *read_bytes(struct reader *reader, const char *type, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t whole = json_string_length(value), length = whole;
	AUTO(string) char *standard = memory_alloc(whole + 4);

	while (length && text[length - 1] == '=')
		length--;
	if (length % 4 != 1 && (whole == length || (whole % 4 == 0 && whole - length <= 2)) &&
	    base64_rewrite(text, length, standard))
		return json_string(standard);
	reader_refuse(reader, type, "Base64 decoding failed for \"%.*s\"", SHOWN_VALUE_BYTES, text);
	return NULL;
}

/* Source:
 * https://github.com/protocolbuffers/protobuf/blob/v3.20.0/src/google/protobuf/util/internal/protostream_objectwriter.cc
 * (RenderDuration) */
static const char *duration_fault(const char *text)
{
	const char *digits = text + (*text == '-');
	const size_t length = strlen(digits), whole = strspn(digits, "0123456789");
	const size_t fraction = digits[whole] == '.' ? 1 + strspn(digits + whole + 1, "0123456789") : 0;

	if (!length || digits[length - 1] != 's')
		return "Illegal duration format; duration must end with 's'";
	if (!whole || (!fraction && whole + 1 < length))
		return "Invalid duration format, failed to parse seconds";
	if (whole + fraction + 1 < length || fraction > 1 + 9)
		return "Invalid duration format, failed to parse nano seconds";
	return "Duration value exceeds limits";
}

static json_t *read_duration(struct reader *reader, const char *type, const char *key, const json_t *value)
{
	const char *text = json_string_value(value);
	int64_t us;

	if (duration_parse(text, &us)) {
		struct text canonical AUTO_TEXT = { 0 };

		text_duration(&canonical, text);
		return json_string(canonical.data);
	}
	reader_refuse(reader, type, "Field '%s', %s", key, duration_fault(text));
	return NULL;
}

static json_t *read_timestamp(struct reader *reader, const char *type, const char *key, const json_t *value)
{
	struct text canonical AUTO_TEXT = { 0 };
	int64_t wall_ns;

	if (!time_parse_strict(json_string_value(value), &wall_ns)) {
		reader_refuse(reader, type, "Field '%s', Invalid time format: %.*s", key, SHOWN_VALUE_BYTES,
			      json_string_value(value));
		return NULL;
	}
	if (wall_ns == INT64_MIN || wall_ns == INT64_MAX) /* out of the range of 64 bits of nanoseconds */
		return json_copy((json_t *)value);
	text_time_nanos(&canonical, wall_ns);
	canonical.length--; /* the Z */
	while (canonical.length > 20 && memcmp(canonical.data + canonical.length - 3, "000", 3) == 0)
		canonical.length -= 3;
	if (canonical.length == 20) /* no fraction is left: drop the point */
		canonical.length--;
	return json_sprintf("%.*sZ", (int)canonical.length, canonical.data);
}

/* "training_input.job_dir,labels" -> "trainingInput.jobDir,labels". */
static json_t *read_mask(const struct field *field, const json_t *value)
{
	struct text canonical AUTO_TEXT = { 0 };

	(void)field;
	if (!json_is_string(value))
		return NULL;
	for (const char *c = json_string_value(value); *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("_.,*", *c))
			return NULL;
		if (*c == '_' && islower((unsigned char)c[1]))
			text_putc(&canonical, (char)toupper((unsigned char)*++c));
		else
			text_putc(&canonical, *c);
	}
	text_append(&canonical, "", 0);
	return json_string(canonical.data);
}

/* Reads a value of the types with one common error, which shows the refused value and is added by the caller. NULL: the
 * value is refused. */
static json_t *read_plain(const struct field *field, const json_t *value)
{
	switch (field->type) {
	case FIELD_STRING:
		return read_string(field, value);
	case FIELD_BOOL:
		return read_bool(value);
	case FIELD_INT32:
	case FIELD_INT64:
		return read_integer(field, value);
	case FIELD_DOUBLE:
		return read_double(field, value);
	case FIELD_MASK:
		return read_mask(field, value);
	case FIELD_ENUM:
		return read_enum(field, value);
	case FIELD_BYTES:
	case FIELD_DURATION:
	case FIELD_TIMESTAMP:
	case FIELD_STRUCT:
	case FIELD_VALUE:
	case FIELD_MESSAGE:
		break;
	}
	return NULL;
}

json_t *read_scalar(struct reader *reader, const struct field *field, const char *key, const json_t *value)
{
	AUTO(string) char *type = field_type_text(field);
	json_t *canonical;

	if (json_is_string(value) && field->type == FIELD_BYTES)
		return read_bytes(reader, type, value);
	if (json_is_string(value) && field->type == FIELD_DURATION)
		return read_duration(reader, type, key, value);
	if (json_is_string(value) && field->type == FIELD_TIMESTAMP)
		return read_timestamp(reader, type, key, value);
	canonical = read_plain(field, value);
	if (!canonical && field->type == FIELD_ENUM && field->enum_type->any_case)
		reader_refuse_choice(reader, field, value);
	else if (!canonical && field->type == FIELD_ENUM && field->enum_type->is_own)
		reader_refuse_own_value(reader, type, field->enum_type, value);
	else if (!canonical)
		reader_refuse_value(reader, type, value);
	return canonical;
}
