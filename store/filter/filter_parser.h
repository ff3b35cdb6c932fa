/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_parser.h: what filter.c and filter_calls.c share of reading a filter.
 *
 * Functions give NULL or false once they have refused the filter: the parser's error says why. */
#include <stdbool.h>
#include <stddef.h>

#include "store/filter/filter.h"

struct parser {
	const char *text;
	const char *field; /* of the request, for errors */
	size_t at;
	struct filter *filter;
	unsigned depth, comparisons;
	const struct filter_node *subject; /* inside operand=(…): what the values are compared with */
	struct error *err;
};

/* Zeroed memory that lives as long as the filter. */
void *filter_allot(struct parser *parser, size_t size);
struct filter_node *filter_syntax_error(struct parser *parser);
void filter_space_skip(struct parser *parser);
/* Reads the value at hand into @node. */
struct filter_node *filter_value_read(struct parser *parser, struct filter_node *node);
/* Segments joined by dots, each a word or quoted. */
bool filter_path_read(struct parser *parser, struct filter_node *node);

/* Whether the name before a parenthesis, which is at hand, is that of a predicate; refuses what is no function. */
bool filter_is_predicate(struct parser *parser, const struct filter_node *node, bool *ret_predicate);
/* Reads a predicate from its parenthesis on into @node. */
struct filter_node *filter_predicate_read(struct parser *parser, struct filter_node *node);
/* Reads a field, or functions of one, into the path and the steps of @node. */
bool filter_operand_read(struct parser *parser, struct filter_node *node);
