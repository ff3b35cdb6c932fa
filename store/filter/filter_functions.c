/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/filter_functions.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "store/filter/filter.h"
#include "store/filter/filter_search.h"
#include "store/filter/filter_values.h"
#include "store/logs/log_severity.h"

static unsigned char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : (unsigned char)c;
}

static void has_text(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const char *needle = (const char *)sqlite3_value_text(values[1]);

	(void)count;
	sqlite3_result_int(context, text && needle &&
					    text_find_folded(text, (size_t)sqlite3_value_bytes(values[0]),
							     needle, (size_t)sqlite3_value_bytes(values[1])));
}

/* True if the whole text matches the pattern. After a mismatch only the last * is extended, so the time is at most
 * proportional to the product of both lengths. */
static bool text_fits(const char *text, const char *pattern, bool exact)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (*pattern && (exact ? *text == *pattern : folded(*text) == folded(*pattern))) {
			text++;
			pattern++;
		} else if (star) {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static void like_wild(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const char *pattern = (const char *)sqlite3_value_text(values[1]);

	(void)count;
	sqlite3_result_int(context,
			   text && pattern && text_fits(text, pattern, sqlite3_value_int(values[2]) != 0));
}

/* Limits for a regular expression, because patterns come from clients. */
enum { MATCH_STEPS_MAX = 200000, MATCH_DEPTH_MAX = 2000, MATCH_HEAP_KIB = 4096 };

struct regex {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

static void regex_free(void *memory)
{
	struct regex *regex = memory;

	if (!regex)
		return;
	pcre2_code_free(regex->code);
	pcre2_match_data_free(regex->match);
	pcre2_match_context_free(regex->limits);
	free(regex);
}

static pcre2_code *regex_compile(const char *pattern, int *ret_problem, size_t *ret_offset)
{
	return pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern),
			     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, ret_problem,
			     ret_offset, NULL);
}

enum status filter_regex_check(const char *pattern, struct error *err)
{
	PCRE2_UCHAR what[120];
	size_t offset = 0;
	int problem = 0;
	pcre2_code *code = regex_compile(pattern, &problem, &offset);

	if (code) {
		pcre2_code_free(code);
		return STATUS_OK;
	}
	pcre2_get_error_message(problem, what, sizeof(what));
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s, at offset %zu of the regular expression",
			 (const char *)what, offset);
}

static struct regex *regex_new(const char *pattern)
{
	struct regex *regex = memory_calloc(1, sizeof(*regex));
	size_t offset;
	int problem;

	regex->code = regex_compile(pattern, &problem, &offset);
	regex->match = regex->code ? pcre2_match_data_create_from_pattern(regex->code, NULL) : NULL;
	regex->limits = pcre2_match_context_create(NULL);
	if (!regex->match || !regex->limits) {
		regex_free(regex);
		return NULL;
	}
	pcre2_set_match_limit(regex->limits, MATCH_STEPS_MAX);
	pcre2_set_depth_limit(regex->limits, MATCH_DEPTH_MAX);
	pcre2_set_heap_limit(regex->limits, MATCH_HEAP_KIB);
	return regex;
}

/* Returns the compiled pattern, which is stored with the SQL statement. */
static struct regex *regex_of(sqlite3_context *context, sqlite3_value *pattern)
{
	struct regex *regex = sqlite3_get_auxdata(context, 1);

	if (regex)
		return regex;
	regex = regex_new((const char *)sqlite3_value_text(pattern));
	if (!regex)
		return NULL;
	sqlite3_set_auxdata(context, 1, regex, regex_free);
	return sqlite3_get_auxdata(context, 1);
}

static void matches(sqlite3_context *context, int count, sqlite3_value **values)
{
	const unsigned char *text = sqlite3_value_text(values[0]);
	struct regex *regex = text ? regex_of(context, values[1]) : NULL;
	int found;

	(void)count;
	if (!text) {
		sqlite3_result_int(context, 0);
		return;
	}
	if (!regex) {
		sqlite3_result_error_nomem(context);
		return;
	}
	found = pcre2_match(regex->code, text, (size_t)sqlite3_value_bytes(values[0]), 0, 0, regex->match,
			    regex->limits);
	/* Choice: if matching exceeds a limit, the text does not match. */
	sqlite3_result_int(context, found >= 0);
}

static void regexp_extract(sqlite3_context *context, int count, sqlite3_value **values)
{
	const unsigned char *text = sqlite3_value_text(values[0]);
	struct regex *regex = text ? regex_of(context, values[1]) : NULL;
	PCRE2_SIZE *ends;
	int found;

	(void)count;
	if (!text)
		return;
	if (!regex) {
		sqlite3_result_error_nomem(context);
		return;
	}
	found = pcre2_match(regex->code, text, (size_t)sqlite3_value_bytes(values[0]), 0, 0, regex->match,
			    regex->limits);
	if (found < 1)
		return;
	ends = pcre2_get_ovector_pointer(regex->match);
	if (pcre2_get_ovector_count(regex->match) > 1) /* the first group, which may be unmatched */
		ends += 2;
	else if (ends[0] > ends[1])
		return;
	if (found > 1 || ends == pcre2_get_ovector_pointer(regex->match))
		sqlite3_result_text(context, (const char *)text + ends[0], (int)(ends[1] - ends[0]),
				    SQLITE_TRANSIENT);
}

static void severity_name(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sqlite3_result_text(context, log_severity_name(sqlite3_value_int(values[0])), -1, SQLITE_STATIC);
}

static bool number_parse(const char *text, double *ret_number)
{
	char *end;

	if (!*text)
		return false;
	*ret_number = strtod(text, &end);
	return *end == '\0';
}

static bool order_holds(int order, enum filter_operator operator)
{
	switch (operator) {
	case OP_EQ:
		return order == 0;
	case OP_NE:
		return order != 0;
	case OP_GT:
		return order > 0;
	case OP_GE:
		return order >= 0;
	case OP_LT:
		return order < 0;
	case OP_LE:
		return order <= 0;
	default:
		return false;
	}
}

/* False: one of the two texts is not a duration. */
static bool durations_parse(const char *value, const char *literal, int64_t *ret_left_us,
			    int64_t *ret_right_us)
{
	return duration_parse(value, ret_left_us) && duration_parse(literal, ret_right_us);
}

/* @type is json_type()'s word, or "duration" for a text that may be a duration. If the literal is a number, numbers
 * and texts with a number (64-bit integers are text in JSON) compare as numbers; true, false and null compare as
 * these words. */
static bool json_holds(const char *type, sqlite3_value *given, enum filter_operator operator,
		       const char * literal)
{
	const bool is_real = sqlite3_value_type(given) == SQLITE_FLOAT;
	/* Read before the conversion to text, because SQLite's text of the number has fewer digits. */
	const double real = is_real ? sqlite3_value_double(given) : 0;
	const char *value = (const char *)sqlite3_value_text(given);
	double left, right;
	int64_t left_us, right_us;

	if (strcmp(type, "null") == 0 && strcmp(literal, "NULL_VALUE") == 0)
		return order_holds(0, operator);
	if (!strcmp(type, "true") || !strcmp(type, "false") || !strcmp(type, "null"))
		value = type;
	if (!value)
		return false;
	if (operator== OP_HAS)
		return text_find_folded(value, strlen(value), literal, strlen(literal));
	if (strcmp(type, "duration") == 0 && durations_parse(value, literal, &left_us, &right_us))
		return order_holds((left_us > right_us) - (left_us < right_us), operator);
	if (number_parse(literal, &right) && number_parse(value, &left)) {
		left = is_real ? real : left;
		return order_holds((left > right) - (left < right), operator);
	}
	if (operator== OP_EQ || operator== OP_NE)
		return order_holds(strcasecmp(value, literal), operator);
	return order_holds(strcmp(value, literal), operator);
}

static void json_test(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *type = (const char *)sqlite3_value_text(values[0]);
	const char *literal = (const char *)sqlite3_value_text(values[3]);

	(void)count;
	sqlite3_result_int(context,
			   type && literal &&
				   json_holds(type, values[1],
					      (enum filter_operator)sqlite3_value_int(values[2]), literal));
}

enum status filter_functions_register(sqlite3 *db, struct error *err)
{
	static const struct {
		const char *name;
		int count;
		void (*function)(sqlite3_context *, int, sqlite3_value **);
	} functions[] = {
		{ "has_text", 2, has_text },
		{ "like_wild", 3, like_wild },
		{ "matches", 2, matches },
		{ "json_test", 4, json_test },
		{ "regexp_extract", 2, regexp_extract },
		{ "severity_name", 1, severity_name },
		{ "search_text", -1, filter_search_text },
		{ "ip_in_net", 2, filter_ip_in_net },
		{ "sampled", 2, filter_sampled },
		{ "cast_value", 2, filter_cast_value },
		{ "time_text", 2, filter_time_text },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (sqlite3_create_function(db, functions[i].name, functions[i].count,
					    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
					    functions[i].function, NULL, NULL) != SQLITE_OK)
			return error_set(err, STATUS_INTERNAL, NULL, "register %s: %s", functions[i].name,
					 sqlite3_errmsg(db));
	return STATUS_OK;
}
