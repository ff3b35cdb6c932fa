/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/json_cursor.h"

#include <stdint.h>
#include <string.h>

void json_space_skip(const char **at)
{
	/* Not strspn(), which first builds a table of the characters: usually there is no space to skip. */
	while (**at == ' ' || **at == '\t' || **at == '\r' || **at == '\n')
		++*at;
}

bool json_token_skip(const char **at, char c)
{
	json_space_skip(at);
	if (**at != c || !c)
		return false;
	++*at;
	json_space_skip(at);
	return true;
}

bool json_string_skip(const char **at)
{
	for (++*at;;) {
		*at += strcspn(*at, "\"\\");
		if (**at == '"') {
			++*at;
			return true;
		}
		if (!**at || !(*at)[1])
			return false;
		*at += 2; /* an escape */
	}
}

size_t json_word_length(const char *at)
{
	return strcspn(at, ",:[]{}\" \t\r\n");
}

bool json_value_skip(const char **at)
{
	unsigned depth = 0;

	do {
		const char c = **at;

		if (c == '"') {
			if (!json_string_skip(at))
				return false;
			continue;
		}
		if (c == '{' || c == '[') {
			depth++;
		} else if (!depth) {
			const size_t length = json_word_length(*at);

			*at += length;
			return length > 0;
		} else if (!c) {
			return false;
		} else if (c == '}' || c == ']') {
			depth--;
		}
		++*at;
	} while (depth);
	return true;
}

/* ---- the content of strings ---- */

/* Reads the four digits of an escape such as "\u00e9"; -1: they are invalid. */
static int32_t unit_read(const char *digits)
{
	int32_t unit = 0;

	for (unsigned i = 0; i < 4; i++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit = digits[i] ? strchr(hex, digits[i] | 0x20) : NULL;

		if (!digit)
			return -1;
		unit = unit << 4 | (int32_t)(digit - hex);
	}
	return unit;
}

static void point_append(struct text *text, uint32_t point)
{
	char bytes[4];
	size_t length = 1;

	if (point < 0x80) {
		bytes[0] = (char)point;
	} else if (point < 0x800) {
		length = 2;
		bytes[0] = (char)(0xc0 | point >> 6);
	} else if (point < 0x10000) {
		length = 3;
		bytes[0] = (char)(0xe0 | point >> 12);
	} else {
		length = 4;
		bytes[0] = (char)(0xf0 | point >> 18);
	}
	for (size_t i = 1; i < length; i++)
		bytes[i] = (char)(0x80 | (point >> 6 * (length - 1 - i) & 0x3f));
	text_append(text, bytes, length);
}

/* Appends the character of an escape; @at is after the "\u". Half of a surrogate pair becomes U+FFFD. */
static bool unicode_append(const char **at, struct text *text)
{
	int32_t unit = unit_read(*at), low;

	if (unit < 0)
		return false;
	*at += 4;
	if (unit >= 0xd800 && unit < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
		low = unit_read(*at + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			*at += 6;
			point_append(text, 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
			return true;
		}
	}
	point_append(text, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : (uint32_t)unit);
	return true;
}

/* @at is behind the backslash. */
static bool escape_append(const char **at, struct text *text)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char c = **at;
	const char *letter = c ? strchr(letters, c) : NULL;

	if (!c)
		return false;
	++*at;
	if (c == 'u')
		return unicode_append(at, text);
	if (letter)
		text_putc(text, meant[letter - letters]);
	return letter;
}

bool json_string_append(const char **at, struct text *text)
{
	if (**at != '"')
		return false;
	for (++*at;;) {
		const size_t length = strcspn(*at, "\"\\");

		text_append(text, *at, length);
		*at += length;
		if (**at == '"') {
			++*at;
			return true;
		}
		if (!**at)
			return false;
		++*at;
		if (!escape_append(at, text))
			return false;
	}
}
