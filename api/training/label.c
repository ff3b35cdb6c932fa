/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/label.h"

#include <stddef.h>
#include <string.h>

/* True for capital letters of Latin-1, Greek and Cyrillic: in these alphabets, the capitals have contiguous codes. Other
 * letters count as lowercase. */
static bool is_foreign_capital(const unsigned char *c)
{
	unsigned code = c[0] >= 0xc3 && c[0] <= 0xd0 ? (unsigned)((c[0] & 0x1f) << 6 | (c[1] & 0x3f)) : 0;

	return (code >= 0xc0 && code <= 0xde && code != 0xd7) || (code >= 0x391 && code <= 0x3a9) ||
	       (code >= 0x400 && code <= 0x42f);
}

/* Whether a character beyond ASCII counts as a letter: all do, except the punctuation and the blanks of Latin-1 and of the
 * block that begins at U+2000. */
static bool is_foreign_letter(const unsigned char *c)
{
	if (c[0] == 0xc2)
		return c[1] == 0xaa || c[1] == 0xb5 || c[1] == 0xba;
	if (c[0] == 0xc3 && (c[1] == 0x97 || c[1] == 0xb7))
		return false;
	if (c[0] == 0xe2 && c[1] < 0xb0)
		return false;
	if (c[0] == 0xef && c[1] >= 0xbf)
		return false;
	return !is_foreign_capital(c);
}

static bool is_letter(const unsigned char *c)
{
	return (*c >= 'a' && *c <= 'z') || (*c >= 0x80 && is_foreign_letter(c));
}

bool label_text_valid(const char *text)
{
	size_t characters = 0;

	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		if (!is_letter(c) && !strchr("0123456789_-", *c))
			return false;
		if (++characters > LABEL_CHARACTERS_MAX)
			return false;
		for (c++; (*c & 0xc0) == 0x80; c++)
			continue;
	}
	return true;
}

bool label_begins_with_letter(const char *text)
{
	return is_letter((const unsigned char *)text);
}
