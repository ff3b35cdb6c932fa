/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/text.h: a growing text, and functions that append names and strings. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* NUL-terminated once anything was appended */
	size_t length;
	size_t size;
	/* For texts with a size that a client chooses: if there is no memory, the text fails and drops all further
	 * appends, so the caller checks only once, at the end. For any other text, the process ends (memory.h). */
	bool may_fail;
	bool failed;
};

#define AUTO_TEXT __attribute__((cleanup(text_deinit)))

void text_deinit(struct text *text);
void text_clear(struct text *text); /* empties it and keeps the memory */
/* Empties the text for its next use, and frees its memory if it has more than @most bytes. */
void text_renew(struct text *text, size_t most);
void text_append(struct text *text, const void *data, size_t length);
void text_puts(struct text *text, const char *string);
void text_putc(struct text *text, char c);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Appends a JSON string literal with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_json(struct text *text, const char *string, size_t length);
/* Appends @data unchanged, except that NULs and bytes that are not UTF-8 become U+FFFD. */
void text_clean(struct text *text, const char *data, size_t length);
/* Appends @value with all characters percent-encoded except those in @kept. */
void text_percent(struct text *text, const char *value, const char *kept);
/* Characters that need no encoding in a segment of a path or a value of a query. Source: RFC 3986 section 2.3 */
#define URL_UNRESERVED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
/* Appends a word for sh, quoted if necessary. */
void text_shell_word(struct text *text, const char *word);
/* Returns true if shells read @word unchanged without quotes. */
bool shell_word_is_plain(const char *word);
/* Returns the text's memory (never NULL), which the caller frees; the text is empty afterwards. Not for a text that may
 * fail. */
char *text_take(struct text *text);
/* Copies at most @size of the bytes after the first *@sent, and moves *@sent past them. Returns their number. */
size_t text_piece(const struct text *text, size_t *sent, char *buffer, size_t size);

/* Returns true if @data is UTF-8 without surrogates or overlong forms. */
bool utf8_valid(const char *data, size_t length);

/* Replaces by blanks all characters that could begin a new line or control a terminal: Unicode's C0 and C1 and, in text
 * that is not UTF-8 (or cut within a character), the single bytes of C1, which some terminals accept. */
void text_make_harmless(char *text);
/* Returns the number of characters (code points) in valid UTF-8. */
size_t utf8_count(const char *text);
