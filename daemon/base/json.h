/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/json.h: additions to jansson. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

DEFINE_AUTO(json, json_t *, json_decref)

/* Returns the string at @key, borrowed; NULL: it is absent, or not a string. */
const char *json_text_at(const json_t *object, const char *key);
/* Returns the integer at @key: a JSON integer, or a string that contains one (protobuf's int64); otherwise @otherwise. */
int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise);
bool json_true_at(const json_t *object, const char *key);
/* Returns the duration at @key ("3.5s") in microseconds; @otherwise if it is absent or malformed. */
int64_t json_duration_at(const json_t *object, const char *key, int64_t otherwise);
/* json_loadb() for JSON from outside: accepts what other parsers accept and jansson refuses. A whole number beyond 64
 * bits becomes a double, and beyond the range of doubles the text "Infinity" or "-Infinity" (protobuf's JSON); NULs,
 * unpaired surrogates and invalid UTF-8 in strings become U+FFFD. Reads the text at most twice; the caller must limit
 * its depth. */
json_t *json_parse_foreign(const char *text, size_t length, size_t flags, json_error_t *ret_problem);
/* Returns true if the number @text (JSON, not NUL-terminated) is in the range of a double. */
bool json_number_is_finite(const char *text, size_t length);
/* Changes the numbers in @value, an object or array, to those of google.protobuf.Struct, which are doubles: a whole number
 * that a double may not hold becomes the nearest double, and a double without a fraction a whole number, as protobuf's
 * JSON writes it. Recurses as deep as @value is. */
void json_struct_numbers(json_t *value);
/* Parses text written by trainyard itself (the store's columns): failure is INTERNAL. */
enum status json_parse_own(const char *text, json_t **ret_value, struct error *err);
/* Appends compact text: members in insertion order, each double in the fewest digits that read back
 * as the same double (0.1, not 0.10000000000000001). */
void json_write(struct text *text, const json_t *value);
/* Like json_write(), but returns a string, which the caller frees; NULL if @value is NULL. */
char *json_dump_compact(const json_t *value);
