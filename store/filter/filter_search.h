/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_search.h: SEARCH() of the Logging query language.
 *
 * A query and a text are split into words at blanks and punctuation; the query is found when each of its words is a word of
 * one of the texts, ASCII letters in either case. Between backticks stand words with what is between them, which must be
 * found just so, from a word's begin to a word's end. In JSON the values are looked at, not the names.
 * Source: https://cloud.google.com/logging/docs/view/logging-query-language#search-functions and BigQuery's LOG_ANALYZER,
 * https://cloud.google.com/bigquery/docs/reference/standard-sql/text-analysis (both from memory) */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct sqlite3_context;
struct sqlite3_value;

enum { SEARCH_TERMS_MAX = 64 };

/* INVALID_ARGUMENT: no word, too many, or a backtick without its other. */
enum status filter_search_check(const char *query, struct error *err);

/* search_text(query, is_json, text, …): 1 or 0; texts that are NULL hold nothing. */
void filter_search_text(struct sqlite3_context *context, int count, struct sqlite3_value **values);

/* Where @needle begins in @text, ASCII letters in either case; NULL: nowhere. Its time is that of both lengths together. */
const char *text_find_folded(const char *text, size_t length, const char *needle, size_t needle_length);
