/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter.h: the language in which clients say which jobs or log entries they want.
 *
 *   expression = factor { [ "AND" ] factor }          side by side means AND
 *   factor     = term { "OR" term }                   OR binds tighter than AND
 *   term       = { "NOT" | "-" } ( "(" expression ")" | restriction )
 *   restriction= path operator value | path operator "(" expression of values ")"
 *              | "log_id" "(" value ")" | value       a value alone is looked for everywhere
 *   operator   = "=" "!=" ">" ">=" "<" "<=" ":" "=~" "!~"
 *
 * Values are bare words or quoted with " or '; segments of a path may be quoted; "--" starts a comment.
 * Pure: text in, tree out; bounded in length, depth and number of comparisons. Thread: any.
 * Source: https://google.aip.dev/160 and
 * https://cloud.google.com/logging/docs/view/logging-query-language (from memory, not re-read) */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

enum { FILTER_LENGTH_MAX = 20000, FILTER_DEPTH_MAX = 100, FILTER_COMPARISONS_MAX = 2000 };

enum filter_kind {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,     /* of its one child */
	FILTER_COMPARE, /* path operator value */
	FILTER_SEARCH,  /* value anywhere */
	FILTER_LOG_ID,  /* log_id("value") */
};

enum filter_operator { OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE, OP_HAS, OP_MATCH, OP_NO_MATCH };

struct filter_node {
	enum filter_kind kind;
	enum filter_operator operator;
	bool quoted;       /* the value was: a * in it is a star */
	size_t position;   /* in the text, from 0 */
	const char **path; /* segments, FILTER_COMPARE */
	size_t path_length;
	const char *value;
	struct filter_node *child, *next; /* children of AND, OR (two or more), NOT (one) */
	size_t child_count;
};

struct filter {
	struct filter_node *root; /* NULL: the filter is empty and wants everything */
	struct filter_chunk *memory;
};

/* INVALID_ARGUMENT with a text that says where and what; @field is the request's field for it, or NULL.
 * @text may be NULL. An AND never has an AND for a child, nor an OR an OR. */
enum status filter_parse(const char *text, const char *field, struct filter *ret_filter, struct error *err);
/* Refuses the filter because of what stands at @position. Returns INVALID_ARGUMENT. */
enum status filter_refuse(const char *text, const char *field, size_t position, struct error *err,
			  const char *format, ...) __attribute__((format(printf, 5, 6)));
void filter_deinit(struct filter *filter);
#define AUTO_FILTER __attribute__((cleanup(filter_deinit)))
