/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/filter.h"

#include <ctype.h>
#include <sodium.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/filter/filter_parser.h"

/* A block of memory for nodes of the tree; all blocks are freed together. */
struct filter_chunk {
	struct filter_chunk *next;
	size_t used, size;
	alignas(16) char bytes[];
};

enum { CHUNK_BYTES = 4000, PATH_SEGMENTS_MAX = 32 };

void *filter_allot(struct parser *parser, size_t size)
{
	struct filter_chunk *chunk = parser->filter->memory;
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = memory_alloc(sizeof(*chunk) + room);
		*chunk = (struct filter_chunk){ .next = parser->filter->memory, .size = room };
		parser->filter->memory = chunk;
	}
	memory = chunk->bytes + chunk->used;
	chunk->used += size;
	return memset(memory, 0, size);
}

void filter_deinit(struct filter *filter)
{
	while (filter->memory) {
		struct filter_chunk *chunk = filter->memory;

		filter->memory = chunk->next;
		free(chunk);
	}
	filter->root = NULL;
}

enum status filter_refuse(const char *text, const char *field, size_t position, struct error *err,
			  const char *format, ...)
{
	unsigned line = 1, column = 1;
	char what[256];
	va_list args;

	for (size_t i = 0; i < position; i++, column++) {
		if (text[i] != '\n')
			continue;
		line++;
		column = 0;
	}
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return error_set(err, STATUS_INVALID_ARGUMENT, field, "Unparseable filter: %s at line %u, column %u",
			 what, line, column);
}

struct filter_node *filter_syntax_error(struct parser *parser)
{
	const char *token = parser->text + parser->at;

	if (!*token)
		filter_refuse(parser->text, parser->field, parser->at, parser->err,
			      "syntax error: the filter ends too early");
	else
		filter_refuse(parser->text, parser->field, parser->at, parser->err,
			      "syntax error near '%.20s'", token);
	return NULL;
}

void filter_space_skip(struct parser *parser)
{
	const char *text = parser->text;

	for (;;) {
		while (isspace((unsigned char)text[parser->at]))
			parser->at++;
		if (text[parser->at] != '-' || text[parser->at + 1] != '-')
			return;
		while (text[parser->at] && text[parser->at] != '\n')
			parser->at++;
	}
}

static bool ends_word(char c)
{
	return c == '\0' || isspace((unsigned char)c) || strchr("()\"',", c);
}

static bool keyword_read(struct parser *parser, const char *keyword)
{
	size_t length = strlen(keyword);

	filter_space_skip(parser);
	if (strncmp(parser->text + parser->at, keyword, length) != 0 ||
	    !ends_word(parser->text[parser->at + length]))
		return false;
	parser->at += length;
	return true;
}

static bool is_keyword(const char *word, size_t length)
{
	return (length == 3 && (!strncmp(word, "AND", 3) || !strncmp(word, "NOT", 3))) ||
	       (length == 2 && !strncmp(word, "OR", 2));
}

static size_t code_point_put(char *at, uint32_t point)
{
	if (point < 0x80) {
		at[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		at[0] = (char)(0xc0 | point >> 6);
		at[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	at[0] = (char)(0xe0 | point >> 12);
	at[1] = (char)(0x80 | (point >> 6 & 0x3f));
	at[2] = (char)(0x80 | (point & 0x3f));
	return 3;
}

/* Reads four hexadecimal digits. True: they are a valid character. */
static bool code_point_read(const char *at, uint32_t *ret_point)
{
	unsigned char bytes[2];

	if (sodium_hex2bin(bytes, sizeof(bytes), at, 4, NULL, NULL, NULL) != 0)
		return false;
	*ret_point = (uint32_t)bytes[0] << 8 | bytes[1];
	return *ret_point != 0 && (*ret_point < 0xd800 || *ret_point > 0xdfff);
}

/* Reads the escape at @at, after the backslash. An unknown escape is left unchanged, so that regular expressions
 * need no second backslash. Returns the number of characters read. */
static size_t escape_read(const char *at, char **out)
{
	static const char plain[] = "\"'\\nrtbf";
	static const char meant[] = "\"'\\\n\r\t\b\f";
	const char *found = strchr(plain, *at);
	uint32_t point;

	if (*at == 'u' && code_point_read(at + 1, &point)) {
		*out += code_point_put(*out, point);
		return 5;
	}
	if (*at && found && *at != 'b') { /* \b stays: a word boundary in regular expressions */
		*(*out)++ = meant[found - plain];
		return 1;
	}
	*(*out)++ = '\\';
	return 0;
}

/* Reads the text between quotes. The result is never longer than its source, because escapes only shorten it. */
static const char *quoted_read(struct parser *parser)
{
	const char *text = parser->text;
	size_t start = parser->at;
	char quote = text[parser->at++];
	const char *end = text + parser->at;
	char *copy, *out;

	while (*end && *end != quote)
		end += *end == '\\' && end[1] ? 2 : 1;
	if (!*end) {
		filter_refuse(text, parser->field, start, parser->err, "syntax error: a quote is not closed");
		return NULL;
	}
	copy = out = filter_allot(parser, (size_t)(end - text) - parser->at + 1);
	while (text + parser->at < end) {
		char c = text[parser->at++];

		if (c == '\\')
			parser->at += escape_read(text + parser->at, &out);
		else
			*out++ = c;
	}
	parser->at++;
	return copy;
}

static const char *slice(struct parser *parser, size_t from, size_t to)
{
	char *copy = filter_allot(parser, to - from + 1);

	return memcpy(copy, parser->text + from, to - from);
}

/* Returns the end of the current word: at white space, a parenthesis, a quote, a comma, or a character of @marks. */
static size_t word_end(const struct parser *parser, const char *marks)
{
	size_t at = parser->at;

	while (!ends_word(parser->text[at]) && !strchr(marks, parser->text[at]))
		at++;
	return at;
}

static struct filter_node *node_new(struct parser *parser, enum filter_kind kind, size_t position)
{
	struct filter_node *node = filter_allot(parser, sizeof(*node));

	node->kind = kind;
	node->position = position;
	if (kind < FILTER_COMPARE || ++parser->comparisons <= FILTER_COMPARISONS_MAX)
		return node;
	filter_refuse(parser->text, parser->field, position, parser->err, "more than %d comparisons",
		      FILTER_COMPARISONS_MAX);
	return NULL;
}

struct filter_node *filter_value_read(struct parser *parser, struct filter_node *node)
{
	char c = parser->text[parser->at];

	if (!node)
		return NULL;
	if (c == '"' || c == '\'') {
		node->quoted = true;
		node->value = quoted_read(parser);
		return node->value ? node : NULL;
	}
	size_t end = word_end(parser, "=<>!~");

	if (end == parser->at || is_keyword(parser->text + parser->at, end - parser->at))
		return filter_syntax_error(parser);
	node->value = slice(parser, parser->at, end);
	parser->at = end;
	return node->value ? node : NULL;
}

static const struct {
	const char *sign;
	enum filter_operator operator;
} operators[] = {
	/* the longer ones first */
	{ "=~", OP_MATCH }, { "!~", OP_NO_MATCH }, { "!=", OP_NE }, { "<=", OP_LE }, { ">=", OP_GE },
	{ "=", OP_EQ },     { "<", OP_LT },        { ">", OP_GT },  { ":", OP_HAS },
};

static bool operator_read(struct parser *parser, enum filter_operator *ret_operator)
{
	filter_space_skip(parser);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		size_t length = strlen(operators[i].sign);

		if (strncmp(parser->text + parser->at, operators[i].sign, length) != 0)
			continue;
		parser->at += length;
		*ret_operator = operators[i].operator;
		return true;
	}
	return false;
}

bool filter_path_read(struct parser *parser, struct filter_node *node)
{
	const char *segments[PATH_SEGMENTS_MAX];
	size_t count = 0;

	for (;;) {
		char c = parser->text[parser->at];
		bool quoted = c == '"' || c == '\'';
		size_t end = quoted ? 0 : word_end(parser, ".=<>!:~");
		const char *segment = quoted ? quoted_read(parser) : slice(parser, parser->at, end);

		if (!segment)
			return false;
		if ((!quoted && end == parser->at) || count == PATH_SEGMENTS_MAX) {
			filter_syntax_error(parser);
			return false;
		}
		if (!quoted)
			parser->at = end;
		segments[count++] = segment;
		if (parser->text[parser->at] != '.')
			break;
		parser->at++;
	}
	node->path = filter_allot(parser, count * sizeof(*node->path));
	memcpy(node->path, segments, count * sizeof(*segments));
	node->path_length = count;
	return true;
}

static struct filter_node *expression_read(struct parser *parser);

static struct filter_node *group_read(struct parser *parser)
{
	struct filter_node *node;

	if (parser->depth == FILTER_DEPTH_MAX) {
		filter_refuse(parser->text, parser->field, parser->at, parser->err,
			      "more than %d levels of parentheses", FILTER_DEPTH_MAX);
		return NULL;
	}
	parser->depth++;
	parser->at++; /* ( */
	node = expression_read(parser);
	parser->depth--;
	if (!node)
		return NULL;
	filter_space_skip(parser);
	if (parser->text[parser->at] != ')')
		return filter_syntax_error(parser);
	parser->at++;
	return node;
}

/* Reads a value inside path=( … ), which is compared with the path and operator before the parenthesis. */
static struct filter_node *subject_value_read(struct parser *parser)
{
	struct filter_node *node = node_new(parser, FILTER_COMPARE, parser->at);

	if (!node)
		return NULL;
	node->operator= parser->subject->operator;
	node->path = parser->subject->path;
	node->path_length = parser->subject->path_length;
	node->steps = parser->subject->steps;
	return filter_value_read(parser, node);
}

static struct filter_node *comparison_read(struct parser *parser, struct filter_node *node)
{
	struct filter_node *group;

	filter_space_skip(parser);
	if (parser->text[parser->at] != '(')
		return filter_value_read(parser, node);
	parser->comparisons--; /* the comparisons inside are counted themselves */
	parser->subject = node;
	group = group_read(parser);
	parser->subject = NULL;
	return group;
}

static struct filter_node *call_read(struct parser *parser, struct filter_node *node)
{
	bool predicate;

	if (!filter_is_predicate(parser, node, &predicate))
		return NULL;
	if (predicate)
		return filter_predicate_read(parser, node);
	parser->at = node->position;
	if (!filter_operand_read(parser, node))
		return NULL;
	return operator_read(parser, &node->operator) ? comparison_read(parser, node)
						      : filter_syntax_error(parser);
}

/* Makes a search for the words up to @end, with their dots, as the client wrote them. */
static struct filter_node *bare_value_read(struct parser *parser, struct filter_node *node, size_t end)
{
	node->kind = FILTER_SEARCH;
	if (node->path_length == 1)
		node->value = node->path[0];
	else
		node->value = slice(parser, node->position, end);
	return node->value ? node : NULL;
}

static struct filter_node *restriction_read(struct parser *parser)
{
	char first = parser->text[parser->at];
	struct filter_node *node = node_new(parser, FILTER_COMPARE, parser->at);
	size_t end;

	if (!node)
		return NULL;
	if (!filter_path_read(parser, node))
		return NULL;
	end = parser->at;
	node->quoted = first == '"' || first == '\'';
	if (!node->quoted && node->path_length == 1 && is_keyword(node->path[0], strlen(node->path[0]))) {
		parser->at = node->position;
		return filter_syntax_error(parser);
	}
	if (parser->text[end] == '(' && !node->quoted && node->path_length == 1)
		return call_read(parser, node);
	if (operator_read(parser, &node->operator)) {
		node->quoted = false;
		return comparison_read(parser, node);
	}
	return bare_value_read(parser, node, end);
}

static struct filter_node *term_read(struct parser *parser)
{
	struct filter_node *node, *negation;
	bool negated = false;

	for (;; negated = !negated) {
		size_t start;

		filter_space_skip(parser);
		start = parser->at;
		if (keyword_read(parser, "NOT"))
			continue;
		/* Inside operand=( … ), a minus is the sign of a number, not NOT. */
		if (parser->text[start] != '-' || parser->subject)
			break;
		parser->at++;
	}
	if (parser->text[parser->at] == '(')
		node = group_read(parser);
	else
		node = parser->subject ? subject_value_read(parser) : restriction_read(parser);
	if (!node || !negated)
		return node;
	negation = node_new(parser, FILTER_NOT, node->position);
	negation->child = node;
	negation->child_count = 1;
	return negation;
}

/* Collects the operands of AND or OR; a single operand replaces the list. */
struct joint {
	struct filter_node list, *last;
};

static void joint_add(struct joint *joint, struct filter_node *node)
{
	struct filter_node *first = node->kind == joint->list.kind ? node->child : node;

	if (joint->last)
		joint->last->next = first;
	else
		joint->list.child = first;
	for (joint->last = first; joint->last->next; joint->last = joint->last->next)
		joint->list.child_count++;
	joint->list.child_count++;
}

static struct filter_node *joint_end(struct parser *parser, struct joint *joint)
{
	struct filter_node *node;

	if (joint->list.child_count == 1)
		return joint->list.child;
	node = node_new(parser, joint->list.kind, joint->list.child->position);
	node->child = joint->list.child;
	node->child_count = joint->list.child_count;
	return node;
}

static struct filter_node *factor_read(struct parser *parser)
{
	struct joint joint = { .list = { .kind = FILTER_OR } };

	do {
		struct filter_node *node = term_read(parser);

		if (!node)
			return NULL;
		joint_add(&joint, node);
	} while (keyword_read(parser, "OR"));
	return joint_end(parser, &joint);
}

static struct filter_node *expression_read(struct parser *parser)
{
	struct joint joint = { .list = { .kind = FILTER_AND } };

	for (;;) {
		struct filter_node *node = factor_read(parser);

		if (!node)
			return NULL;
		joint_add(&joint, node);
		if (keyword_read(parser, "AND"))
			continue;
		filter_space_skip(parser);
		if (!parser->text[parser->at] || parser->text[parser->at] == ')')
			return joint_end(parser, &joint);
	}
}

enum status filter_parse(const char *text, const char *field, struct filter *ret_filter, struct error *err)
{
	struct filter filter = { 0 };
	struct error own AUTO_ERROR = { 0 };
	struct parser parser = { .text = text ? text : "", .field = field, .filter = &filter, .err = &own };

	if (strlen(parser.text) > FILTER_LENGTH_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, field,
				 "The filter is longer than %d characters.", FILTER_LENGTH_MAX);
	filter_space_skip(&parser);
	if (parser.text[parser.at]) {
		filter.root = expression_read(&parser);
		if (filter.root && parser.text[parser.at]) /* a parenthesis too many */
			filter.root = filter_syntax_error(&parser);
		if (!filter.root) {
			filter_deinit(&filter);
			return error_move(err, &own);
		}
	}
	*ret_filter = filter;
	return STATUS_OK;
}
