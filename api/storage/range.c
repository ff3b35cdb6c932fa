/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/range.h"

#include <string.h>
#include <strings.h>

/* Moves *at past a number. One that is too large is INT64_MAX. */
static bool number_take(const char **at, int64_t *ret_number)
{
	const char *digit = *at;
	int64_t number = 0;
	bool large = false;

	for (; *digit >= '0' && *digit <= '9'; digit++)
		large |= __builtin_mul_overflow(number, 10, &number) ||
			 __builtin_add_overflow(number, *digit - '0', &number);
	if (digit == *at)
		return false;
	*at = digit;
	*ret_number = large ? INT64_MAX : number;
	return true;
}

static bool character_take(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

static enum range_outcome suffix_choose(int64_t length, int64_t size_bytes, struct byte_range *ret_range)
{
	if (length == 0 || size_bytes == 0)
		return RANGE_UNSATISFIABLE;
	if (length > size_bytes)
		length = size_bytes;
	*ret_range = (struct byte_range){ size_bytes - length, length };
	return RANGE_PART;
}

enum range_outcome range_choose(const char *header, int64_t size_bytes, struct byte_range *ret_range)
{
	static const char unit[] = "bytes=";
	int64_t first, last = INT64_MAX;

	*ret_range = (struct byte_range){ 0, size_bytes };
	if (strncasecmp(header, unit, strlen(unit)) != 0)
		return RANGE_WHOLE;
	header += strlen(unit);
	if (character_take(&header, '-'))
		return number_take(&header, &last) && !*header ? suffix_choose(last, size_bytes, ret_range)
							       : RANGE_WHOLE;
	if (!number_take(&header, &first) || !character_take(&header, '-'))
		return RANGE_WHOLE;
	if ((*header && !number_take(&header, &last)) || *header || last < first)
		return RANGE_WHOLE;
	if (first >= size_bytes)
		return RANGE_UNSATISFIABLE;
	if (last >= size_bytes)
		last = size_bytes - 1;
	*ret_range = (struct byte_range){ first, last - first + 1 };
	return RANGE_PART;
}

/* Takes a number, or a star, which stands for an unknown number: -1. */
static bool bound_take(const char **at, int64_t *ret_bound)
{
	if (!character_take(at, '*'))
		return number_take(at, ret_bound) && *ret_bound < INT64_MAX;
	*ret_bound = -1;
	return true;
}

bool content_range_parse(const char *value, struct content_range *ret_range)
{
	static const char unit[] = "bytes ";
	struct content_range range = { .first = 0, .last = -1 };

	if (strncasecmp(value, unit, strlen(unit)) != 0)
		return false;
	value += strlen(unit);
	range.brings_bytes = *value != '*';
	if (range.brings_bytes) {
		if (!number_take(&value, &range.first) || range.first == INT64_MAX ||
		    !character_take(&value, '-') || !bound_take(&value, &range.last))
			return false;
	} else {
		value++;
	}
	if (!character_take(&value, '/') || !bound_take(&value, &range.total) || *value)
		return false;
	if (range.last >= 0 && (range.last < range.first || (range.total >= 0 && range.last >= range.total)))
		return false;
	if (range.brings_bytes && range.total >= 0 && range.first > range.total)
		return false;
	*ret_range = range;
	return true;
}
