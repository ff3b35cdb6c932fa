/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/binary_writer.h"

#include <stdlib.h>
#include <string.h>

#include "api/message/names.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"

static void varint_write(struct text *bytes, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		text_putc(bytes, (char)(value | 0x80));
	text_putc(bytes, (char)value);
}

void wire_key_write(struct text *bytes, unsigned number, enum wire_type type)
{
	varint_write(bytes, (uint64_t)number << 3 | type);
}

/* Leaves one byte for the length, as most parts are short. wire_part_end() moves the part if it needs more. */
size_t wire_part_begin(struct text *bytes, unsigned number)
{
	wire_key_write(bytes, number, WIRE_BYTES);
	text_putc(bytes, 0);
	return bytes->length;
}

void wire_part_end(struct text *bytes, size_t begin)
{
	size_t length = bytes->length - begin, more = 0;
	char *at;

	for (size_t rest = length >> 7; rest; rest >>= 7)
		more++;
	for (size_t i = 0; i < more; i++)
		text_putc(bytes, 0);
	if (bytes->failed)
		return;
	at = bytes->data + begin - 1;
	memmove(at + 1 + more, at + 1, length);
	for (; length > 0x7f; length >>= 7)
		*at++ = (char)(length | 0x80);
	*at = (char)length;
}

void wire_part_drop(struct text *bytes, size_t length)
{
	if (!bytes->failed)
		bytes->length = length;
}

void wire_varint_field_write(struct text *bytes, unsigned number, uint64_t value)
{
	wire_key_write(bytes, number, WIRE_VARINT);
	varint_write(bytes, value);
}

void wire_double_field_write(struct text *bytes, unsigned number, double value)
{
	uint64_t bits;

	wire_key_write(bytes, number, WIRE_64_BITS);
	memcpy(&bits, &value, sizeof(bits));
	for (unsigned i = 0; i < 8; i++)
		text_putc(bytes, (char)(bits >> 8 * i));
}

/* Writes a Duration or a Timestamp: field 1 has the seconds, field 2 the nanoseconds; zeros are left out. */
static void instant_write(struct text *bytes, int64_t seconds, int64_t nanos)
{
	if (seconds)
		wire_varint_field_write(bytes, 1, (uint64_t)seconds);
	if (nanos)
		wire_varint_field_write(bytes, 2, (uint64_t)nanos);
}

/* In "-3.5s" the seconds are -3, and the nanoseconds are negative, too. */
bool wire_duration_write(const char *text, struct text *bytes)
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

bool wire_timestamp_write(const char *text, struct text *bytes)
{
	int64_t wall_ns, seconds;

	if (!time_parse_strict(text, &wall_ns))
		return false;
	seconds = wall_ns / 1000000000 - (wall_ns % 1000000000 < 0);
	instant_write(bytes, seconds, wall_ns - seconds * 1000000000);
	return true;
}

/* Writes each path of the mask as a string of its own, in snake_case. */
bool wire_mask_write(const char *text, struct text *bytes)
{
	size_t begin;

	while (*text) {
		const size_t length = strcspn(text, ",");
		AUTO(string) char *camel = memory_strndup(text, length);
		AUTO(string) char *snake = name_to_snake(camel);

		begin = wire_part_begin(bytes, 1);
		text_puts(bytes, snake);
		wire_part_end(bytes, begin);
		text += length + (text[length] == ',');
	}
	return true;
}
