/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/message/json_testing.h: JSON in C source, with single quotes in place of double ones. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/message_binary.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "tests/unit/testing.h"

/* The text with single quotes replaced by double ones; the caller frees. */
static inline char *quoted(const char *text)
{
	char *copy = strdup(text);

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	return copy;
}

static inline json_t *json_of(const char *text)
{
	AUTO(string) char *json = quoted(text);
	json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);

	if (!value)
		fail_msg("the test itself has bad JSON: %s", text);
	return value;
}

/* Compares values as text, so that the order of members counts. */
static inline void assert_json_text(const json_t *value, const char *expected)
{
	AUTO(string) char *text = json_dump_compact(value);
	AUTO(string) char *wanted = quoted(expected);

	assert_string_equal(text, wanted);
}

static inline enum status json_to_binary(const struct message *message, const json_t *value,
					 const struct message *const *any, struct text *bytes, struct error *err)
{
	AUTO(string) char *json = json_dump_compact(value);

	return message_to_binary(message, json, any, bytes, err);
}
