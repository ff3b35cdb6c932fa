/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_functions.h: SQL functions for filters, beyond SQLite's own.
 *
 *   has_text(text, needle)              1 if needle occurs in text; the case of ASCII letters is ignored
 *   like_wild(text, pattern, exact)     1 if the whole text matches, * standing for anything
 *   matches(text, regex)                1 if the regular expression is found in text
 *   json_test(type, value, op, literal) compares a JSON value by its own type; see filter_sql.c
 *   regexp_extract(text, regex)         the match of its first group, or the whole match without a group; NULL: none
 *   severity_name(number)               "ERROR"
 *   search_text(query, is_json, text…)  see filter_search.h
 *   ip_in_net, sampled, cast_value and time_text: see filter_values.h
 *
 * NULL in the first argument gives 0. */
#include "daemon/base/error.h"

struct sqlite3;

enum status filter_functions_register(struct sqlite3 *db, struct error *err);

/* Checks a regular expression. INVALID_ARGUMENT: not a regular expression; the error's text says at which
 * position. */
enum status filter_regex_check(const char *pattern, struct error *err);
