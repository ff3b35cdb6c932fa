/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/time_zone.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

enum {
	HEADER_BYTES = 44,
	FILE_BYTES_MAX = 64 * 1024,
	TYPE_BYTES = 6,
	DAY_S = 86400,
	OFFSET_MOST_S = 26 * 3600
};

/* A yearly change of the clock. "M3.2.0/2": the second Sunday of March, at two o'clock. */
struct change {
	int month, week, day, time_s;
};

struct time_zone {
	unsigned char *data; /* the file; NULL: UTC */
	const unsigned char *times, *indexes, *types;
	uint32_t time_count, type_count;
	/* The rule for times after the last one of the file: */
	bool has_rule, has_summer;
	int offset_s, summer_s;
	struct change begins, ends; /* summer time */
};

void time_zone_free(struct time_zone *zone)
{
	if (zone)
		free(zone->data);
	free(zone);
}

static int64_t number_of(const unsigned char *at, unsigned bytes)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < bytes; i++)
		number = number << 8 | at[i];
	return bytes == 4 ? (int32_t)number : (int64_t)number;
}

static int type_offset_s(const struct time_zone *zone, unsigned type)
{
	const int64_t offset_s = number_of(zone->types + (size_t)type * TYPE_BYTES, 4);

	return offset_s < -OFFSET_MOST_S || offset_s > OFFSET_MOST_S ? 0 : (int)offset_s;
}

/* ---- the rule after the file's last time ---- */

/* "[+-]hh[:mm[:ss]]" */
static bool clock_read(const char **at, int *ret_s)
{
	const bool negative = **at == '-';
	int seconds = 0, unit = 3600;

	*at += **at == '-' || **at == '+';
	if (!isdigit((unsigned char)**at))
		return false;
	for (;; unit /= 60) {
		seconds += (int)(strtoul(*at, (char **)at, 10) % 1000) * unit;
		if (**at != ':' || unit == 1)
			break;
		++*at;
	}
	*ret_s = negative ? -seconds : seconds;
	return seconds <= 200 * 3600;
}

static void name_skip(const char **at)
{
	if (**at == '<')
		*at += strcspn(*at, ">") + (strchr(*at, '>') != NULL);
	else
		*at += strspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
}

static bool change_read(const char **at, struct change *change)
{
	int length = 0;

	change->time_s = 7200;
	if (sscanf(*at, ",M%2d.%1d.%1d%n", &change->month, &change->week, &change->day, &length) != 3 ||
	    !length || change->month < 1 || change->month > 12 || change->week < 1 || change->week > 5 ||
	    change->day > 6)
		return false;
	*at += length;
	if (**at != '/')
		return true;
	++*at;
	return clock_read(at, &change->time_s);
}

/* Reads a rule like "EST5EDT,M3.2.0,M11.1.0". Rules with another form of days are read as if they had no summer
 * time. */
static void rule_read(struct time_zone *zone, const char *at)
{
	int west_s;

	name_skip(&at);
	if (!clock_read(&at, &west_s) || abs(west_s) > OFFSET_MOST_S)
		return;
	zone->has_rule = true;
	zone->offset_s = -west_s;
	zone->summer_s = zone->offset_s + 3600;
	if (!*at || *at == '\n')
		return;
	name_skip(&at);
	if (*at != ',') {
		if (!clock_read(&at, &west_s) || abs(west_s) > OFFSET_MOST_S)
			return;
		zone->summer_s = -west_s;
	}
	zone->has_summer = change_read(&at, &zone->begins) && change_read(&at, &zone->ends);
}

/* Time of the change in a year, in seconds of the clock that is valid before it. */
static int64_t change_s(const struct change *change, int year)
{
	struct tm day = { .tm_year = year - 1900, .tm_mon = change->month - 1, .tm_mday = 1 };
	time_t first = timegm(&day);
	const int month = day.tm_mon;
	const int days = (change->day - day.tm_wday + 7) % 7 + (change->week - 1) * 7;

	first += days * (time_t)DAY_S;
	gmtime_r(&first, &day);
	if (day.tm_mon != month)
		first -= 7 * (time_t)DAY_S; /* week 5 means the last such day of the month */
	return (int64_t)first + change->time_s;
}

static int rule_offset_s(const struct time_zone *zone, int64_t unix_s)
{
	time_t local = (time_t)(unix_s + zone->offset_s);
	struct tm day;
	int64_t begins, ends;
	bool summer;

	if (!zone->has_summer || !gmtime_r(&local, &day))
		return zone->offset_s;
	begins = change_s(&zone->begins, day.tm_year + 1900) - zone->offset_s;
	ends = change_s(&zone->ends, day.tm_year + 1900) - zone->summer_s;
	summer = begins < ends ? unix_s >= begins && unix_s < ends : unix_s >= begins || unix_s < ends;
	return summer ? zone->summer_s : zone->offset_s;
}

/* ---- the file ---- */

static bool name_is_good(const char *name)
{
	const size_t length = strlen(name);

	return length > 0 && length < 64 && *name != '/' && !strstr(name, "..") &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") == length;
}

static unsigned char *file_read(const char *name, size_t *ret_size)
{
	char path[128];
	unsigned char *data;
	FILE *file;

	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	data = memory_calloc(1, FILE_BYTES_MAX + 1); /* and a NUL */
	*ret_size = fread(data, 1, FILE_BYTES_MAX, file);
	fclose(file);
	return data;
}

/* Returns the size of the data after a header, from the header's counts; times have @time_bytes bytes. 0: not a
 * header. */
static size_t block_bytes(const unsigned char *header, size_t left, unsigned time_bytes,
			  struct time_zone *zone)
{
	uint32_t counts[6]; /* UT marks, standard marks, leap seconds, times, types, characters */
	size_t bytes;

	if (left < HEADER_BYTES || memcmp(header, "TZif", 4) != 0)
		return 0;
	for (unsigned i = 0; i < 6; i++) {
		counts[i] = (uint32_t)number_of(header + 20 + (size_t)4 * i, 4);
		if (counts[i] > FILE_BYTES_MAX)
			return 0;
	}
	zone->times = header + HEADER_BYTES;
	zone->time_count = counts[3];
	zone->indexes = zone->times + (size_t)counts[3] * time_bytes;
	zone->types = zone->indexes + counts[3];
	zone->type_count = counts[4];
	bytes = HEADER_BYTES + (size_t)counts[3] * (time_bytes + 1) + (size_t)counts[4] * TYPE_BYTES +
		counts[5] + (size_t)counts[2] * (time_bytes + 4) + counts[1] + counts[0];
	return counts[4] && bytes <= left ? bytes : 0;
}

/* Reads the second block, which has 64-bit times, and the rule after it; skips the first block. */
static bool blocks_read(struct time_zone *zone, size_t size)
{
	const size_t first = block_bytes(zone->data, size, 4, zone);
	const size_t second = first ? block_bytes(zone->data + first, size - first, 8, zone) : 0;

	if (!second)
		return false;
	for (uint32_t i = 0; i < zone->time_count; i++)
		if (zone->indexes[i] >= zone->type_count)
			return false;
	if (zone->data[first + second] == '\n')
		rule_read(zone, (const char *)zone->data + first + second + 1);
	return true;
}

DEFINE_AUTO(time_zone, struct time_zone *, time_zone_free)

struct time_zone *time_zone_read(const char *name)
{
	AUTO(time_zone) struct time_zone *zone = memory_calloc(1, sizeof(*zone));
	size_t size = 0;

	if (strcmp(name, "UTC") == 0)
		return TAKE(zone);
	zone->data = name_is_good(name) ? file_read(name, &size) : NULL;
	return zone->data && blocks_read(zone, size) ? TAKE(zone) : NULL;
}

int time_zone_offset_s(const struct time_zone *zone, int64_t unix_s)
{
	uint32_t low = 0, high = zone->time_count; /* binary search: how many times are not after @unix_s */

	if (!zone->data)
		return 0;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (number_of(zone->times + (size_t)middle * 8, 8) <= unix_s)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == zone->time_count && zone->has_rule)
		return rule_offset_s(zone, unix_s);
	return type_offset_s(zone, low ? zone->indexes[low - 1] : 0);
}
