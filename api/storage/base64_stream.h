/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/base64_stream.h: decodes base64 piece by piece; line ends and spaces are ignored. Pure.
 * Source: RFC 2045 section 6.8 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be zeroed before use. */
struct base64_stream {
	uint32_t bits;
	unsigned count; /* characters of the current group, including padding */
	unsigned padding;
};

/* Decodes to @bytes, which needs room for three quarters of @length, plus three bytes. False: the data is not
 * base64. */
bool base64_stream_receive(struct base64_stream *stream, const char *data, size_t length, char *bytes,
			   size_t *ret_count);
/* True if the last group is complete. */
bool base64_stream_finished(const struct base64_stream *stream);
