/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/syntax.h: is this JSON as the front end takes it, and if not, where does it stop being it?
 *
 * The JSON library builds values; this scan names the fault, in the front end's words and at the front end's place, and
 * writes anew what that takes and JSON does not have: keys without quotes, quotes that are single, a comma behind the
 * last element, control characters and needless escapes in strings, a number that ends with its point. Pure. Thread: any.
 * Source: https://github.com/protocolbuffers/protobuf/blob/v3.20.0/src/google/protobuf/util/internal/json_stream_parser.cc
 * (read 2026-11-25) */
#include <stdbool.h>
#include <stddef.h>

enum {
	SYNTAX_DEPTH_MAX = 100,
	SYNTAX_VALUES_MAX = 250000, /* a value takes up to a hundred times its text in memory */
};

struct syntax_fault {
	const char *text; /* constant */
	size_t at;        /* byte offset */
};

struct text;

/* True when @data is one value nested at most SYNTAX_DEPTH_MAX deep, and of at most SYNTAX_VALUES_MAX values in all;
 * otherwise fills *ret_fault. @standard, which is empty, gets the same value as JSON has it, and stays empty where @data
 * is that already; it may have failed. */
bool syntax_check(const char *data, size_t length, struct text *standard, struct syntax_fault *ret_fault);
