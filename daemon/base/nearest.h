/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/nearest.h: the known name that a misspelled one was most likely meant to be. Pure.
 *
 *     struct nearest nearest = { .wanted = word };
 *     for each name: nearest_look(&nearest, name);
 *     error_set(..., "unknown option \"%s\"%s", word, nearest_hint(&nearest, "--", hint)); */

struct nearest {
	const char *wanted;
	const char *found; /* borrowed; NULL: none is near */
	unsigned distance; /* of found */
};

/* Case does not count, nor '_' in the place of '-'. Near is what few letters more, less, other or swapped make of it, or
 * what begins with it. Of two that are as near, the first. */
void nearest_look(struct nearest *nearest, const char *name);

enum { NEAREST_HINT_SIZE = 128 };

/* "; did you mean --listen?", with "--" as @prefix; "" where nothing is near. Returns @ret_hint. */
const char *nearest_hint(const struct nearest *nearest, const char *prefix, char ret_hint[NEAREST_HINT_SIZE]);
