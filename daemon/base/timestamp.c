/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/timestamp.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NANOS = 1000000000 };

/* Sets those fields of @ret_day that day_put() writes. It is used instead of gmtime_r(), which took as long as all
 * other work on the time of a log entry. Years begin with March here, so that the days of February come last. Howard
 * Hinnant describes the arithmetic in "chrono-Compatible Low-Level Date Algorithms". */
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
