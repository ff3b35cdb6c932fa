/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/http_date.h"

#include <time.h>

/* The names are English, since the program never calls setlocale(). */
#define FORM "%a, %d %b %Y %H:%M:%S GMT"

void http_date_write(int64_t wall_us, char ret_date[HTTP_DATE_SIZE])
{
	const time_t seconds = (time_t)(wall_us / 1000000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900 || tm.tm_year < 0 ||
	    strftime(ret_date, HTTP_DATE_SIZE, FORM, &tm) == 0)
		ret_date[0] = '\0';
}

bool http_date_read(const char *date, int64_t *ret_wall_s)
{
	struct tm tm = { 0 };
	const char *end = strptime(date, FORM, &tm);

	if (!end || *end)
		return false;
	*ret_wall_s = timegm(&tm);
	return true;
}
