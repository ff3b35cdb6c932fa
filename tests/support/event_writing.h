/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/support/event_writing.h: event files as TensorFlow's record writer makes them, for tests. */
#include <isa-l/crc.h>
#include <stdint.h>

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
