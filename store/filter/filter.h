/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter.h: the filter language for lists of jobs and log entries.
 *
 *   expression = factor { [ "AND" ] factor }          juxtaposition means AND
 *   factor     = term { "OR" term }                   OR binds tighter than AND
 *   term       = { "NOT" | "-" } ( "(" expression ")" | restriction )
 *   restriction= operand operator value | operand operator "(" expression of values ")"
 *              | predicate | value                    a value alone is searched for everywhere
 *   operand    = path | "cast" "(" operand "," type [ "," "TIMEZONE" "(" value ")" ] ")"
 *              | "regexp_extract" "(" operand "," value ")"
 *   predicate  = "log_id" "(" value ")" | "source" "(" value ")" | "search" "(" [ operand "," ] value ")"
 *              | "ip_in_net" "(" operand "," value ")" | "sample" "(" operand "," value ")"
 *   operator   = "=" "!=" ">" ">=" "<" "<=" ":" "=~" "!~"
 *
 * Values are bare words or quoted with " or '; segments of a path may be quoted; "--" starts a comment. Names of
 * functions and types are written in either case.
 * Pure: text in, tree out; bounded in length, depth and number of comparisons. Thread: any.
 * Source: https://google.aip.dev/160 and
 * https://cloud.google.com/logging/docs/view/logging-query-language (from memory, not re-read) */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

enum {
	FILTER_LENGTH_MAX = 20000,
	FILTER_DEPTH_MAX = 100,
	FILTER_COMPARISONS_MAX = 2000,
	FILTER_STEPS_MAX = 8
};

enum filter_kind {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,     /* negates its one child */
	FILTER_COMPARE, /* path operator value */
	FILTER_SEARCH,  /* value anywhere */
	FILTER_CALL,    /* a predicate: has function, path, steps and value */
};

enum filter_function {
	FUNCTION_LOG_ID,
	FUNCTION_SOURCE,
	FUNCTION_SEARCH, /* without a path: searches the whole entry */
	FUNCTION_IP_IN_NET,
	FUNCTION_SAMPLE,
	FUNCTION_CAST, /* this one and all below have an operand */
	FUNCTION_EXTRACT,
	FUNCTION_COUNT
};

enum filter_type { TYPE_STRING, TYPE_INT64, TYPE_FLOAT64, TYPE_BOOL, TYPE_TIMESTAMP, TYPE_DURATION };

/* A function that is applied to a field's value before the comparison; the first step is applied first. */
struct filter_step {
	enum filter_function function;
	enum filter_type type; /* FUNCTION_CAST */
	const char
		*text; /* FUNCTION_EXTRACT: the regular expression; FUNCTION_CAST: the time zone, or NULL */
	size_t position;
	struct filter_step *next;
};

enum filter_operator { OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE, OP_HAS, OP_MATCH, OP_NO_MATCH };

struct filter_node {
	enum filter_kind kind;
	enum filter_operator operator;
	enum filter_function function; /* FILTER_CALL */
	bool quoted;                   /* the value was quoted: a * in it is literal */
	size_t position;               /* in the text, from 0 */
	const char **path;             /* segments: FILTER_COMPARE, FILTER_CALL */
	size_t path_length;
	struct filter_step *steps;
	const char *value;
	struct filter_node *child, *next; /* children of AND, OR (two or more), NOT (one) */
	size_t child_count;
};

struct filter {
	struct filter_node *root; /* NULL: the filter is empty and matches everything */
	struct filter_chunk *memory;
};

/* Parses a filter. INVALID_ARGUMENT: the error says which part of the text is wrong, and names @field, the
 * request's field with the filter (may be NULL). @text may be NULL. In the tree, no child of an AND is an AND, and
 * no child of an OR is an OR. */
enum status filter_parse(const char *text, const char *field, struct filter *ret_filter, struct error *err);
/* Refuses the filter because of the text at @position. Returns INVALID_ARGUMENT. */
enum status filter_refuse(const char *text, const char *field, size_t position, struct error *err,
			  const char *format, ...) __attribute__((format(printf, 5, 6)));
void filter_deinit(struct filter *filter);
#define AUTO_FILTER __attribute__((cleanup(filter_deinit)))
