/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/amount.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20 };

bool duration_read(const char *text, int64_t *ret_us)
{
	static const struct {
		const char *unit;
		int64_t seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	char *end;
	const double number = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && end != text && number >= 0; i++)
		if (strcmp(end, units[i].unit) == 0 && number * (double)units[i].seconds < 1e12) {
			*ret_us = (int64_t)(number * (double)units[i].seconds * 1e6);
			return true;
		}
	return false;
}

bool size_read(const char *text, int64_t *ret_bytes)
{
	static const char units[] = "MGT";
	char *end;
	const double number = strtod(text, &end);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (end == text || !unit || end[1] || !(number > 0 && number < 1e6))
		return false;
	*ret_bytes = (int64_t)(number * (double)((int64_t)MIB << 10 * (unit - units)));
	return *ret_bytes >= MIB;
}
