/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/message_mutation.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/message.h"
#include "api/message/message_binary.h"
#include "api/message/names.h"
#include "daemon/base/json.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
				 uint8_t *ret_data, size_t size_max, unsigned seed);
/* libFuzzer's own function: uses its dictionary and comparisons of earlier runs. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);

enum { DEPTH_MAX = 6, STRING_MAX = 80 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t state;

/* A random number below @below; 0 if that is 0. */
static size_t draw(size_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return below ? (size_t)(state >> 33) % below : 0;
}

/* Similar seeds must not give similar sequences. */
static void state_begin(unsigned seed)
{
	state = seed;
	for (size_t at = 0; at < 4; at++)
		draw(2);
}

static const struct message *message_draw(const struct message *const *messages)
{
	size_t count = 0;

	while (messages && messages[count])
		count++;
	return count ? messages[draw(count)] : NULL;
}

/* Sample values by type; types without any use those of strings. */
static const char *const samples[][12] = {
	[FIELD_STRING] = { "", "a", "us-central1", "gs://bucket/object", "gcr.io/p/i:1", "n1-standard-4",
			   "a=$(b)", "projects/p/locations/us-central1", "projects/1/global/networks/n",
			   "2.11", "3.7" },
	[FIELD_INT32] = { "0", "1", "-1", "2", "100", "2147483647", "-2147483648", "1e3" },
	[FIELD_INT64] = { "0", "1", "-1", "2", "100", "9223372036854775807", "-9223372036854775808" },
	[FIELD_DOUBLE] = { "0.5", "1e-9", "-1", "1e308", "NaN", "Infinity", "-Infinity" },
	[FIELD_BYTES] = { "AA==", "_-8", "YWJjZGVm" },
	[FIELD_DURATION] = { "0s", "1s", "3600s", "0.5s", "604800s", "-1s", "1.000000001s", "315576000000s" },
	[FIELD_TIMESTAMP] = { "2026-11-20T21:29:51Z", "1970-01-01T00:00:00.5Z", "9999-12-31T23:59:59+01:00" },
	[FIELD_MASK] = { "labels", "labels,etag", "*", "displayName,jobSpec.baseOutputDirectory" },
};

static const char *sample_draw(enum field_type type)
{
	const char *const *row = samples[type < COUNT(samples) && *samples[type] ? type : FIELD_STRING];
	size_t count = 0;

	while (count < COUNT(samples[0]) && row[count])
		count++;
	return row[draw(count)];
}

/* Every third time unchanged, otherwise as libFuzzer changes it. */
static json_t *string_make(const char *sample)
{
	uint8_t changed[STRING_MAX];
	size_t length = strnlen(sample, sizeof(changed) - 1);
	json_t *string = NULL;

	if (draw(3)) {
		memcpy(changed, sample, length);
		length = LLVMFuzzerMutate(changed, length, sizeof(changed));
		string = json_stringn((const char *)changed, length);
	}
	return string ? string : json_string(sample);
}

static json_t *number_make(void)
{
	static const double doubles[] = { 0, 1, 0.5, -1, 1e-9, 1e300, 3, 100 };
	static const json_int_t integers[] = { 0,   1,         -1,        2,         3,        10,
					       100, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };

	return draw(2) ? json_integer(integers[draw(COUNT(integers))])
		       : json_real(doubles[draw(COUNT(doubles))]);
}

static json_t *enum_make(const struct enum_type *type)
{
	size_t count = 0;

	while (type->values[count].name)
		count++;
	count = draw(count);
	return draw(8) ? json_string(type->values[count].name) : json_integer(type->values[count].number);
}

static json_t *message_make(const struct message *message, unsigned depth);

static json_t *value_make(const struct field *field, unsigned depth)
{
	const struct message *inner;

	switch (field->type) {
	case FIELD_BOOL:
		return json_boolean(draw(2));
	case FIELD_ENUM:
		return enum_make(field->enum_type);
	case FIELD_MESSAGE:
		return message_make(field->message, depth + 1);
	case FIELD_STRUCT:
	case FIELD_VALUE:
		inner = message_draw(mutated.inner);
		return inner ? message_make(inner, depth + 1) : json_pack("{s:i}", "a", (int)draw(9));
	case FIELD_INT32:
	case FIELD_INT64:
	case FIELD_DOUBLE:
		if (draw(2))
			return number_make();
		break;
	default:
		break;
	}
	return string_make(sample_draw(field->type));
}

static json_t *field_make(const struct field *field, unsigned depth)
{
	json_t *many;

	if (!(field->flags & (FIELD_REPEATED | FIELD_MAP)))
		return value_make(field, depth);
	many = field->flags & FIELD_MAP ? json_object() : json_array();
	for (size_t left = draw(4); left; left--) {
		json_t *value = value_make(field, depth);

		if (field->flags & FIELD_MAP)
			json_object_set_new(many, (const char *const[]){ "a", "b", "k-1" }[left - 1], value);
		else
			json_array_append_new(many, value);
	}
	return many;
}

static void field_set(const struct message *message, json_t *object, unsigned depth)
{
	const size_t count = field_count(message);
	const struct field *field = count ? &message->fields[draw(count)] : NULL;
	AUTO(string) char *snake = NULL;

	if (!field)
		return;
	if (draw(16) == 0)
		snake = name_to_snake(field->name);
	json_object_set_new(object, snake ? snake : field->name, field_make(field, depth));
}

static json_t *message_make(const struct message *message, unsigned depth)
{
	json_t *object = json_object();

	for (size_t left = depth < DEPTH_MAX ? draw(5) : 0; left; left--)
		field_set(message, object, depth);
	return object;
}

/* A random key; NULL: there is none. */
static const char *key_draw(json_t *object)
{
	const size_t count = json_object_size(object);
	void *member = json_object_iter(object);

	for (size_t at = count ? draw(count) : 0; at; at--)
		member = json_object_iter_next(object, member);
	return json_object_iter_key(member);
}

static void list_change(const struct field *field, json_t *list, unsigned depth)
{
	const size_t count = json_array_size(list);

	if (count && draw(3) == 0)
		json_array_remove(list, draw(count));
	else if (count && draw(2))
		json_array_append_new(list, json_deep_copy(json_array_get(list, draw(count))));
	else
		json_array_append_new(list, value_make(field, depth));
}

static void message_change(const struct message *message, json_t *object, unsigned depth);

/* Returns another value in place of @value, or changes a part of it. */
static json_t *value_change(const struct field *field, json_t *value, unsigned depth)
{
	const struct message *inner =
		field->type == FIELD_MESSAGE ? field->message : message_draw(mutated.inner);

	if (json_is_array(value) && json_array_size(value) && draw(2)) {
		const size_t at = draw(json_array_size(value));

		json_array_set_new(value, at, value_change(field, json_array_get(value, at), depth));
	} else if (json_is_array(value)) {
		list_change(field, value, depth);
	} else if (json_is_object(value) && inner && !(field->flags & FIELD_MAP)) {
		message_change(inner, value, depth + 1);
	} else if (json_is_string(value) && draw(4)) {
		return string_make(json_string_value(value));
	} else {
		return draw(16) ? field_make(field, depth) : number_make();
	}
	return json_incref(value);
}

static void message_change(const struct message *message, json_t *object, unsigned depth)
{
	const char *key = key_draw(object);
	const struct field *field = key ? field_find(message, key) : NULL;

	if (!field || draw(4) == 0)
		field_set(message, object, depth);
	else if (draw(6) == 0)
		json_object_del(object, key);
	else
		json_object_set_new(object, key, value_change(field, json_object_get(object, key), depth));
}

static json_t *input_read(const struct message *message, const uint8_t *data, size_t size)
{
	json_t *value = NULL;

	if (!mutated.binary)
		message_parse_body((const char *)data, size, &value, NULL);
	else if (size)
		message_from_binary(message, data + 1, size - 1, "", &value, NULL);
	return value;
}

static bool input_write(const struct message *message, const json_t *value, struct text *text)
{
	AUTO(json) json_t *canonical = NULL;
	AUTO(string) char *json = NULL;

	if (!mutated.binary) {
		json_write(text, value);
		return !text->failed;
	}
	if (message_read(message, value, "", &canonical, NULL))
		return false;
	json = json_dump_compact(canonical);
	return message_to_binary(message, json, NULL, text, NULL) == STATUS_OK && !text->failed;
}

/* The message that @data has, or is to have. */
static const struct message *input_message(const uint8_t *data, size_t size)
{
	size_t count = 1;

	while (mutated.messages[count])
		count++;
	return mutated.messages[!mutated.binary ? draw(count) : size ? data[0] % count : 0];
}

/* Writes the input; 0: it is invalid or too long. */
static size_t input_give(const struct message *message, const json_t *value, uint8_t *data, size_t size_max)
{
	struct text text AUTO_TEXT = { 0 };
	const size_t head = mutated.binary;

	if (!input_write(message, value, &text) || text.length + head > size_max)
		return 0;
	if (text.length)
		memcpy(data + head, text.data, text.length);
	return text.length + head;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
	const struct message *message;
	AUTO(json) json_t *value = NULL;
	size_t length = 0;

	state_begin(seed);
	message = input_message(data, size);
	if (draw(3))
		value = input_read(message, data, size);
	if (!value && draw(16) == 0)
		value = message_make(message, 0);
	if (value) {
		for (size_t left = 1 + draw(3); left; left--)
			message_change(message, value, 0);
		length = input_give(message, value, data, size_max);
	}
	return length ? length : LLVMFuzzerMutate(data, size, size_max);
}

/* Puts a member of one input at the same place in the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
				 uint8_t *ret_data, size_t size_max, unsigned seed)
{
	AUTO(json) json_t *value = NULL;
	AUTO(json) json_t *other = NULL;
	const struct message *message;
	json_t *to, *from, *member;
	const char *key;

	state_begin(seed);
	message = input_message(data1, size1);
	value = to = input_read(message, data1, size1);
	other = from = input_read(message, data2, size2);
	while ((key = key_draw(from))) {
		member = json_object_get(from, key);
		if (!json_is_object(member) || !json_is_object(json_object_get(to, key)) || draw(4) == 0)
			break;
		to = json_object_get(to, key);
		from = member;
	}
	if (!to || !key)
		return 0;
	json_object_set(to, key, member);
	if (mutated.binary && size_max)
		ret_data[0] = size1 ? data1[0] : 0;
	return input_give(message, value, ret_data, size_max);
}
