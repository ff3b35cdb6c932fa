/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/support/event_writing.h: event files as TensorFlow's record writer makes them, for tests. */
#include <isa-l/crc.h>
#include <stdint.h>
#include <string.h>

#include "daemon/base/text.h"

static inline void fixed_write(struct text *text, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_putc(text, (char)(number >> 8 * i));
}

static inline void masked_crc_write(struct text *text, const void *data, size_t length)
{
	const uint32_t crc = ~crc32_iscsi((unsigned char *)(uintptr_t)data, (int)length, UINT32_MAX);

	fixed_write(text, (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8u), 4);
}

static inline void record_write(struct text *text, const void *data, size_t length)
{
	struct text header AUTO_TEXT = { 0 };

	fixed_write(&header, length, 8);
	masked_crc_write(&header, header.data, header.length);
	text_append(text, header.data, header.length);
	text_append(text, data, length);
	masked_crc_write(text, data, length);
}

/* The record that begins an event file. */
static inline void version_write(struct text *text)
{
	static const char version[] = "\x09\x00\x00\x10\x40\xfc\x54\xd9\x41\x1a\x0d"
				      "brain.Event:2";

	record_write(text, version, sizeof(version) - 1);
}

/* ---- protobuf ---- */

static inline void varint_write(struct text *text, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		text_putc(text, (char)(number | 0x80));
	text_putc(text, (char)number);
}

static inline void number_write(struct text *text, unsigned field, uint64_t number)
{
	varint_write(text, field << 3);
	varint_write(text, number);
}

static inline void bytes_write(struct text *text, unsigned field, const void *data, size_t length)
{
	varint_write(text, field << 3 | 2);
	varint_write(text, length);
	text_append(text, data, length);
}

static inline void message_write(struct text *text, unsigned field, const struct text *message)
{
	bytes_write(text, field, message->data ? message->data : "", message->length);
}

static inline void float_write(struct text *text, unsigned field, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	varint_write(text, field << 3 | 5);
	fixed_write(text, bits, 4);
}

static inline void double_write(struct text *text, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	varint_write(text, field << 3 | 1);
	fixed_write(text, bits, 8);
}

/* An event with one summary, which holds @values, as a record. */
static inline void event_write(struct text *text, double time_s, int64_t step, const struct text *values)
{
	struct text event AUTO_TEXT = { 0 };

	double_write(&event, 1, time_s);
	number_write(&event, 2, (uint64_t)step);
	message_write(&event, 5, values);
	record_write(text, event.data, event.length);
}

/* A value of a summary: @rest follows its tag. */
static inline void value_write(struct text *values, const char *tag, const struct text *rest)
{
	struct text value AUTO_TEXT = { 0 };

	bytes_write(&value, 1, tag, strlen(tag));
	text_append(&value, rest->data, rest->length);
	message_write(values, 1, &value);
}

/* An event with one simple value, as a record. */
static inline void scalar_event_write(struct text *text, double time_s, int64_t step, const char *tag,
				      float number)
{
	struct text rest AUTO_TEXT = { 0 }, values AUTO_TEXT = { 0 };

	float_write(&rest, 2, number);
	value_write(&values, tag, &rest);
	event_write(text, time_s, step, &values);
}
