/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/fuzz/message_mutation.h: new inputs for the parsers of API messages, made by the tables of those messages:
 * bytes that are changed blindly seldom stay JSON, and hardly ever get another field of a message deep within.
 *
 * libFuzzer calls message_mutation.c, with which fuzz.mk links the targets that define @mutated. */
#include <stdbool.h>

struct message;

struct mutated {
	const struct message *const *messages; /* at least one; ends with NULL */
	/* Messages that a FIELD_STRUCT or FIELD_VALUE may contain; ends with NULL. NULL: unknown. */
	const struct message *const *inner;
	/* Inputs are a byte that chooses the message, modulo their number, and its binary form; otherwise JSON. */
	bool binary;
};

extern const struct mutated mutated;
