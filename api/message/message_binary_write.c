/* SPDX-License-Identifier: Apache-2.0 */
/* Converts JSON text to the binary form in one pass, without a tree. The length of a message stands before its bytes,
 * so it is inserted once they are written. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/binary_writer.h"
#include "api/message/message_binary.h"
#include "daemon/base/base64.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json_cursor.h"
#include "daemon/base/memory.h"

enum { DEPTH_MAX = 256, ENUM_NAME_BYTES = 128 };

/* The state of one conversion. Each function below converts the value at @at; false: the value has another type, or is
 * not JSON. */
struct binary {
	const char *at;
	struct text *bytes;
	const struct message *const *any;
	const char *wrong; /* the innermost field with a value that could not be written; NULL: none */
	unsigned depth;
};

static bool message_encode(struct binary *binary, const struct message *message);
static bool value_encode(struct binary *binary);

static bool string_encode(struct binary *binary, unsigned number)
{
	const size_t begin = wire_part_begin(binary->bytes, number);
	const bool done = json_string_append(&binary->at, binary->bytes);

	wire_part_end(binary->bytes, begin);
	return done;
}

static bool word_take(struct binary *binary, const char *word)
{
	const size_t length = strlen(word);
	const bool is_there = json_word_length(binary->at) == length && memcmp(binary->at, word, length) == 0;

	if (is_there)
		binary->at += length;
	return is_there;
}

/* ---- objects and lists ---- */

/* A member's name, without its quotes. */
struct name {
	const char *at;
	size_t length;
};

static bool name_is(const struct name *name, const char *other)
{
	return strncmp(name->at, other, name->length) == 0 && other[name->length] == '\0';
}

/* Whether the text was found to be broken, after which nothing is read. */
static bool is_broken(struct binary *binary)
{
	binary->at = "";
	return false;
}

/* Moves to the next member or element. False: @close comes, or the text is broken. */
static bool part_next(struct binary *binary, char open, char close, bool *is_first)
{
	const char **at = &binary->at;

	if (!*is_first)
		return json_token_skip(at, ',');
	*is_first = false;
	return json_token_skip(at, open) ? **at != close : is_broken(binary);
}

/* Moves to the value of the next member. */
static bool member_next(struct binary *binary, bool *is_first, struct name *ret_name)
{
	if (!part_next(binary, '{', '}', is_first))
		return false;
	*ret_name = (struct name){ .at = binary->at + 1 };
	if (*binary->at != '"' || !json_string_skip(&binary->at))
		return is_broken(binary);
	ret_name->length = (size_t)(binary->at - ret_name->at) - 1;
	return json_token_skip(&binary->at, ':') || is_broken(binary);
}

static bool element_next(struct binary *binary, bool *is_first)
{
	return part_next(binary, '[', ']', is_first);
}

/* ---- values of any type ---- */

static void name_write(struct binary *binary, const struct name *name)
{
	const size_t begin = wire_part_begin(binary->bytes, 1);
	const char *at = name->at - 1;

	json_string_append(&at, binary->bytes);
	wire_part_end(binary->bytes, begin);
}

static bool struct_encode(struct binary *binary)
{
	bool is_first = true;
	struct name name;

	while (member_next(binary, &is_first, &name)) {
		const size_t entry = wire_part_begin(binary->bytes, 1);

		name_write(binary, &name);
		const size_t value = wire_part_begin(binary->bytes, 2);

		if (!value_encode(binary))
			return false;
		wire_part_end(binary->bytes, value);
		wire_part_end(binary->bytes, entry);
	}
	return json_token_skip(&binary->at, '}');
}

static bool list_encode(struct binary *binary)
{
	bool is_first = true;

	while (element_next(binary, &is_first)) {
		const size_t value = wire_part_begin(binary->bytes, 1);

		if (!value_encode(binary))
			return false;
		wire_part_end(binary->bytes, value);
	}
	return json_token_skip(&binary->at, ']');
}

static bool number_take(struct binary *binary, double *ret_number)
{
	const size_t length = json_word_length(binary->at);
	char *end;

	if (!length || strspn(binary->at, "-+.0123456789eE") < length)
		return false;
	*ret_number = strtod(binary->at, &end);
	if (end != binary->at + length)
		return false;
	binary->at = end;
	return true;
}

static bool kind_encode(struct binary *binary)
{
	struct text *bytes = binary->bytes;
	double number;
	size_t part;
	bool done;

	switch (*binary->at) {
	case '"':
		return string_encode(binary, 3);
	case '{':
	case '[':
		part = wire_part_begin(bytes, *binary->at == '{' ? 5 : 6);
		done = *binary->at == '{' ? struct_encode(binary) : list_encode(binary);
		wire_part_end(bytes, part);
		return done;
	case 'n':
		wire_varint_field_write(bytes, 1, 0);
		return word_take(binary, "null");
	case 't':
	case 'f':
		wire_varint_field_write(bytes, 4, *binary->at == 't');
		return word_take(binary, *binary->at == 't' ? "true" : "false");
	default:
		if (!number_take(binary, &number))
			return false;
		wire_double_field_write(bytes, 2, number);
		return true;
	}
}

/* google.protobuf.Value: null 1, number 2, string 3, bool 4, struct 5, list 6. */
static bool value_encode(struct binary *binary)
{
	bool done;

	if (binary->depth == DEPTH_MAX)
		return false;
	binary->depth++;
	done = kind_encode(binary);
	binary->depth--;
	return done;
}

/* ---- scalars ---- */

static bool double_take(struct binary *binary, double *ret_double)
{
	static const struct {
		const char *text;
		double value;
	} words[] = { { "\"NaN\"", NAN }, { "\"Infinity\"", INFINITY }, { "\"-Infinity\"", -INFINITY } };

	for (size_t i = 0; *binary->at == '"' && i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t length = strlen(words[i].text);

		if (strncmp(binary->at, words[i].text, length) != 0)
			continue;
		*ret_double = words[i].value;
		binary->at += length;
		return true;
	}
	return number_take(binary, ret_double);
}

static bool enum_take(struct binary *binary, const struct enum_type *type, uint64_t *ret_bits)
{
	const char *begin = binary->at + 1;
	char name[ENUM_NAME_BYTES];
	size_t length;
	int number;

	if (*binary->at != '"' || !json_string_skip(&binary->at))
		return false;
	length = (size_t)(binary->at - begin) - 1;
	if (length >= sizeof(name))
		return false;
	memcpy(name, begin, length);
	name[length] = '\0';
	if (!enum_number(type, name, &number))
		return false;
	*ret_bits = (uint64_t)(int64_t)number;
	return true;
}

/* Takes a whole number, which may be in quotes. */
static bool whole_take(struct binary *binary, uint64_t *ret_bits)
{
	const bool quoted = *binary->at == '"';
	const char *digits = binary->at + quoted;
	const size_t length = json_word_length(digits);
	char *end;

	*ret_bits = (uint64_t)strtoll(digits, &end, 10);
	if (!length || end != digits + length || (quoted && *end != '"'))
		return false;
	binary->at = end + quoted;
	return true;
}

static bool bool_take(struct binary *binary, uint64_t *ret_bits)
{
	*ret_bits = *binary->at == 't';
	return word_take(binary, "true") || word_take(binary, "false");
}

static bool varint_encode(struct binary *binary, const struct field *field, unsigned number)
{
	uint64_t bits;
	const bool done = field->type == FIELD_BOOL   ? bool_take(binary, &bits)
			  : field->type == FIELD_ENUM ? enum_take(binary, field->enum_type, &bits)
						      : whole_take(binary, &bits);

	if (done)
		wire_varint_field_write(binary->bytes, number, bits);
	return done;
}

/* Takes the current string, and appends it without its escapes. False: the value is not a string, or there is no
 * memory. */
static bool string_take(struct binary *binary, struct text *text)
{
	const bool done = json_string_append(&binary->at, text);

	binary->bytes->failed |= text->failed;
	return done && !text->failed;
}

static bool base64_encode(struct binary *binary, unsigned number)
{
	struct text base64 AUTO_TEXT = { .may_fail = true };
	size_t begin, length = 0;
	AUTO(string) char *data = NULL;
	bool done;

	if (!string_take(binary, &base64))
		return false;
	data = malloc(base64.length + 1);
	binary->bytes->failed |= !data;
	done = data && base64_decode(base64.data, base64.length, NULL, sodium_base64_VARIANT_ORIGINAL, data,
				     base64.length, &length);
	if (!done)
		return false;
	begin = wire_part_begin(binary->bytes, number);
	text_append(binary->bytes, data, length);
	wire_part_end(binary->bytes, begin);
	return true;
}

/* Types that are messages in binary form, but strings in JSON. */
static bool text_message_encode(struct binary *binary, enum field_type type, unsigned number)
{
	struct text text AUTO_TEXT = { .may_fail = true };
	size_t begin;
	bool done;

	if (!string_take(binary, &text))
		return false;
	begin = wire_part_begin(binary->bytes, number);
	done = type == FIELD_DURATION    ? wire_duration_write(text.data, binary->bytes)
	       : type == FIELD_TIMESTAMP ? wire_timestamp_write(text.data, binary->bytes)
					 : wire_mask_write(text.data, binary->bytes);
	wire_part_end(binary->bytes, begin);
	return done;
}

/* ---- google.protobuf.Any ---- */

static const struct message *any_find(const struct message *const *any, const char *type)
{
	const char *name = strrchr(type, '/');

	for (; any && *any && name; any++)
		if (strcmp((*any)->full_name, name + 1) == 0)
			return *any;
	return NULL;
}

static const char struct_url[] = "type.googleapis.com/google.protobuf.Struct";

/* The members of a google.protobuf.Any that are known before it is written. */
struct any {
	struct text url;   /* "": it has no "@type" */
	const char *value; /* the text of the member "value"; NULL: none */
	size_t members;
};

static bool any_member_look(struct binary *binary, const struct name *name, struct any *any)
{
	any->members++;
	if (name_is(name, "value"))
		any->value = binary->at;
	if (name_is(name, "@type") && *binary->at == '"' && !any->url.length)
		return string_take(binary, &any->url);
	return json_value_skip(&binary->at);
}

/* Collects the facts of an Any without moving binary->at. */
static bool any_look(struct binary *binary, struct any *any)
{
	const char *const object = binary->at;
	bool is_first = true, done = true;
	struct name name;

	while (done && member_next(binary, &is_first, &name))
		done = any_member_look(binary, &name, any);
	text_append(&any->url, "", 0);
	binary->at = object;
	return done && !any->url.failed;
}

static void url_write(struct binary *binary, const char *url)
{
	size_t begin;

	if (!*url)
		return;
	begin = wire_part_begin(binary->bytes, 1);
	text_puts(binary->bytes, url);
	wire_part_end(binary->bytes, begin);
}

/* Writes the value as @message, or as a Struct if that is NULL. Writes nothing for an empty value. */
static bool any_value_encode(struct binary *binary, const struct message *message)
{
	const size_t before = binary->bytes->length, begin = wire_part_begin(binary->bytes, 2);
	const bool done = message ? message_encode(binary, message) : struct_encode(binary);

	if (binary->bytes->length == begin)
		wire_part_drop(binary->bytes, before);
	else
		wire_part_end(binary->bytes, begin);
	return done;
}

/* Whether the only member besides "@type" is "value", and its value begins with @first. */
static bool any_is_value(const struct any *any, char first)
{
	return *any->url.data && any->members == 2 && any->value && *any->value == first;
}

/* type_url = 1, value = 2. Choice: an Any without a type, or with an unknown one, is written as a Struct of all its
 * members, "@type" included. With only its own type and no value, a reader would take it for an empty message. */
static bool any_members_encode(struct binary *binary, const struct any *any)
{
	const struct message *message = any_find(binary->any, any->url.data);
	const char *const object = binary->at;
	const size_t begin = binary->bytes->length;

	url_write(binary, any->url.data);
	if (message)
		return any_value_encode(binary, message);
	binary->at = any->value;
	if (any_is_value(any, '{') && strcmp(any->url.data, struct_url) == 0)
		return any_value_encode(binary, NULL);
	if (any_is_value(any, '"') && base64_encode(binary, 2)) /* as message_from_binary() reads it */
		return true;
	if (any->members == (*any->url.data != '\0'))
		return true;
	binary->at = object;
	wire_part_drop(binary->bytes, begin);
	url_write(binary, struct_url);
	return any_value_encode(binary, NULL);
}

static bool any_encode(struct binary *binary, unsigned number)
{
	const size_t begin = wire_part_begin(binary->bytes, number);
	const char *const object = binary->at;
	struct any any = { .url.may_fail = true };
	const bool done = any_look(binary, &any) && any_members_encode(binary, &any);

	text_deinit(&any.url);
	wire_part_end(binary->bytes, begin);
	binary->at = object;
	return json_value_skip(&binary->at) && done;
}

/* ---- fields ---- */

static bool part_encode(struct binary *binary, const struct field *field, unsigned number)
{
	const size_t begin = wire_part_begin(binary->bytes, number);
	const bool done = field->type == FIELD_VALUE    ? value_encode(binary)
			  : field->type == FIELD_STRUCT ? struct_encode(binary)
							: message_encode(binary, field->message);

	wire_part_end(binary->bytes, begin);
	return done;
}

/* Writes one value with field number @number; that is 1 inside a wrapper and 2 inside a map's entry. */
static bool scalar_encode(struct binary *binary, const struct field *field, unsigned number)
{
	double real;

	switch (field->type) {
	case FIELD_BOOL:
	case FIELD_INT32:
	case FIELD_INT64:
	case FIELD_ENUM:
		return varint_encode(binary, field, number);
	case FIELD_DOUBLE:
		if (!double_take(binary, &real))
			return false;
		wire_double_field_write(binary->bytes, number, real);
		return true;
	case FIELD_STRING:
		return *binary->at == '"' && string_encode(binary, number);
	case FIELD_BYTES:
		return base64_encode(binary, number);
	case FIELD_DURATION:
	case FIELD_TIMESTAMP:
	case FIELD_MASK:
		return text_message_encode(binary, field->type, number);
	case FIELD_STRUCT:
		if (field->flags & FIELD_ANY)
			return *binary->at == '{' && any_encode(binary, number);
		return part_encode(binary, field, number);
	case FIELD_VALUE:
	case FIELD_MESSAGE:
		return part_encode(binary, field, number);
	}
	return false;
}

static bool element_encode(struct binary *binary, const struct field *field)
{
	size_t begin;
	bool done;

	if (!(field->flags & FIELD_WRAPPED))
		return scalar_encode(binary, field, field->number);
	begin = wire_part_begin(binary->bytes, field->number);
	done = scalar_encode(binary, field, 1);
	wire_part_end(binary->bytes, begin);
	return done;
}

/* Repeated numbers are written one by one: every protobuf reader accepts them packed or not. */
static bool list_field_encode(struct binary *binary, const struct field *field)
{
	bool is_first = true;

	while (element_next(binary, &is_first))
		if (!element_encode(binary, field))
			return false;
	return json_token_skip(&binary->at, ']');
}

static bool map_field_encode(struct binary *binary, const struct field *field)
{
	bool is_first = true;
	struct name name;

	while (member_next(binary, &is_first, &name)) {
		const size_t entry = wire_part_begin(binary->bytes, field->number);

		name_write(binary, &name);
		if (!scalar_encode(binary, field, 2))
			return false;
		wire_part_end(binary->bytes, entry);
	}
	return json_token_skip(&binary->at, '}');
}

/* null means unset, except for a field that may hold any JSON value. */
static bool field_encode(struct binary *binary, const struct field *field)
{
	if (!field || !field->number)
		return json_value_skip(&binary->at);
	if (field->type != FIELD_VALUE && word_take(binary, "null"))
		return true;
	if (field->flags & FIELD_MAP)
		return map_field_encode(binary, field);
	if (field->flags & FIELD_REPEATED)
		return list_field_encode(binary, field);
	return element_encode(binary, field);
}

/* Answers have their members in the order of the table: the search continues after the last one found. */
static const struct field *field_after(const struct message *message, const struct field *last,
				       const struct name *name)
{
	const struct field *from = last ? last + 1 : message->fields;

	for (const struct field *field = from; field->name; field++)
		if (name_is(name, field->name))
			return field;
	for (const struct field *field = message->fields; field < from; field++)
		if (name_is(name, field->name))
			return field;
	return NULL;
}

static bool members_encode(struct binary *binary, const struct message *message)
{
	const struct field *last = NULL;
	bool is_first = true;
	struct name name;

	while (member_next(binary, &is_first, &name)) {
		const struct field *field = field_after(message, last, &name);

		if (field)
			last = field;
		if (field_encode(binary, field))
			continue;
		if (!binary->wrong && field)
			binary->wrong = field->name;
		return false;
	}
	return json_token_skip(&binary->at, '}');
}

static bool message_encode(struct binary *binary, const struct message *message)
{
	bool done;

	if (binary->depth == DEPTH_MAX)
		return false;
	binary->depth++;
	done = members_encode(binary, message);
	binary->depth--;
	return done;
}

enum status message_to_binary(const struct message *message, const char *json,
			      const struct message *const *any, struct text *bytes, struct error *err)
{
	struct binary binary = { .at = json, .bytes = bytes, .any = any };
	bool done;

	json_space_skip(&binary.at);
	done = message_encode(&binary, message) && !*binary.at;
	if (bytes->failed)
		return error_no_memory(err);
	if (binary.wrong)
		return error_set(err, STATUS_INTERNAL, NULL, "%s: the value of %s is of another type",
				 message->full_name, binary.wrong);
	return done ? STATUS_OK : error_set(err, STATUS_INTERNAL, NULL, "%s: the value is not a JSON object", message->full_name);
}
