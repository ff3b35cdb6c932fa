/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/pretty.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { DEPTH_SHOWN_MAX = 128, PIECE_BYTES = 2048 };

/* Collects tokens, which are short, in a piece that is appended when it is full. The free room is the difference of two
 * pointers and not a count, because for a length that is known to be small compilers use a string instruction, which takes
 * longer to begin than most tokens take to be copied. */
struct printer {
	struct text *text;
	size_t depth;
	char *at, *end;
	char piece[PIECE_BYTES];
};

static void flush(struct printer *printer)
{
	text_append(printer->text, printer->piece, (size_t)(printer->at - printer->piece));
	printer->at = printer->piece;
}

static inline void put(struct printer *printer, const char *data, size_t length)
{
	if (length > (size_t)(printer->end - printer->at)) {
		flush(printer);
		if (length > PIECE_BYTES) {
			text_append(printer->text, data, length);
			return;
		}
	}
	memcpy(printer->at, data, length);
	printer->at += length;
}

static void line_break(struct printer *printer)
{
	static const char indent[1 + 2 * DEPTH_SHOWN_MAX] = { '\n', [1 ... 2 * DEPTH_SHOWN_MAX] = ' ' };
	const size_t depth = printer->depth < DEPTH_SHOWN_MAX ? printer->depth : DEPTH_SHOWN_MAX;

	put(printer, indent, 1 + 2 * depth);
}

/* The length of the string literal at @json, with its quotes. */
static size_t string_length(const char *json, size_t left)
{
	const char *quote = memchr(json + 1, '"', left - 1);

	if (quote && quote[-1] != '\\') /* no backslash before the quote: it ends the string */
		return (size_t)(quote - json) + 1;
	for (size_t i = 1; i < left; i++) {
		if (json[i] == '\\')
			i++;
		else if (json[i] == '"')
			return i + 1;
	}
	return left;
}

/* The length of a number, true, false or null. */
static size_t word_length(const char *json, size_t left)
{
	static const bool ends_word[UCHAR_MAX + 1] = {
		[','] = true, [':'] = true, ['{'] = true,  ['}'] = true,  ['['] = true,  [']'] = true,
		['"'] = true, [' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true,
	};
	size_t length = 1;

	while (length < left && !ends_word[(unsigned char)json[length]])
		length++;
	return length;
}

static size_t blank_length(const char *json, size_t left)
{
	size_t length = 0;

	while (length < left && memchr(" \t\r\n", json[length], 4))
		length++;
	return length;
}

/* Writes an opening bracket; if nothing is in it, the closing one too. Returns the bytes consumed. */
static size_t open_write(struct printer *printer, const char *json, size_t left)
{
	const char close = json[0] == '{' ? '}' : ']';
	size_t used = 1 + blank_length(json + 1, left - 1);

	put(printer, json, 1);
	if (used < left && json[used] == close) {
		put(printer, json + used, 1);
		return used + 1;
	}
	printer->depth++;
	line_break(printer);
	return used;
}

static size_t token_write(struct printer *printer, const char *json, size_t left)
{
	size_t length;

	switch (json[0]) {
	case '{':
	case '[':
		return open_write(printer, json, left);
	case '}':
	case ']':
		printer->depth -= printer->depth > 0;
		line_break(printer);
		put(printer, json, 1);
		return 1;
	case ',':
		put(printer, json, 1);
		line_break(printer);
		return 1;
	case ':':
		put(printer, ": ", 2);
		return 1;
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		return 1;
	case '"':
		length = string_length(json, left);
		break;
	default:
		length = word_length(json, left);
		break;
	}
	put(printer, json, length);
	return length;
}

void pretty_write(struct text *text, const char *json, size_t length)
{
	struct printer printer;

	printer.text = text;
	printer.depth = 0;
	printer.at = printer.piece; /* piece is always written before it is read */
	printer.end = printer.piece + PIECE_BYTES;
	for (size_t i = 0; i < length;)
		i += token_write(&printer, json + i, length - i);
	put(&printer, "\n", 1);
	flush(&printer);
}
