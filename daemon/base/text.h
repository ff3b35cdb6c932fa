/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/text.h: a growing text, and functions that append times and names. */
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

/* Appends "2026-11-20T21:29:51Z": the format of a job's times in ml v1. */
void text_time_seconds(struct text *text, int64_t wall_us);
/* "2026-11-20T21:29:51.697Z": always three digits. */
void text_time_millis(struct text *text, int64_t wall_us);
/* "2026-11-20T21:29:51.000001Z": always six digits. */
void text_time_micros(struct text *text, int64_t wall_us);
/* Appends "2026-11-20T21:29:51.000000001Z", always with nine digits: clients compare these times as text. */
void text_time_nanos(struct text *text, int64_t wall_ns);

/* The first and last second of the whole years in which nanoseconds fit 64 bits. */
#define TIME_FIRST_S INT64_C(-9214560000) /* when 1678 begins… */
#define TIME_END_S   INT64_C(9214646400)  /* …and when 2262 does */
/* Reads RFC 3339 with Z or a numeric offset (also without its colon), a date alone, or a date and time without a zone,
 * which counts as UTC. Returns false if @string is none of these. Years from 1 to 9999 are accepted; a time before 1678
 * or after 2261, which does not fit 64 bits of nanoseconds, becomes INT64_MIN or INT64_MAX. */
bool time_parse(const char *string, int64_t *ret_wall_ns);
/* Like time_parse(), but reads only the form of protobuf's JSON: RFC 3339 with a zone. */
bool time_parse_strict(const char *string, int64_t *ret_wall_ns);
/* Reads protobuf's JSON Duration, "3.5s". Returns false if it is malformed or beyond ±315,576,000,000 s. */
bool duration_parse(const char *string, int64_t *ret_us);
/* Appends a duration that duration_parse() takes as protobuf's JSON writes it: "-007.5000s" as "-7.500s", without leading
 * zeros and with 0, 3, 6 or 9 digits of fraction. */
void text_duration(struct text *text, const char *duration);
/* Returns true if @data is UTF-8 without surrogates or overlong forms. */
bool utf8_valid(const char *data, size_t length);

/* Replaces by blanks all characters that could begin a new line or control a terminal: Unicode's C0 and C1 and, in text
 * that is not UTF-8 (or cut within a character), the single bytes of C1, which some terminals accept. */
void text_make_harmless(char *text);
/* Returns the number of characters (code points) in valid UTF-8. */
size_t utf8_count(const char *text);
