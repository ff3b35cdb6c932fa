/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/http_date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* No locale's: strftime's names would be. */
static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
				    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

void http_date_write(int64_t wall_us, char ret_date[HTTP_DATE_SIZE])
{
	const time_t seconds = (time_t)(wall_us / 1000000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900 || tm.tm_year < 0) {
		ret_date[0] = '\0';
		return;
	}
	snprintf(ret_date, HTTP_DATE_SIZE, "%s, %02u %s %04u %02u:%02u:%02u GMT", days[tm.tm_wday % 7],
		 (unsigned)tm.tm_mday % 100, months[tm.tm_mon % 12], (unsigned)(tm.tm_year + 1900) % 10000,
		 (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
}

bool http_date_read(const char *date, int64_t *ret_wall_s)
{
	struct tm tm = { .tm_isdst = 0 };
	char month[4], zone[4], rest;

	if (sscanf(date, "%*3s, %2d %3s %4d %2d:%2d:%2d %3s%c", &tm.tm_mday, month, &tm.tm_year, &tm.tm_hour,
		   &tm.tm_min, &tm.tm_sec, zone, &rest) != 7 ||
	    strcmp(zone, "GMT") != 0)
		return false;
	while (tm.tm_mon < 12 && strcmp(months[tm.tm_mon], month) != 0)
		tm.tm_mon++;
	if (tm.tm_mon == 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 || tm.tm_hour > 23 ||
	    tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	*ret_wall_s = timegm(&tm);
	return true;
}
