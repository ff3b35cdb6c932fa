/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/syntax.h: is this JSON, and if not, where does it stop being it?
 *
 * The JSON library builds values; this scan only names the fault, in the front end's words and at the
 * front end's place. Pure. Thread: any. */
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

/* True when @data is one JSON value nested at most SYNTAX_DEPTH_MAX deep, and of at most
 * SYNTAX_VALUES_MAX values in all; otherwise fills *ret_fault. */
bool syntax_check(const char *data, size_t length, struct syntax_fault *ret_fault);
