/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/json.h: the little that jansson leaves to its users. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

DEFINE_AUTO(json, json_t *, json_decref)

/* The string at @key, or NULL when absent or no string. Borrowed. */
const char *json_text_at(const json_t *object, const char *key);
/* The integer at @key: a JSON integer or a string of one (protobuf's int64); @otherwise if neither. */
int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise);
bool json_true_at(const json_t *object, const char *key);
/* The duration at @key ("3.5s") in microseconds; @otherwise when absent or none. */
int64_t json_duration_at(const json_t *object, const char *key, int64_t otherwise);
/* json_loadb() of JSON that others wrote: it takes what jansson refuses and other readers take as well. A whole number
 * beyond 64 bits is a double, one beyond those the text "Infinity" or "-Infinity" (protobuf's JSON); in strings NUL, half of a
 * surrogate pair and bytes that are no UTF-8 are U+FFFD. It is read twice at most; how deep it may be is the caller's to bound. */
json_t *json_parse_foreign(const char *text, size_t length, size_t flags, json_error_t *ret_problem);
/* Whether a double holds the number that @text (a JSON number, not terminated) is. */
bool json_number_is_finite(const char *text, size_t length);
/* Parses text that we wrote ourselves (the store's columns): failure is INTERNAL. */
enum status json_parse_own(const char *text, json_t **ret_value, struct error *err);
/* Appends compact text: members in insertion order, each double in the fewest digits that read back
 * as the same double (0.1, not 0.10000000000000001). */
void json_write(struct text *text, const json_t *value);
/* The same as a string; NULL of NULL. The caller frees. */
char *json_dump_compact(const json_t *value);
