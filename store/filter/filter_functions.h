/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_functions.h: what filters need beyond SQLite's own functions.
 *
 *   has_text(text, needle)              1 when needle occurs in text; ASCII letters match in both cases
 *   like_wild(text, pattern, exact)     1 when the whole text fits, * standing for anything
 *   matches(text, regex)                1 when the regular expression is found in text
 *   json_test(type, value, op, literal) compares a JSON value by its own type; see filter_sql.c
 *   regexp_extract(text, regex)         what its first group matches, or all of it when it has none; NULL: it does not
 *   severity_name(number)               "ERROR"
 *   search_text(query, is_json, text…)  see filter_search.h
 *   ip_in_net, sampled, cast_value and time_text: see filter_values.h
 *
 * NULL in the first argument gives 0. */
#include "daemon/base/error.h"

struct sqlite3;

enum status filter_functions_register(struct sqlite3 *db, struct error *err);

/* Refuses what is no regular expression: INVALID_ARGUMENT with a text that says where. */
enum status filter_regex_check(const char *pattern, struct error *err);
