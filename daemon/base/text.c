/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/memory.h"

enum { NANOS = 1000000000, PRINT_ROOM = 64 };

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

/* Sets the highest bit of each byte of @word that is not ASCII or needs an escape in a JSON string. Bytes above such a
 * byte may have it, too. */
static uint64_t json_special_bits(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t quotes = word ^ '"' * ones, backslashes = word ^ '\\' * ones;

	return (word | (word + ones) | (word - ' ' * ones) | (quotes - ones) | (backslashes - ones)) & 0x80 * ones;
}

/* Returns how many bytes at @s are ASCII and need no escape in a JSON string. Eight at once: all answers come here. */
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

/* The fields of @ret_day that day_put() writes, as gmtime_r() finds them. That took as long as all else that the time of an
 * entry costs. Years begin with March here, so that the days of February come last. Howard Hinnant describes the arithmetic
 * in "chrono-Compatible Low-Level Date Algorithms". */
static void day_from_seconds(int64_t seconds, struct tm *ret_day)
{
	enum { DAY_S = 86400, DAYS_TO_1970 = 719468, DAYS_OF_400_YEARS = 146097 };
	const int64_t days = (seconds - (seconds < 0 ? DAY_S - 1 : 0)) / DAY_S;
	const int second = (int)(seconds - days * DAY_S);
	const int64_t since = days + DAYS_TO_1970; /* 0000-03-01, which no time of 64 bits in nanoseconds precedes */
	const int within = (int)(since % DAYS_OF_400_YEARS);
	const int year = (within - within / 1460 + within / 36524 - within / 146096) / 365;
	const int day = within - (365 * year + year / 4 - year / 100);
	const int month = (5 * day + 2) / 153; /* 0: March */

	ret_day->tm_year = (int)(since / DAYS_OF_400_YEARS * 400) + year + (month >= 10) - 1900;
	ret_day->tm_mon = (month + 2) % 12;
	ret_day->tm_mday = day - (153 * month + 2) / 5 + 1;
	ret_day->tm_hour = second / 3600;
	ret_day->tm_min = second / 60 % 60;
	ret_day->tm_sec = second % 60;
}

static void split_time(int64_t wall_ns, struct tm *ret_day, int64_t *ret_nanos)
{
	int64_t seconds = wall_ns / NANOS;
	int64_t nanos = wall_ns % NANOS;

	if (nanos < 0) {
		nanos += NANOS;
		seconds--;
	}
	day_from_seconds(seconds, ret_day);
	*ret_nanos = nanos;
}

/* Writes a number with leading zeros. Without printf(), because times are printed for every job and every log entry, and
 * printf() would take most of the time. */
static char *digits_put(char *at, int value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value /= 10)
		at[i] = (char)('0' + value % 10);
	return at + digits;
}

static char *pair_put(char *at, char before, int value)
{
	*at++ = before;
	*at++ = (char)('0' + value / 10);
	*at++ = (char)('0' + value % 10);
	return at;
}

enum { DAY_LENGTH = 19, FRACTION_DIGITS = 9 };

/* Writes "2026-11-20T21:29:51". Returns where it ends. */
static char *day_put(char *at, const struct tm *day)
{
	at = digits_put(at, day->tm_year + 1900, 4);

	at = pair_put(at, '-', day->tm_mon + 1);
	at = pair_put(at, '-', day->tm_mday);
	at = pair_put(at, 'T', day->tm_hour);
	at = pair_put(at, ':', day->tm_min);
	return pair_put(at, ':', day->tm_sec);
}

void text_time_seconds(struct text *text, int64_t wall_us)
{
	char shown[DAY_LENGTH + 1];
	struct tm day;
	int64_t nanos;

	split_time(wall_us * 1000, &day, &nanos);
	*day_put(shown, &day) = 'Z';
	text_append(text, shown, sizeof(shown));
}

/* Appends a time with a fraction of @digits digits. Trailing zeros stay, so that all times of a kind have the same
 * length. */
static void time_fraction(struct text *text, int64_t wall_ns, int digits)
{
	char shown[DAY_LENGTH + FRACTION_DIGITS + 2];
	char *fraction;
	struct tm day;
	int64_t nanos;

	split_time(wall_ns, &day, &nanos);
	fraction = day_put(shown, &day);
	*fraction = '.';
	digits_put(fraction + 1, (int)nanos, FRACTION_DIGITS);
	fraction[digits + 1] = 'Z';
	text_append(text, shown, DAY_LENGTH + (size_t)digits + 2);
}

void text_time_millis(struct text *text, int64_t wall_us)
{
	time_fraction(text, wall_us * 1000, 3);
}

void text_time_micros(struct text *text, int64_t wall_us)
{
	time_fraction(text, wall_us * 1000, 6);
}

void text_time_nanos(struct text *text, int64_t wall_ns)
{
	time_fraction(text, wall_ns, FRACTION_DIGITS);
}

/* Reads exactly @digits decimal digits and moves *at past them. Returns false if there are fewer. */
static bool digits_read(const char **at, int digits, int *ret_value)
{
	int value = 0;

	for (int i = 0; i < digits; i++, (*at)++) {
		if (!isdigit((unsigned char)**at))
			return false;
		value = value * 10 + (**at - '0');
	}
	*ret_value = value;
	return true;
}

static bool char_read(const char **at, const char *any_of)
{
	if (!**at || !strchr(any_of, **at))
		return false;
	(*at)++;
	return true;
}

static bool fraction_read(const char **at, int64_t *ret_nanos)
{
	int64_t unit = NANOS / 10;
	int64_t nanos = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); (*at)++, unit /= 10)
		nanos += (**at - '0') * unit;
	*ret_nanos = nanos;
	return true;
}

/* Reads a zone: "Z" or "+02:00". If not @strict, "+0200" is valid, too: the filter that google-cloud-logging adds to
 * each list has this form.
 * Source: its code, version 3.17 (_helpers.py) */
static bool zone_read(const char **at, bool strict, int *ret_offset_s)
{
	int sign, hours, minutes;

	if (char_read(at, "Zz")) {
		*ret_offset_s = 0;
		return true;
	}
	sign = **at == '-' ? -1 : 1;
	if (!char_read(at, "+-") || !digits_read(at, 2, &hours) || (!char_read(at, ":") && strict) ||
	    !digits_read(at, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_offset_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

/* Reads hours, minutes, and seconds with up to nine digits of fraction. If not @strict, the seconds may be missing, and
 * more digits are cut. */
static bool clock_part_read(const char **at, bool strict, struct tm *day, int64_t *ret_nanos)
{
	if (!digits_read(at, 2, &day->tm_hour) || !char_read(at, ":") || !digits_read(at, 2, &day->tm_min))
		return false;
	if (char_read(at, ":")) {
		if (!digits_read(at, 2, &day->tm_sec))
			return false;
		if (char_read(at, ".")) {
			const char *const first = *at;

			if (!fraction_read(at, ret_nanos) || (strict && *at - first > 9))
				return false;
		}
	} else if (strict) {
		return false;
	}
	return day->tm_hour <= 23 && day->tm_min <= 59 && day->tm_sec <= 59;
}

/* The years in which all times fit 64 bits of nanoseconds: 1678 to 2261. */
enum { YEAR_MIN = 1678, YEAR_MAX = 2261 };

static bool time_parse_as(const char *at, bool strict, int64_t *ret_wall_ns)
{
	struct tm day = { 0 }, normal;
	int64_t nanos = 0;
	int year, offset_s = 0;
	time_t seconds;

	if (!digits_read(&at, 4, &year) || !char_read(&at, "-") || !digits_read(&at, 2, &day.tm_mon) ||
	    !char_read(&at, "-") || !digits_read(&at, 2, &day.tm_mday))
		return false;
	day.tm_year = year - 1900;
	day.tm_mon -= 1;
	if (*at || strict) {
		if (!char_read(&at, "Tt") || !clock_part_read(&at, strict, &day, &nanos))
			return false;
		if ((*at || strict) && !zone_read(&at, strict, &offset_s))
			return false;
	}
	if (*at || year < 1 || day.tm_mon < 0 || day.tm_mon > 11 || day.tm_mday < 1)
		return false;
	normal = day;
	seconds = timegm(&normal);
	if (normal.tm_mday != day.tm_mday) /* timegm() has changed the day, such as the 31st of a month that has 30 days */
		return false;
	if (year < YEAR_MIN || year > YEAR_MAX) {
		*ret_wall_ns = year < YEAR_MIN ? INT64_MIN : INT64_MAX; /* before, or after, everything */
		return true;
	}
	*ret_wall_ns = ((int64_t)seconds - offset_s) * NANOS + nanos;
	return true;
}

bool time_parse(const char *string, int64_t *ret_wall_ns)
{
	return time_parse_as(string, false, ret_wall_ns);
}

bool time_parse_strict(const char *string, int64_t *ret_wall_ns)
{
	return time_parse_as(string, true, ret_wall_ns);
}

bool duration_parse(const char *string, int64_t *ret_us)
{
	const int64_t limit_s = 315576000000; /* Source: google/protobuf/duration.proto, ±10,000 years */
	const char *at = string;
	bool negative = *at == '-';
	int64_t seconds = 0, nanos = 0;
	int fraction = 0;

	if (negative)
		at++;
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++) {
		seconds = seconds * 10 + (*at - '0');
		if (seconds > limit_s)
			return false;
	}
	if (*at == '.') {
		const char *first = ++at;

		if (!fraction_read(&at, &nanos))
			return false;
		fraction = (int)(at - first);
	}
	if (strcmp(at, "s") != 0 || fraction > 9 || (seconds == limit_s && nanos > 0))
		return false;
	*ret_us = (negative ? -1 : 1) * (seconds * 1000000 + nanos / 1000);
	return true;
}

void text_duration(struct text *text, const char *duration)
{
	const bool negative = *duration == '-';
	const char *digits = duration + negative + strspn(duration + negative, "0");
	const size_t whole = strspn(digits, "0123456789");
	const char *point = digits + whole;
	char nanos[10] = "000000000";
	size_t fraction = 0;

	if (*point == '.')
		memcpy(nanos, point + 1, strspn(point + 1, "0123456789"));
	for (size_t i = 0; i < 9; i++)
		if (nanos[i] != '0')
			fraction = (i / 3 + 1) * 3;
	if (!whole && !fraction)
		text_puts(text, "0s");
	else
		text_printf(text, "%s%.*s%s%.*ss", negative ? "-" : "", whole ? (int)whole : 1,
			    whole ? digits : "0", fraction ? "." : "", (int)fraction, nanos);
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
