/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_parser.h: parsing functions that filter.c and filter_calls.c call in each other.
 *
 * A function returns NULL or false after it has refused the filter: the parser's error says why. */
#include <stdbool.h>
#include <stddef.h>

#include "store/filter/filter.h"

struct parser {
	const char *text;
	const char *field; /* the request's field, for errors */
	size_t at;
	struct filter *filter;
	unsigned depth, comparisons;
	const struct filter_node
		*subject; /* inside operand=(…): the operand before the parenthesis */
	struct error *err;
};

/* Allocates zeroed memory that lives as long as the filter. */
void *filter_allot(struct parser *parser, size_t size);
struct filter_node *filter_syntax_error(struct parser *parser);
void filter_space_skip(struct parser *parser);
/* Reads the value at the current position into @node. */
struct filter_node *filter_value_read(struct parser *parser, struct filter_node *node);
/* Reads a path: segments joined by dots, each a word or quoted. */
bool filter_path_read(struct parser *parser, struct filter_node *node);

/* Sets *ret_predicate if the name before the current parenthesis is a predicate's; refuses unknown functions. */
bool filter_is_predicate(struct parser *parser, const struct filter_node *node, bool *ret_predicate);
/* Reads a predicate into @node, from its opening parenthesis on. */
struct filter_node *filter_predicate_read(struct parser *parser, struct filter_node *node);
/* Reads a field, or functions of a field, into the path and the steps of @node. */
bool filter_operand_read(struct parser *parser, struct filter_node *node);
