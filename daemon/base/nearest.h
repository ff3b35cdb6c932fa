/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/nearest.h: suggests a known name for a misspelled one. Pure.
 *
 *     struct nearest nearest = { .wanted = word };
 *     for each name: nearest_look(&nearest, name);
 *     error_set(..., "unknown option \"%s\"%s", word, nearest_hint(&nearest, "--", hint)); */

struct nearest {
	const char *wanted;
	const char *found; /* borrowed; NULL: none is near */
	unsigned distance; /* distance of the name found */
};

/* Compares @name with the wanted word. Case is ignored, and '_' counts as '-'. A name is similar if few letters are
 * added, missing, changed or swapped, or if the word is its beginning. Of two equally similar names the first counts. */
void nearest_look(struct nearest *nearest, const char *name);
/* Takes @name if the wanted word is one of @synonyms: words with a blank between, such as those of other programs; NULL:
 * none. Call after nearest_look() of all names. */
void nearest_look_synonyms(struct nearest *nearest, const char *name, const char *synonyms);

enum { NEAREST_HINT_SIZE = 128 };

/* Returns @ret_hint with "; did you mean --listen?", "--" being @prefix; "" if no name is similar. */
const char *nearest_hint(const struct nearest *nearest, const char *prefix, char ret_hint[NEAREST_HINT_SIZE]);
