/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/syntax.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/text.h"

struct scan {
	const char *data;
	size_t length;
	size_t at;
	unsigned depth;
	unsigned values;
	/* standard JSON for the text up to @copied; empty while nothing had to be rewritten */
	struct text *standard;
	size_t copied;
	struct syntax_fault fault;
};

static bool scan_value(struct scan *scan);
static bool scan_element(struct scan *scan);

static bool scan_fail(struct scan *scan, const char *text)
{
	scan->fault = (struct syntax_fault){ .text = text, .at = scan->at };
	return false;
}

/* Replaces the bytes from @from to @to by @instead in the standard JSON. Calls come in the order of the text. */
static void scan_rewrite(struct scan *scan, size_t from, size_t to, const char *instead)
{
	text_append(scan->standard, scan->data + scan->copied, from - scan->copied);
	text_puts(scan->standard, instead);
	scan->copied = to;
}

/* Returns the next byte, or -1 at the end. */
static int scan_peek(const struct scan *scan)
{
	return scan->at < scan->length ? (unsigned char)scan->data[scan->at] : -1;
}

static int scan_peek_token(struct scan *scan)
{
	for (; scan->at < scan->length && isspace((unsigned char)scan->data[scan->at]); scan->at++)
		if (memchr("\v\f", scan->data[scan->at], 2))
			scan_rewrite(scan, scan->at, scan->at + 1, " ");
	return scan_peek(scan);
}

/* Reads the four digits of the escape at @start: "\\u" and the digits. */
static bool scan_hex(struct scan *scan, size_t start, unsigned *ret_code)
{
	char digits[5] = "";

	scan->at = start;
	if (scan->length - start < 6)
		return scan_fail(scan, "Illegal hex string.");
	memcpy(digits, scan->data + start + 2, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return scan_fail(scan, "Invalid escape sequence.");
	*ret_code = (unsigned)strtoul(digits, NULL, 16);
	scan->at = start + 6;
	return true;
}

/* Choice: U+0000 is refused, since no argument, name or path can hold it. */
static bool scan_unicode(struct scan *scan, size_t start)
{
	const char *fault = NULL;
	unsigned code, low = 0;

	if (!scan_hex(scan, start, &code))
		return false;
	if (code == 0 || (code >= 0xdc00 && code <= 0xdfff))
		fault = "Invalid unicode code point.";
	else if (code < 0xd800 || code > 0xdbff)
		return true;
	else if (scan->length - scan->at < 2 || memcmp(scan->data + scan->at, "\\u", 2) != 0)
		fault = "Missing low surrogate.";
	else if (!scan_hex(scan, scan->at, &low))
		return false;
	else if (low < 0xdc00 || low > 0xdfff)
		fault = "Invalid low surrogate.";
	if (!fault)
		return true;
	scan->at = start;
	return scan_fail(scan, fault);
}

/* Reads a byte of a string that is no escape; a control character or a quotation mark is rewritten as an escape.
 * Choice: NUL is refused, as U+0000 is. */
static bool scan_plain(struct scan *scan)
{
	const unsigned char c = (unsigned char)scan->data[scan->at];
	char escaped[8];

	if (c == '\0')
		return scan_fail(scan, "Invalid unicode code point.");
	if (c < 0x20 || c == '"') {
		snprintf(escaped, sizeof(escaped), "\\u%04x", c);
		scan_rewrite(scan, scan->at, scan->at + 1, escaped);
	}
	scan->at++;
	return true;
}

/* Reads the character after a backslash. A character that is no escape of JSON stands for itself. */
static bool scan_escape(struct scan *scan)
{
	int c = scan_peek(scan);

	if (c < 0)
		return scan_fail(scan, "Closing quote expected in string.");
	if (c == 'u')
		return scan_unicode(scan, scan->at - 1);
	if (memchr("\"\\/bfnrt", c, 8)) {
		scan->at++;
		return true;
	}
	if (c == 'v') {
		scan_rewrite(scan, scan->at - 1, scan->at + 1, "\\u000b");
		scan->at++;
		return true;
	}
	scan_rewrite(scan, scan->at - 1, scan->at, "");
	return scan_plain(scan);
}

static void scan_quote(struct scan *scan)
{
	if (scan->data[scan->at] == '\'')
		scan_rewrite(scan, scan->at, scan->at + 1, "\"");
	scan->at++;
}

static bool scan_string(struct scan *scan)
{
	const size_t opened = scan->at;
	const int quote = scan_peek(scan);

	scan_quote(scan);
	for (;;) {
		int c = scan_peek(scan);

		if (c < 0) {
			scan->at = opened;
			return scan_fail(scan, "Closing quote expected in string.");
		}
		if (c == quote) {
			scan_quote(scan);
			return true;
		}
		if (c == '\\') {
			scan->at++;
			if (!scan_escape(scan))
				return false;
		} else if (!scan_plain(scan)) {
			return false;
		}
	}
}

static bool scan_digits(struct scan *scan)
{
	size_t first = scan->at;

	while (scan_peek(scan) >= 0 && isdigit(scan_peek(scan)))
		scan->at++;
	return scan->at > first || scan_fail(scan, "Unable to parse number.");
}

static bool scan_number(struct scan *scan)
{
	const size_t start = scan->at;
	size_t first;

	if (scan_peek(scan) == '-')
		scan->at++;
	first = scan->at;
	if (!scan_digits(scan))
		return false;
	if (scan->data[first] == '0' && scan->at - first > 1) {
		scan->at = first;
		return scan_fail(scan, "Octal/hex numbers are not valid JSON values.");
	}
	if (scan_peek(scan) == '.') {
		scan->at++;
		if (scan_peek(scan) < 0 || !isdigit(scan_peek(scan)))
			scan_rewrite(scan, scan->at, scan->at, "0");
		else if (!scan_digits(scan))
			return false;
	}
	if (scan_peek(scan) == 'e' || scan_peek(scan) == 'E') {
		scan->at++;
		if (scan_peek(scan) == '+' || scan_peek(scan) == '-')
			scan->at++;
		if (!scan_digits(scan))
			return false;
	}
	if (json_number_is_finite(scan->data + start, scan->at - start))
		return true;
	scan->at = start;
	return scan_fail(scan, "Number exceeds the range of double.");
}

static bool scan_word(struct scan *scan)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (scan->length - scan->at >= length &&
		    memcmp(scan->data + scan->at, words[i], length) == 0) {
			scan->at += length;
			return true;
		}
	}
	return scan_fail(scan, "Unexpected token.");
}

static bool is_letter(int c)
{
	return c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool begins_token(int c)
{
	return is_letter(c) || isdigit(c) || memchr("-\"'{}[]:,", c, 10);
}

/* Reads a key without quotes. */
static bool scan_bare_key(struct scan *scan)
{
	static const char *const words[] = { "true", "false", "null" };
	const size_t start = scan->at;

	if (!is_letter(scan_peek(scan)))
		return scan_fail(scan, "Expected an object key or }.");
	while (is_letter(scan_peek(scan)) || (scan_peek(scan) >= '0' && scan_peek(scan) <= '9'))
		scan->at++;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == scan->at - start &&
		    memcmp(words[i], scan->data + start, scan->at - start) == 0)
			return scan_fail(scan, "Expected an object key or }.");
	scan_rewrite(scan, start, start, "\"");
	scan_rewrite(scan, scan->at, scan->at, "\"");
	return true;
}

static bool scan_member(struct scan *scan)
{
	int c = scan_peek_token(scan);

	if (c < 0)
		return scan_fail(scan, "Unexpected end of string. Expected an object key or }.");
	if (c == '"' || c == '\'' ? !scan_string(scan) : !scan_bare_key(scan))
		return false;
	c = scan_peek_token(scan);
	if (c < 0)
		return scan_fail(scan, "Unexpected end of string. Expected : between key:value pair.");
	if (c != ':')
		return scan_fail(scan, "Expected : between key:value pair.");
	scan->at++;
	return scan_value(scan);
}

static bool is_next(const struct scan *scan, size_t at, char wanted)
{
	while (at < scan->length && isspace((unsigned char)scan->data[at]))
		at++;
	return at < scan->length && scan->data[at] == wanted;
}

/* Reads a list of members or elements up to @closing, with or without a comma before it; the opening bracket is
 * next. */
static bool scan_list(struct scan *scan, bool (*element)(struct scan *), char closing, const char *missing,
		      const char *ended)
{
	int c;

	scan->at++;
	if (scan_peek_token(scan) == closing) {
		scan->at++;
		return true;
	}
	do {
		if (!element(scan))
			return false;
		c = scan_peek_token(scan);
		if (c == ',' && is_next(scan, scan->at + 1, closing)) {
			scan_rewrite(scan, scan->at, scan->at + 1, "");
			scan->at++;
			c = scan_peek_token(scan);
		}
		if (c != closing && c != ',')
			return scan_fail(scan, c < 0 ? ended : missing);
		scan->at++;
	} while (c != closing);
	return true;
}

static bool scan_nested(struct scan *scan, char opening)
{
	bool good;

	if (++scan->depth > SYNTAX_DEPTH_MAX)
		return scan_fail(scan, "Message too deep. At most 100 levels may be nested.");
	if (opening == '{')
		good = scan_list(scan, scan_member, '}', "Expected , or } after key:value pair.",
				 "Unexpected end of string. Expected , or } after key:value pair.");
	else
		good = scan_list(scan, scan_element, ']', "Expected , or ] after array value.",
				 "Unexpected end of string. Expected , or ] after array value.");
	scan->depth--;
	return good;
}

static bool scan_value(struct scan *scan)
{
	int c = scan_peek_token(scan);

	if (++scan->values > SYNTAX_VALUES_MAX)
		return scan_fail(scan, "Message too large. It has more than 250000 values.");
	if (c < 0)
		return scan_fail(scan, "Unexpected end of string. Expected a value.");
	if (c == '{' || c == '[')
		return scan_nested(scan, (char)c);
	if (c == '"' || c == '\'')
		return scan_string(scan);
	if (c == '-' || isdigit(c))
		return scan_number(scan);
	if (!begins_token(c))
		return scan_fail(scan, "Expected a value.");
	return scan_word(scan);
}

/* Reads a value of an array. */
static bool scan_element(struct scan *scan)
{
	int c = scan_peek_token(scan);

	if (c < 0)
		return scan_fail(scan, "Unexpected end of string. Expected a value or ] within an array.");
	if (!begins_token(c))
		return scan_fail(scan, "Expected a value or ] within an array.");
	return scan_value(scan);
}

/* Where the first character that is not UTF-8 begins; @length when there is none. */
static size_t utf8_fault_at(const char *data, size_t length)
{
	size_t at = 0;

	while (at < length) {
		size_t step = 1;

		while (step <= 4 && step <= length - at && !utf8_valid(data + at, step))
			step++;
		if (step > 4 || step > length - at)
			return at;
		at += step;
	}
	return length;
}

bool syntax_check(const char *data, size_t length, struct text *standard, struct syntax_fault *ret_fault)
{
	struct scan scan = { .data = data, .length = length, .standard = standard };
	bool good;

	if (!utf8_valid(data, length)) {
		*ret_fault = (struct syntax_fault){ "Encountered non UTF-8 code points.",
						    utf8_fault_at(data, length) };
		return false;
	}
	good = scan_value(&scan);
	if (good && scan_peek_token(&scan) >= 0)
		good = scan_fail(&scan, "Parsing terminated before end of input.");
	if (!good)
		*ret_fault = scan.fault;
	else if (scan.copied)
		text_append(standard, data + scan.copied, length - scan.copied);
	return good;
}
