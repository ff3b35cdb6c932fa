/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/filter_search.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

/* PHRASE_TRIES_MAX: the search for a phrase gives up after so many occurrences in the middle of words. */
enum { PHRASE_TRIES_MAX = 1000, SHORT_NEEDLE_BYTES = 32 };

struct term {
	const char *text; /* in the query */
	size_t length;
	bool is_phrase;
};

struct search {
	struct term terms[SEARCH_TERMS_MAX];
	size_t count;
	char query[];
};

static unsigned char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : (unsigned char)c;
}

static bool folded_equal(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (folded(a[i]) != folded(b[i]))
			return false;
	return true;
}

/* Horspool's search: takes time proportional to the product of both lengths at worst. */
static const char *short_find(const char *text, size_t length, const char *needle, size_t needle_length)
{
	size_t shift[256];
	const size_t last = needle_length - 1;

	for (size_t i = 0; i < 256; i++)
		shift[i] = needle_length;
	for (size_t i = 0; i < last; i++)
		shift[folded(needle[i])] = last - i;
	for (size_t at = 0; at <= length - needle_length; at += shift[folded(text[at + last])])
		if (folded_equal(text + at, needle, needle_length))
			return text + at;
	return NULL;
}

static char *folded_copy(const char *text, size_t length)
{
	char *copy = memory_alloc(length ? length : 1);

	for (size_t i = 0; i < length; i++)
		copy[i] = (char)folded(text[i]);
	return copy;
}

const char *text_find_folded(const char *text, size_t length, const char *needle, size_t needle_length)
{
	if (needle_length == 0)
		return text;
	if (needle_length > length)
		return NULL;
	if (needle_length <= SHORT_NEEDLE_BYTES)
		return short_find(text, length, needle, needle_length);
	AUTO(string) char *in = folded_copy(text, length);
	AUTO(string) char *what = folded_copy(needle, needle_length);
	const char *found = memmem(in, length, what, needle_length);

	return found ? text + (found - in) : NULL;
}

/* Returns the length of the separator between words at @at; 0: the character belongs to a word. Percent codes of
 * punctuation, such as browsers write, are separators too. */
static size_t part_length(const char *at, size_t left)
{
	static const char punctuation[] = "[]<>(){}|!;,'\"*&?+/:=@.-$%\\_`";
	static const char *const codes[] = { "21", "26", "3b", "7c", "20", "2b", "3d",   "5d",
					     "5b", "3a", "0a", "2c", "28", "29", "2526", "2520" };

	for (size_t i = 0; *at == '%' && i < sizeof(codes) / sizeof(codes[0]); i++) {
		const size_t length = strlen(codes[i]);

		if (left > length && folded_equal(at + 1, codes[i], length))
			return length + 1;
	}
	return (unsigned char)*at <= ' ' || memchr(punctuation, *at, sizeof(punctuation) - 1) ? 1 : 0;
}

/* Finds the next word from *@at on; sets *ret_start and moves *@at to the word's end. False: there is none. */
static bool word_next(const char *text, size_t length, size_t *at, size_t *ret_start)
{
	size_t step;

	while (*at < length && (step = part_length(text + *at, length - *at)))
		*at += step;
	*ret_start = *at;
	while (*at < length && !part_length(text + *at, length - *at))
		++*at;
	return *at > *ret_start;
}

/* ---- the query ---- */

static bool term_add(struct search *search, const char *text, size_t length, bool is_phrase)
{
	if (search->count == SEARCH_TERMS_MAX)
		return false;
	search->terms[search->count++] = (struct term){ text, length, is_phrase };
	return true;
}

static const char *words_add(struct search *search, const char *text, size_t length)
{
	size_t at = 0, start;

	while (word_next(text, length, &at, &start))
		if (!term_add(search, text + start, at - start, false))
			return "too many words in a search";
	return NULL;
}

/* Splits the query into words and phrases. Returns the problem with the query; NULL: none. */
static const char *query_read(struct search *search)
{
	const char *problem = NULL;

	for (const char *at = search->query; *at && !problem;) {
		const size_t plain = strcspn(at, "`");
		const char *end = at[plain] ? strchr(at + plain + 1, '`') : NULL;

		problem = words_add(search, at, plain);
		at += plain;
		if (!*at || problem)
			break;
		if (!end)
			return "a backtick without its other in a search";
		if (end > at + 1 && !term_add(search, at + 1, (size_t)(end - at) - 1, true))
			return "too many words in a search";
		at = end + 1;
	}
	return problem ? problem : search->count ? NULL : "a search without words";
}

static struct search *search_new(const char *query, const char **ret_problem)
{
	struct search *search = memory_calloc(1, sizeof(*search) + strlen(query) + 1);

	strcpy(search->query, query);
	*ret_problem = query_read(search);
	return search;
}

enum status filter_search_check(const char *query, struct error *err)
{
	const char *problem;
	struct search *search = search_new(query, &problem);

	free(search);
	return problem ? error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s", problem) : STATUS_OK;
}

/* ---- searching the texts ---- */

struct finding {
	const struct search *search;
	uint64_t missing; /* terms, by their bits */
};

static bool phrase_is_in(const struct term *phrase, const char *text, size_t length)
{
	if (length < phrase->length)
		return false;
	AUTO(string) char *in = folded_copy(text, length);
	AUTO(string) char *what = folded_copy(phrase->text, phrase->length);
	const char *at = in, *end = in + length;

	for (unsigned tries = 0; tries < PHRASE_TRIES_MAX; tries++, at++) {
		const char *behind;

		at = memmem(at, (size_t)(end - at), what, phrase->length);
		if (!at)
			return false;
		behind = at + phrase->length;
		if ((at == in || part_length(at - 1, 1) || part_length(at, (size_t)(end - at))) &&
		    (behind == end || part_length(behind, (size_t)(end - behind)) ||
		     part_length(behind - 1, 1)))
			return true;
	}
	return false;
}

static void word_find(struct finding *finding, const char *word, size_t length)
{
	for (size_t i = 0; i < finding->search->count; i++) {
		const struct term *term = &finding->search->terms[i];

		if (!term->is_phrase && term->length == length && folded_equal(term->text, word, length))
			finding->missing &= ~(UINT64_C(1) << i);
	}
}

static void text_look(struct finding *finding, const char *text, size_t length)
{
	size_t at = 0, start;

	for (size_t i = 0; i < finding->search->count; i++)
		if (finding->search->terms[i].is_phrase &&
		    phrase_is_in(&finding->search->terms[i], text, length))
			finding->missing &= ~(UINT64_C(1) << i);
	while (finding->missing && word_next(text, length, &at, &start))
		word_find(finding, text + start, at - start);
}

/* Searches all values in a JSON value. Recursion is bounded, because the depth of stored JSON is. */
static void json_look(struct finding *finding, const json_t *value)
{
	const char *name;
	json_t *member;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, name, member)
			json_look(finding, member);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, member)
			json_look(finding, member);
	} else if (json_is_string(value)) {
		text_look(finding, json_string_value(value), json_string_length(value));
	} else if (!json_is_null(value)) {
		AUTO(string) char *text = json_dump_compact(value);

		text_look(finding, text, strlen(text));
	}
}

/* Returns the parsed query, which is kept with the SQL statement for its next rows. */
static struct search *search_of(sqlite3_context *context, sqlite3_value *query)
{
	struct search *search = sqlite3_get_auxdata(context, 0);
	const char *problem;

	if (search)
		return search;
	search = search_new((const char *)sqlite3_value_text(query), &problem);
	sqlite3_set_auxdata(context, 0, search, free);
	return sqlite3_get_auxdata(context, 0);
}

void filter_search_text(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct finding finding = { .search = search_of(context, values[0]) };

	if (!finding.search) {
		sqlite3_result_error_nomem(context);
		return;
	}
	finding.missing = UINT64_MAX >> (64 - finding.search->count);
	for (int i = 1; i + 1 < count && finding.missing; i += 2) {
		const char *text = (const char *)sqlite3_value_text(values[i + 1]);
		const size_t length = (size_t)sqlite3_value_bytes(values[i + 1]);

		if (text && sqlite3_value_int(values[i])) {
			AUTO(json) json_t *value = json_loadb(text, length, JSON_DECODE_ANY, NULL);

			json_look(&finding, value);
		} else if (text) {
			text_look(&finding, text, length);
		}
	}
	sqlite3_result_int(context, !finding.missing);
}
