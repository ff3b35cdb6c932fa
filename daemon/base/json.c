/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *json_text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *value = json_object_get(object, key);
	char *end;
	long long number;

	if (json_is_integer(value))
		return json_integer_value(value);
	if (!json_is_string(value) || json_string_length(value) == 0)
		return otherwise;
	errno = 0;
	number = strtoll(json_string_value(value), &end, 10);
	return errno || *end ? otherwise : number;
}

bool json_true_at(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

int64_t json_duration_at(const json_t *object, const char *key, int64_t otherwise)
{
	const char *text = json_text_at(object, key);
	int64_t us;

	return text && duration_parse(text, &us) ? us : otherwise;
}

/* ---- JSON from others ---- */

/* Returns true if the number does not fit a long long (@whole) or a double. */
static bool number_overflows(const char *text, size_t length, bool whole)
{
	char room[64];
	AUTO(string) char *long_one = NULL;
	const char *number = room;

	if (length < sizeof(room)) {
		memcpy(room, text, length);
		room[length] = '\0';
	} else {
		number = long_one = memory_strndup(text, length);
	}
	errno = 0;
	if (!whole)
		return !isfinite(strtod(number, NULL));
	(void)strtoll(number, NULL, 10);
	return errno == ERANGE;
}

bool json_number_is_finite(const char *text, size_t length)
{
	return !number_overflows(text, length, false);
}

/* A text that is being repaired: the part that is left, and the result. */
struct mending {
	const char *at, *end;
	struct text *mended;
	bool changed;
};

static void number_mend(struct mending *mending)
{
	const char *start = mending->at;
	bool whole = true;
	size_t length;

	for (; mending->at < mending->end && memchr("+-.0123456789eE", *mending->at, 15); mending->at++)
		whole = whole && !memchr(".eE", *mending->at, 3);
	length = (size_t)(mending->at - start);
	if (number_overflows(start, length, false)) {
		text_puts(mending->mended, *start == '-' ? "\"-Infinity\"" : "\"Infinity\"");
		mending->changed = true;
		return;
	}
	text_append(mending->mended, start, length);
	if (whole && number_overflows(start, length, true)) {
		text_puts(mending->mended, ".0");
		mending->changed = true;
	}
}

/* Reads the escape "\\u" with four hexadecimal digits at @at; -1: there is none. */
static long escape_code(const char *at, const char *end)
{
	char digits[5] = "";

	if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
		return -1;
	memcpy(digits, at + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

static bool is_low(long code)
{
	return code >= 0xdc00 && code <= 0xdfff;
}

static void escape_mend(struct mending *mending)
{
	const char *at = mending->at;
	const long code = escape_code(at, mending->end);
	size_t length = code < 0 ? 2 : 6;

	if (code >= 0xd800 && code <= 0xdbff && is_low(escape_code(at + 6, mending->end)))
		length = 12;
	else if (code == 0 || (code >= 0xd800 && code <= 0xdfff))
		at = NULL;
	if (length > (size_t)(mending->end - mending->at))
		length = (size_t)(mending->end - mending->at);
	if (at)
		text_append(mending->mended, at, length);
	else
		text_puts(mending->mended, "\\ufffd");
	mending->changed = mending->changed || !at;
	mending->at += length;
}

/* Repairs @text into @mended. Returns true if this changed the text, so that parsing it again may succeed. */
static bool text_mend(const char *text, size_t length, struct text *mended)
{
	struct mending mending = { .at = text, .end = text + length, .mended = mended };
	bool in_string = false;

	while (mending.at < mending.end) {
		const char c = *mending.at;

		if (in_string && c == '\\') {
			escape_mend(&mending);
		} else if (!in_string && (c == '-' || isdigit((unsigned char)c))) {
			number_mend(&mending);
		} else {
			in_string ^= c == '"';
			text_putc(mended, c);
			mending.at++;
		}
	}
	return mending.changed;
}

json_t *json_parse_foreign(const char *text, size_t length, size_t flags, json_error_t *ret_problem)
{
	struct text clean AUTO_TEXT = { 0 };
	struct text mended AUTO_TEXT = { 0 };
	json_t *value = json_loadb(text, length, flags, ret_problem);
	bool again;

	if (value)
		return value;
	again = memchr(text, '\0', length) || !utf8_valid(text, length);
	if (again)
		text_clean(&clean, text, length);
	if (text_mend(again ? clean.data : text, again ? clean.length : length, &mended))
		again = true;
	return again ? json_loadb(mended.data, mended.length, flags, ret_problem) : NULL;
}

/* Returns the number to replace @value with; NULL: @value stays as it is. */
static json_t *struct_number(const json_t *value)
{
	static const double most = 1e17; /* protobuf's JSON writes up to 17 digits, and larger numbers with an exponent */
	const double real = json_number_value(value);

	if (!json_is_number(value) || trunc(real) != real || (real == 0 && signbit(real)))
		return NULL;
	if (fabs(real) >= most)
		return json_is_real(value) ? NULL : json_real(real);
	if (json_is_integer(value) && json_integer_value(value) == (json_int_t)real)
		return NULL;
	return json_integer((json_int_t)real);
}

void json_struct_numbers(json_t *value)
{
	json_t *member, *number;
	const char *key;
	size_t i;

	json_object_foreach(value, key, member) {
		json_struct_numbers(member);
		number = struct_number(member);
		if (number)
			json_object_set_new(value, key, number);
	}
	json_array_foreach(value, i, member) {
		json_struct_numbers(member);
		number = struct_number(member);
		if (number)
			json_array_set_new(value, i, number);
	}
}

/* ---- JSON of our own ---- */

enum status json_parse_own(const char *text, json_t **ret_value, struct error *err)
{
	json_error_t problem = { 0 };
	json_t *value = text ? json_loadb(text, strlen(text), JSON_DECODE_ANY, &problem) : NULL;

	if (!value)
		return error_set(err, STATUS_INTERNAL, NULL, "stored JSON cannot be read: %s",
				 text ? problem.text : "it is empty");
	*ret_value = value;
	return STATUS_OK;
}

static void real_write(struct text *text, double real)
{
	char digits[32];

	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	text_puts(text, digits);
	if (!strpbrk(digits, ".eE"))
		text_puts(text, ".0");
}

static void object_write(struct text *text, const json_t *object)
{
	const char *separator = "";
	const char *key;
	json_t *member;

	text_putc(text, '{');
	json_object_foreach((json_t *)object, key, member) {
		text_puts(text, separator);
		text_json(text, key, strlen(key));
		text_putc(text, ':');
		json_write(text, member);
		separator = ",";
	}
	text_putc(text, '}');
}

static void array_write(struct text *text, const json_t *array)
{
	text_putc(text, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i)
			text_putc(text, ',');
		json_write(text, json_array_get(array, i));
	}
	text_putc(text, ']');
}

void json_write(struct text *text, const json_t *value)
{
	if (!value) {
		text_puts(text, "null");
		return;
	}
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		object_write(text, value);
		break;
	case JSON_ARRAY:
		array_write(text, value);
		break;
	case JSON_STRING:
		text_json(text, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		text_printf(text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		real_write(text, json_real_value(value));
		break;
	case JSON_TRUE:
		text_puts(text, "true");
		break;
	case JSON_FALSE:
		text_puts(text, "false");
		break;
	case JSON_NULL:
		text_puts(text, "null");
		break;
	}
}

char *json_dump_compact(const json_t *value)
{
	struct text text AUTO_TEXT = { 0 };

	if (!value)
		return NULL;
	json_write(&text, value);
	return text_take(&text);
}
