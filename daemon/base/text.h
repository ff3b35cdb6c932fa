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
	/* For texts of a size that a client chooses: if there is no memory, the text fails and drops further appends,
	 * so that a long render is checked once, at its end. Any other text ends the process (memory.h). */
	bool may_fail;
	bool failed;
};

#define AUTO_TEXT __attribute__((cleanup(text_deinit)))

void text_deinit(struct text *text);
void text_clear(struct text *text); /* empties it and keeps the memory */
/* Empties it for its next use, and frees the memory if that is more than @most bytes. */
void text_renew(struct text *text, size_t most);
void text_append(struct text *text, const void *data, size_t length);
void text_puts(struct text *text, const char *string);
void text_putc(struct text *text, char c);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* A JSON string literal with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_json(struct text *text, const char *string, size_t length);
/* Unchanged, except NULs and bytes that are not UTF-8, which become U+FFFD. */
void text_clean(struct text *text, const char *data, size_t length);
/* Percent-encodes all characters except those in @kept. */
void text_percent(struct text *text, const char *value, const char *kept);
/* Characters that need no encoding in a segment of a path or a value of a query. Source: RFC 3986 section 2.3 */
#define URL_UNRESERVED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
/* A word for sh, quoted if needed. */
void text_shell_word(struct text *text, const char *word);
/* Whether shells read it unquoted. */
bool shell_word_is_plain(const char *word);
/* Returns the memory (never NULL); the text is empty afterwards. Not for a text that may fail. */
char *text_take(struct text *text);
/* Copies the next bytes behind the first *@sent, at most @size, and moves *@sent past them. Returns their number. */
size_t text_piece(const struct text *text, size_t *sent, char *buffer, size_t size);

/* "2026-11-20T21:29:51Z": the format of a job's times in ml v1. */
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
/* RFC 3339 with Z or a numeric offset, also without its colon, a date alone, or a date-time without zone (taken as UTC).
 * False: @string is none of these. Years from 1 to 9999 are accepted; a time before 1678 or after 2261, which does not fit
 * 64 bits of nanoseconds, becomes INT64_MIN or INT64_MAX. */
bool time_parse(const char *string, int64_t *ret_wall_ns);
/* Only the form of protobuf's JSON: RFC 3339 with a zone. */
bool time_parse_strict(const char *string, int64_t *ret_wall_ns);
/* protobuf's JSON Duration, "3.5s". False when malformed or beyond ±315,576,000,000 s. */
bool duration_parse(const char *string, int64_t *ret_us);
/* Appends a duration that duration_parse() takes as protobuf's JSON writes it: "-007.5000s" as "-7.500s", without leading
 * zeros and with 0, 3, 6 or 9 digits of fraction. */
void text_duration(struct text *text, const char *duration);

/* "trainingInput" -> "training_input"; the result is the caller's. */
char *name_to_snake(const char *camel);
/* True when @data is UTF-8 without surrogates or overlong forms. */
bool utf8_valid(const char *data, size_t length);

/* Replaces by blanks all characters that could begin a new line or control a terminal: Unicode's C0 and C1 and, in text
 * that is not UTF-8 (or cut within a character), the single bytes of C1, which some terminals accept. */
void text_make_harmless(char *text);
/* How many characters (code points) valid UTF-8 has. */
size_t utf8_count(const char *text);
