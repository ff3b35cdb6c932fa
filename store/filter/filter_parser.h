/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_parser.h: shared by filter.c and filter_calls.c for parsing.
 *
 * Functions return NULL or false after they have refused the filter: the parser's error says why. */
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
		*subject; /* inside operand=(…): the operand that the values are compared with */
	struct error *err;
};

/* Zeroed memory that lives as long as the filter. */
void *filter_allot(struct parser *parser, size_t size);
struct filter_node *filter_syntax_error(struct parser *parser);
void filter_space_skip(struct parser *parser);
/* Reads the current value into @node. */
struct filter_node *filter_value_read(struct parser *parser, struct filter_node *node);
/* Segments joined by dots, each a word or quoted. */
bool filter_path_read(struct parser *parser, struct filter_node *node);

/* Whether the name before the current parenthesis is that of a predicate; refuses names that are not functions. */
bool filter_is_predicate(struct parser *parser, const struct filter_node *node, bool *ret_predicate);
/* Reads a predicate into @node, from its parenthesis on. */
struct filter_node *filter_predicate_read(struct parser *parser, struct filter_node *node);
/* Reads a field, or functions of a field, into the path and the steps of @node. */
bool filter_operand_read(struct parser *parser, struct filter_node *node);
