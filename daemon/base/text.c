/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/memory.h"

enum { PRINT_ROOM = 64 };

void text_deinit(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

void text_clear(struct text *text)
{
	text->length = 0;
	if (text->data)
		text->data[0] = '\0';
}

void text_renew(struct text *text, size_t most)
{
	const bool may_fail = text->may_fail;

	if (text->size > most || text->failed)
		text_deinit(text);
	else
		text_clear(text);
	text->may_fail = may_fail;
}

static bool text_grow(struct text *text, size_t wanted)
{
	size_t size = text->size ? text->size : 128;
	char *grown;

	if (text->failed)
		return false;
	while (size < wanted)
		size *= 2;
	grown = text->may_fail ? realloc(text->data, size) : memory_resize(text->data, size, 1);
	if (!grown) {
		text->failed = true;
		return false;
	}
	text->data = grown;
	text->size = size;
	return true;
}

/* Makes room for @more bytes and a NUL. Returns false if the text has failed. */
static bool text_reserve(struct text *text, size_t more)
{
	return text->length + more < text->size ? !text->failed : text_grow(text, text->length + more + 1);
}

void text_append(struct text *text, const void *data, size_t length)
{
	if (!text_reserve(text, length))
		return;
	if (length)
		memcpy(text->data + text->length, data, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_puts(struct text *text, const char *string)
{
	text_append(text, string, strlen(string));
}

void text_putc(struct text *text, char c)
{
	if (!text_reserve(text, 1))
		return;
	text->data[text->length++] = c;
	text->data[text->length] = '\0';
}

/* Formats into the free room, and formats again only if the room was too small. */
void text_vprintf(struct text *text, const char *format, va_list args)
{
	va_list again;
	int length;

	if (!text_reserve(text, PRINT_ROOM))
		return;
	va_copy(again, args);
	length = vsnprintf(text->data + text->length, text->size - text->length, format, args);
	if ((size_t)length >= text->size - text->length) {
		if (text_reserve(text, (size_t)length))
			vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
		else
			text->data[text->length] = '\0';
	}
	va_end(again);
	if (!text->failed)
		text->length += (size_t)length;
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vprintf(text, format, args);
	va_end(args);
}

void text_percent(struct text *text, const char *value, const char *kept)
{
	for (size_t plain;; value += plain + 1) {
		plain = strspn(value, kept);
		text_append(text, value, plain);
		if (!value[plain])
			return;
		text_printf(text, "%%%02X", (unsigned char)value[plain]);
	}
}

bool shell_word_is_plain(const char *word)
{
	return *word &&
	       strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,@-") ==
		       strlen(word);
}

/* In single quotes no character is special for sh, so a single quote itself must be written outside of them. */
void text_shell_word(struct text *text, const char *word)
{
	if (shell_word_is_plain(word)) {
		text_puts(text, word);
		return;
	}
	text_putc(text, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			text_puts(text, "'\\''");
		else
			text_putc(text, *word);
	}
	text_putc(text, '\'');
}

char *text_take(struct text *text)
{
	char *data;

	text_append(text, "", 0);
	data = text->data;
	*text = (struct text){ 0 };
	return data;
}

size_t text_piece(const struct text *text, size_t *sent, char *buffer, size_t size)
{
	const size_t left = text->length - *sent, piece = left < size ? left : size;

	if (piece)
		memcpy(buffer, text->data + *sent, piece);
	*sent += piece;
	return piece;
}

/* Returns how many bytes at @s are printable ASCII. A fast path, because most texts are nothing else. */
static size_t printable_length(const unsigned char *s, size_t left)
{
	size_t length = 0;

	while (length < left && s[length] >= 0x20 && s[length] < 0x7f)
		length++;
	return length;
}

/* Returns the length of the UTF-8 sequence at @s; 0: it is not valid.
 * Source: Unicode 15, table 3-7 (well-formed byte sequences). */
static size_t utf8_step(const unsigned char *s, size_t left)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t need;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		need = 2;
	} else if (s[0] >= 0xe0 && s[0] <= 0xef) {
		need = 3;
		if (s[0] == 0xe0)
			low = 0xa0;
		if (s[0] == 0xed)
			high = 0x9f;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		need = 4;
		if (s[0] == 0xf0)
			low = 0x90;
		if (s[0] == 0xf4)
			high = 0x8f;
	} else {
		return 0;
	}
	if (left < need || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < need; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return need;
}

void text_clean(struct text *text, const char *data, size_t length)
{
	size_t plain = 0; /* start of the bytes that are valid and not appended yet */

	for (size_t i = 0; i < length;) {
		size_t step = data[i] ? utf8_step((const unsigned char *)data + i, length - i) : 0;

		if (step) {
			i += step;
			continue;
		}
		text_append(text, data + plain, i - plain);
		text_puts(text, "\xef\xbf\xbd");
		plain = ++i;
	}
	text_append(text, data + plain, length - plain);
}

bool utf8_valid(const char *data, size_t length)
{
	const unsigned char *s = (const unsigned char *)data;

	for (size_t i = printable_length(s, length); i < length;) {
		size_t step = utf8_step(s + i, length - i);

		if (!step)
			return false;
		i += step;
	}
	return true;
}

size_t utf8_count(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static void text_json_special(struct text *text, unsigned char c)
{
	static const char plain[] = "\"\\/bfnrt";
	static const char shown[] = "\"\\/\b\f\n\r\t";
	const char *found = c ? strchr(shown, c) : NULL;

	if (found)
		text_append(text, (const char[]){ '\\', plain[found - shown] }, 2);
	else
		text_printf(text, "\\u%04x", c);
}

/* Sets the highest bit of each byte of @word that is not ASCII or needs an escape in a JSON string. The carry from such
 * a byte may also set the bit in the bytes above. */
static uint64_t json_special_bits(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t quotes = word ^ '"' * ones, backslashes = word ^ '\\' * ones;

	return (word | (word + ones) | (word - ' ' * ones) | (quotes - ones) | (backslashes - ones)) & 0x80 * ones;
}

/* Returns how many bytes at @s are ASCII and need no escape in a JSON string. Looks at eight at once, because the
 * strings of all answers pass through here. */
static size_t json_plain_length(const unsigned char *s, size_t left)
{
	size_t length = 0;

	for (uint64_t word; left - length >= sizeof(word); length += sizeof(word)) {
		memcpy(&word, s + length, sizeof(word));
		if (json_special_bits(word))
			break;
	}
	while (length < left && s[length] >= 0x20 && s[length] < 0x7f && s[length] != '"' && s[length] != '\\')
		length++;
	return length;
}

void text_json(struct text *text, const char *string, size_t length)
{
	const unsigned char *s = (const unsigned char *)string;
	size_t plain = 0; /* start of the bytes that need no escape and are not appended yet */
	size_t i = json_plain_length(s, length);

	if (!text_reserve(text, length + strlen("\"\"")))
		return;
	text->data[text->length++] = '"';
	if (i && i == length) { /* the usual case, in one step */
		memcpy(text->data + text->length, s, length);
		memcpy(text->data + text->length + length, "\"", sizeof("\""));
		text->length += length + 1;
		return;
	}
	while (i < length) {
		const size_t step = s[i] < 0x80 ? 0 : utf8_step(s + i, length - i);
		/* Terminals take U+0080 to U+009F as control characters, like those below U+0020. */
		const bool is_c1 = step == 2 && s[i] == 0xc2 && s[i + 1] < 0xa0;

		if (step && !is_c1) {
			i += step;
		} else {
			text_append(text, s + plain, i - plain);
			if (s[i] < 0x80 || is_c1)
				text_json_special(text, is_c1 ? s[i + 1] : s[i]);
			else
				text_puts(text, "\xef\xbf\xbd");
			plain = i += is_c1 ? 2 : 1;
		}
		i += json_plain_length(s + i, length - i);
	}
	text_append(text, s + plain, length - plain);
	text_putc(text, '"');
}

void text_make_harmless(char *text)
{
	const size_t length = strlen(text);
	const size_t plain = printable_length((const unsigned char *)text, length);
	const bool letters = plain == length || utf8_valid(text, length);

	for (unsigned char *c = (unsigned char *)text + plain; *c; c++) {
		if (*c < 0x20 || *c == 0x7f || (*c >= 0x80 && !letters))
			*c = ' ';
		else if (*c == 0xc2 && c[1] < 0xa0)
			c[0] = c[1] = ' ';
	}
}
