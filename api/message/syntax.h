/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/syntax.h: checks whether a text is JSON that the front end accepts, and locates the first error.
 *
 * The JSON library builds values; this scan reports errors with the texts and the positions of the front end, and
 * rewrites what the front end accepts although it is not JSON: keys without quotes, single quotes, a comma after the
 * last element, control characters and needless escapes in strings, a number that ends with its decimal point. Pure.
 * Thread: any.
 * Source:
 * https://github.com/protocolbuffers/protobuf/blob/v3.20.0/src/google/protobuf/util/internal/json_stream_parser.cc
 * (read 2026-11-25) */
#include <stdbool.h>
#include <stddef.h>

enum {
	SYNTAX_DEPTH_MAX = 100,
	SYNTAX_VALUES_MAX = 250000, /* because a value can take a hundred times the memory of its text */
};

struct syntax_fault {
	const char *text; /* constant */
	size_t at;        /* byte offset */
};

struct text;

/* True if @data is one value, nested at most SYNTAX_DEPTH_MAX deep, with at most SYNTAX_VALUES_MAX values in all;
 * otherwise sets *ret_fault. @standard, which must be empty, receives the value as standard JSON; it stays empty if
 * @data is standard JSON already. An allocation of @standard may have failed. */
bool syntax_check(const char *data, size_t length, struct text *standard, struct syntax_fault *ret_fault);
