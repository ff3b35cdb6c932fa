/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/base64_stream.h: base64, undone piece by piece; line ends and spaces are passed over. Pure.
 * Source: RFC 2045 section 6.8 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: nothing has come. */
struct base64_stream {
	uint32_t bits;
	unsigned count; /* characters of the group under way, padding among them */
	unsigned padding;
};

/* Writes to @bytes: at most three quarters of @length and three bytes more. False when this is no base64. */
bool base64_stream_receive(struct base64_stream *stream, const char *data, size_t length, char *bytes,
			   size_t *ret_count);
/* The last group is complete. */
bool base64_stream_finished(const struct base64_stream *stream);
