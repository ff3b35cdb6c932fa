/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/text.h: a growing text, and how times and names are written in it. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* NUL-terminated once anything was appended */
	size_t length;
	size_t size;
	/* A client chooses the size: if there is no memory for it, the text fails and keeps no more, so that a long render is
	 * checked once, at its end. Any other text ends the process (memory.h). */
	bool may_fail;
	bool failed;
};

#define AUTO_TEXT __attribute__((cleanup(text_deinit)))

void text_deinit(struct text *text);
void text_clear(struct text *text); /* empties it and keeps the memory */
/* Empties it for its next use, and keeps the memory unless that is more than @most bytes. */
void text_renew(struct text *text, size_t most);
void text_append(struct text *text, const void *data, size_t length);
void text_puts(struct text *text, const char *string);
void text_putc(struct text *text, char c);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* A JSON string literal with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_json(struct text *text, const char *string, size_t length);
/* As it stands, but for NULs and bytes that are not UTF-8, which become U+FFFD. */
void text_clean(struct text *text, const char *data, size_t length);
/* Percent-encodes all characters but those in @kept. */
void text_percent(struct text *text, const char *value, const char *kept);
/* A segment of a path or a value of a query keeps these. Source: RFC 3986 section 2.3 */
#define URL_UNRESERVED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
/* A word as sh reads it, quoted if need be. */
void text_shell_word(struct text *text, const char *word);
/* Whether shells read it as it stands. */
bool shell_word_is_plain(const char *word);
/* Hands the memory over (never NULL); the text is empty afterwards. Not for a text that may fail. */
char *text_take(struct text *text);

/* "2026-11-20T21:29:51Z": how ml v1 prints the times of a job. */
void text_time_seconds(struct text *text, int64_t wall_us);
/* "2026-11-20T21:29:51.697Z": always three digits. */
void text_time_millis(struct text *text, int64_t wall_us);
/* "2026-11-20T21:29:51.000001Z": always six digits. */
void text_time_micros(struct text *text, int64_t wall_us);
/* "2026-11-20T21:29:51.000000001Z": always nine digits; clients compare these as text. */
void text_time_nanos(struct text *text, int64_t wall_ns);

/* Whole years with nanoseconds that fit 64 bits. */
#define TIME_FIRST_S INT64_C(-9214560000) /* when 1678 begins… */
#define TIME_END_S   INT64_C(9214646400)  /* …and when 2262 does */
/* RFC 3339 with Z or a numeric offset, a date alone, or a date-time without zone (taken as UTC).
 * False when @string is none of these. Years from 1 to 9999 are taken; a time before 1678 or after 2261, which does not fit
 * 64 bits of nanoseconds, is INT64_MIN or INT64_MAX: before, or after, everything. */
bool time_parse(const char *string, int64_t *ret_wall_ns);
/* Only what protobuf's JSON takes: RFC 3339 with a zone. */
bool time_parse_strict(const char *string, int64_t *ret_wall_ns);
/* protobuf's JSON Duration, "3.5s". False when malformed or beyond ±315,576,000,000 s. */
bool duration_parse(const char *string, int64_t *ret_us);

/* "trainingInput" -> "training_input"; the result is the caller's. */
char *name_to_snake(const char *camel);
/* True when @data is UTF-8 without surrogates or overlong forms. */
bool utf8_valid(const char *data, size_t length);

/* Puts blanks for what would begin a line of its own, or drive a terminal: what Unicode calls C0 and C1, and in what is no
 * UTF-8 (or was cut in the middle of a letter) the bytes of C1 alone as well, which some terminals take for it. */
void text_make_harmless(char *text);
/* How many characters (code points) valid UTF-8 has. */
size_t utf8_count(const char *text);
