/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/syntax.h"

#include <ctype.h>
#include <string.h>

#include "daemon/base/json.h"

struct scan {
	const char *data;
	size_t length;
	size_t at;
	unsigned depth;
	unsigned values;
	struct syntax_fault fault;
};

static bool scan_value(struct scan *scan);

static bool scan_fail(struct scan *scan, const char *text)
{
	scan->fault = (struct syntax_fault){ .text = text, .at = scan->at };
	return false;
}

/* The next byte, or -1 at the end. */
static int scan_peek(const struct scan *scan)
{
	return scan->at < scan->length ? (unsigned char)scan->data[scan->at] : -1;
}

static int scan_peek_token(struct scan *scan)
{
	while (scan->at < scan->length && memchr(" \t\r\n", scan->data[scan->at], 4))
		scan->at++;
	return scan_peek(scan);
}

static bool scan_hex(struct scan *scan, unsigned *ret_code)
{
	unsigned code = 0;

	for (int i = 0; i < 4; i++, scan->at++) {
		int c = scan_peek(scan);

		if (c < 0 || !isxdigit(c))
			return scan_fail(scan, "Illegal hex string.");
		code = code * 16 + (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	*ret_code = code;
	return true;
}

/* After the "\u". Choice: U+0000 is refused, since no argument, name or path can hold it. */
static bool scan_unicode(struct scan *scan)
{
	unsigned code, low;

	if (!scan_hex(scan, &code))
		return false;
	if (code == 0 || (code >= 0xdc00 && code <= 0xdfff))
		return scan_fail(scan, "Invalid unicode code point.");
	if (code < 0xd800 || code > 0xdbff)
		return true;
	if (scan->length - scan->at < 2 || memcmp(scan->data + scan->at, "\\u", 2) != 0)
		return scan_fail(scan, "Invalid unicode code point.");
	scan->at += 2;
	if (!scan_hex(scan, &low))
		return false;
	if (low < 0xdc00 || low > 0xdfff)
		return scan_fail(scan, "Invalid unicode code point.");
	return true;
}

static bool scan_escape(struct scan *scan)
{
	int c = scan_peek(scan);

	if (c < 0)
		return scan_fail(scan, "Closing quote expected in string.");
	if (c == 'u') {
		scan->at++;
		return scan_unicode(scan);
	}
	if (!memchr("\"\\/bfnrt", c, 8))
		return scan_fail(scan, "Invalid escape sequence.");
	scan->at++;
	return true;
}

static bool scan_string(struct scan *scan)
{
	size_t opened = scan->at++;

	for (;;) {
		int c = scan_peek(scan);

		if (c < 0) {
			scan->at = opened;
			return scan_fail(scan, "Closing quote expected in string.");
		}
		if (c < 0x20)
			return scan_fail(scan, "Control characters must be escaped in strings.");
		scan->at++;
		if (c == '"')
			return true;
		if (c == '\\' && !scan_escape(scan))
			return false;
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
		if (!scan_digits(scan))
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

static bool scan_member(struct scan *scan)
{
	int c = scan_peek_token(scan);

	if (c < 0)
		return scan_fail(scan, "Unexpected end of string. Expected an object key or }.");
	if (c != '"')
		return scan_fail(scan, "Expected an object key or }.");
	if (!scan_string(scan))
		return false;
	c = scan_peek_token(scan);
	if (c < 0)
		return scan_fail(scan, "Unexpected end of string. Expected : between key:value pair.");
	if (c != ':')
		return scan_fail(scan, "Expected : between key:value pair.");
	scan->at++;
	return scan_value(scan);
}

/* A list of members or elements up to @closing; the opening bracket is next. */
static bool scan_list(struct scan *scan, bool (*element)(struct scan *), char closing, const char *missing,
		      const char *ended)
{
	scan->at++;
	if (scan_peek_token(scan) == closing) {
		scan->at++;
		return true;
	}
	for (;;) {
		int c;

		if (!element(scan))
			return false;
		c = scan_peek_token(scan);
		if (c != closing && c != ',')
			return scan_fail(scan, c < 0 ? ended : missing);
		scan->at++;
		if (c == closing)
			return true;
	}
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
		good = scan_list(scan, scan_value, ']', "Expected , or ] after array value.",
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
	if (c == '"')
		return scan_string(scan);
	if (c == '-' || isdigit(c))
		return scan_number(scan);
	if (memchr("}],:", c, 4))
		return scan_fail(scan, "Expected a value.");
	return scan_word(scan);
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

bool syntax_check(const char *data, size_t length, struct syntax_fault *ret_fault)
{
	struct scan scan = { .data = data, .length = length };
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
	return good;
}
