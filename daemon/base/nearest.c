/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 64, PREFIX_LEAST = 3 };

static char folded(char c)
{
	return (char)(c == '_' ? '-' : tolower((unsigned char)c));
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Returns the optimal string alignment distance: Levenshtein's distance, but two swapped neighbours count as one change. */
static unsigned distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][NAME_MAX_BYTES + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *next = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			const bool same = folded(a[i - 1]) == folded(b[j - 1]);

			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
			    folded(a[i - 2]) == folded(b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = next;
	}
	return above[b_length];
}

/* Returns true if @wanted has several words, and @name has each of them in the same order: "max-active-jobs" has those of
 * "max-jobs". */
static bool has_words(const char *name, const char *wanted)
{
	if (!strpbrk(wanted, "-_"))
		return false;
	for (size_t length; *name; name += length + (name[length] == '-')) {
		length = strcspn(name, "-");
		if (strcspn(wanted, "-_") != length || strncasecmp(name, wanted, length) != 0)
			continue;
		wanted += length;
		if (!*wanted++)
			return true;
	}
	return false;
}

void nearest_look(struct nearest *nearest, const char *name)
{
	const size_t wanted_length = strlen(nearest->wanted), length = strlen(name);
	const unsigned most = wanted_length < 5 ? 1 : wanted_length < 8 ? 2 : 3;
	unsigned distance;

	if (wanted_length < 2 || wanted_length > NAME_MAX_BYTES || length > NAME_MAX_BYTES)
		return;
	distance = distance_of(nearest->wanted, wanted_length, name, length);
	if (distance > most && wanted_length >= PREFIX_LEAST &&
	    (strncasecmp(name, nearest->wanted, wanted_length) == 0 || has_words(name, nearest->wanted)))
		distance = most;
	if (distance > most || (nearest->found && nearest->distance <= distance))
		return;
	nearest->found = name;
	nearest->distance = distance;
}

void nearest_look_synonyms(struct nearest *nearest, const char *name, const char *synonyms)
{
	const size_t wanted_length = strlen(nearest->wanted);

	for (size_t length; synonyms && *synonyms; synonyms += length + (synonyms[length] == ' ')) {
		length = strcspn(synonyms, " ");
		if (length == wanted_length && strncasecmp(synonyms, nearest->wanted, length) == 0)
			*nearest = (struct nearest){ .wanted = nearest->wanted, .found = name };
	}
}

const char *nearest_hint(const struct nearest *nearest, const char *prefix, char ret_hint[NEAREST_HINT_SIZE])
{
	ret_hint[0] = '\0';
	if (nearest->found)
		snprintf(ret_hint, NEAREST_HINT_SIZE, "; did you mean %s%s?", prefix, nearest->found);
	return ret_hint;
}
