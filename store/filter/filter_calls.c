/* SPDX-License-Identifier: Apache-2.0 */
/* store/filter/filter_calls.c: the functions of the Logging query language, read from a filter.
 * Source: https://cloud.google.com/logging/docs/view/logging-query-language#functions (from memory), and the examples of
 * github.com/google/skills, cloud-logging-query-generation (read 2026-11-25) */
#include <string.h>
#include <strings.h>

#include "store/filter/filter_parser.h"

static const char *const functions[FUNCTION_COUNT] = {
	[FUNCTION_LOG_ID] = "log_id",          [FUNCTION_SOURCE] = "source", [FUNCTION_SEARCH] = "search",
	[FUNCTION_IP_IN_NET] = "ip_in_net",    [FUNCTION_SAMPLE] = "sample", [FUNCTION_CAST] = "cast",
	[FUNCTION_EXTRACT] = "regexp_extract",
};

static const struct {
	const char *name;
	enum filter_type type;
} types[] = {
	{ "STRING", TYPE_STRING },       { "INT64", TYPE_INT64 },       { "INTEGER", TYPE_INT64 },
	{ "FLOAT64", TYPE_FLOAT64 },     { "DOUBLE", TYPE_FLOAT64 },    { "BOOL", TYPE_BOOL },
	{ "TIMESTAMP", TYPE_TIMESTAMP }, { "DURATION", TYPE_DURATION },
};

#define REFUSE(parser, position, ...)                                                                        \
	filter_refuse((parser)->text, (parser)->field, position, (parser)->err, __VA_ARGS__)

static bool function_find(struct parser *parser, const struct filter_node *node, size_t position,
			  enum filter_function *ret_function)
{
	for (unsigned i = 0; i < FUNCTION_COUNT; i++) {
		if (strcasecmp(functions[i], node->path[0]) != 0)
			continue;
		*ret_function = (enum filter_function)i;
		return true;
	}
	REFUSE(parser, position, "no function '%.64s'", node->path[0]);
	return false;
}

bool filter_is_predicate(struct parser *parser, const struct filter_node *node, bool *ret_predicate)
{
	enum filter_function function;

	if (!function_find(parser, node, node->position, &function))
		return false;
	*ret_predicate = function < FUNCTION_CAST;
	return true;
}

static bool sign_read(struct parser *parser, char sign)
{
	filter_space_skip(parser);
	if (parser->text[parser->at] != sign) {
		filter_syntax_error(parser);
		return false;
	}
	parser->at++;
	filter_space_skip(parser);
	return true;
}

/* Reads an argument that is a value. */
static const char *argument_read(struct parser *parser)
{
	struct filter_node argument = { 0 };

	return filter_value_read(parser, &argument) ? argument.value : NULL;
}

/* Reads TIMEZONE("America/New_York"), also spelled TIME_ZONE. */
static bool zone_read(struct parser *parser, struct filter_step *step)
{
	const size_t start = parser->at;
	const char *word = argument_read(parser);

	if (!word)
		return false;
	if (strcasecmp(word, "TIMEZONE") != 0 && strcasecmp(word, "TIME_ZONE") != 0) {
		parser->at = start;
		filter_syntax_error(parser);
		return false;
	}
	if (!sign_read(parser, '('))
		return false;
	step->text = argument_read(parser);
	return step->text && sign_read(parser, ')');
}

static bool cast_read(struct parser *parser, struct filter_step *step)
{
	const size_t start = parser->at;
	const char *name = argument_read(parser);

	if (!name)
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcasecmp(types[i].name, name) != 0)
			continue;
		step->type = types[i].type;
		filter_space_skip(parser);
		return parser->text[parser->at] != ',' || (sign_read(parser, ',') && zone_read(parser, step));
	}
	REFUSE(parser, start, "no type '%.64s'", name);
	return false;
}

static bool step_read(struct parser *parser, struct filter_node *node, enum filter_function function,
		      size_t position)
{
	struct filter_step **last = &node->steps;
	struct filter_step *step = filter_allot(parser, sizeof(*step));
	bool good;

	step->function = function;
	step->position = position;
	if (function == FUNCTION_CAST)
		good = cast_read(parser, step);
	else
		good = (step->text = argument_read(parser)) != NULL;
	while (*last)
		last = &(*last)->next;
	*last = step;
	return good;
}

/* Reads a field, or functions around a field: the innermost argument is the field. */
static bool nested_read(struct parser *parser, struct filter_node *node, unsigned depth)
{
	const size_t position = parser->at;
	enum filter_function function;

	if (!filter_path_read(parser, node))
		return false;
	if (parser->text[parser->at] != '(')
		return true;
	if (!function_find(parser, node, position, &function))
		return false;
	if (function < FUNCTION_CAST || node->path_length != 1 || depth == FILTER_STEPS_MAX) {
		REFUSE(parser, position, "function '%.64s' cannot be used here", node->path[0]);
		return false;
	}
	return sign_read(parser, '(') && nested_read(parser, node, depth + 1) && sign_read(parser, ',') &&
	       step_read(parser, node, function, position) && sign_read(parser, ')');
}

bool filter_operand_read(struct parser *parser, struct filter_node *node)
{
	return nested_read(parser, node, 0);
}

/* Reads search(query) or search(field, query). */
static bool search_read(struct parser *parser, struct filter_node *node)
{
	const size_t start = parser->at;

	if (parser->text[start] != '"' && parser->text[start] != '\'') {
		if (!filter_operand_read(parser, node))
			return false;
		filter_space_skip(parser);
		if (parser->text[parser->at] == ',')
			return sign_read(parser, ',') && filter_value_read(parser, node);
		parser->at = start;
	}
	node->path_length = 0;
	node->steps = NULL;
	return filter_value_read(parser, node);
}

struct filter_node *filter_predicate_read(struct parser *parser, struct filter_node *node)
{
	bool good;

	if (!function_find(parser, node, node->position, &node->function))
		return NULL;
	node->kind = FILTER_CALL;
	if (!sign_read(parser, '('))
		return NULL;
	if (node->function == FUNCTION_SEARCH) {
		good = search_read(parser, node);
	} else if (node->function == FUNCTION_LOG_ID || node->function == FUNCTION_SOURCE) {
		node->path_length = 0;
		good = filter_value_read(parser, node);
	} else {
		good = filter_operand_read(parser, node) && sign_read(parser, ',') &&
		       filter_value_read(parser, node);
	}
	filter_space_skip(parser);
	if (!good)
		return NULL;
	if (parser->text[parser->at] != ')')
		return filter_syntax_error(parser);
	parser->at++;
	return node;
}
