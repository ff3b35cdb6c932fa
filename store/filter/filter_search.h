/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_search.h: SEARCH() of the Logging query language.
 *
 * Query and text are split into words at blanks and punctuation. The query matches if each of its words is a word of
 * one of the texts; the case of ASCII letters is ignored. A phrase between backticks must occur literally, from the
 * beginning of a word to the end of a word. In JSON the values are searched, not the names.
 * Source: https://cloud.google.com/logging/docs/view/logging-query-language#search-functions and BigQuery's
 * LOG_ANALYZER, https://cloud.google.com/bigquery/docs/reference/standard-sql/text-analysis (both from memory) */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct sqlite3_context;
struct sqlite3_value;

enum { SEARCH_TERMS_MAX = 64 };

/* Checks a query. INVALID_ARGUMENT: the query has no word, too many words, or an unmatched backtick. */
enum status filter_search_check(const char *query, struct error *err);

/* The SQL function search_text(query, is_json, text, …): 1 if the texts match, else 0. NULL texts contain nothing. */
void filter_search_text(struct sqlite3_context *context, int count, struct sqlite3_value **values);

/* The first occurrence of @needle in @text, ignoring the case of ASCII letters; NULL: none. Takes time linear in both
 * lengths. */
const char *text_find_folded(const char *text, size_t length, const char *needle, size_t needle_length);
