/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "store/glob.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"

enum { PATTERN_MAX = 1024, STEPS_MAX = 1000 * 1000 };

struct glob {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

void glob_free(struct glob *glob)
{
	if (!glob)
		return;
	pcre2_match_context_free(glob->context);
	pcre2_match_data_free(glob->data);
	pcre2_code_free(glob->code);
	free(glob);
}

static enum status pattern_refused(const char *pattern, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid match_glob: '%s'", pattern);
}

static void literal_write(struct text *regex, char c)
{
	if (strchr("\\^$.[]|()?*+{}-#", c) && c)
		text_putc(regex, '\\');
	text_putc(regex, c);
}

/* "[!a-z]", @at behind the bracket; NULL: it does not end. A slash is in no set. */
static const char *set_write(struct text *regex, const char *at)
{
	const char *first;

	text_puts(regex, "(?!/)[");
	if (*at == '!' || *at == '^') {
		text_putc(regex, '^');
		at++;
	}
	for (first = at; *at && (*at != ']' || at == first); at++) {
		if (*at == '\\' && at[1])
			at++;
		if (*at == '-' && at != first && at[1] != ']')
			text_putc(regex, '-');
		else
			literal_write(regex, *at);
	}
	text_putc(regex, ']');
	return *at ? at + 1 : NULL;
}

/* One wildcard or character; NULL: the pattern ends in the middle. @depth: of the braces. */
static const char *piece_write(struct text *regex, const char *at, unsigned *depth)
{
	switch (*at) {
	case '*':
		text_puts(regex, at[1] == '*' ? ".*" : "[^/]*");
		return at + 1 + (at[1] == '*');
	case '?':
		text_puts(regex, "[^/]");
		return at + 1;
	case '[':
		return set_write(regex, at + 1);
	case '{':
		text_puts(regex, "(?:");
		++*depth;
		return at + 1;
	case '\\':
		if (!at[1])
			return NULL;
		literal_write(regex, at[1]);
		return at + 2;
	default:
		break;
	}
	if (*depth && *at == ',') {
		text_putc(regex, '|');
	} else if (*depth && *at == '}') {
		text_putc(regex, ')');
		--*depth;
	} else {
		literal_write(regex, *at);
	}
	return at + 1;
}

/* False: no pattern. */
static bool regex_write(struct text *regex, const char *pattern)
{
	unsigned depth = 0;

	text_puts(regex, "\\A(?:");
	for (const char *at = pattern; at && *at;) {
		at = piece_write(regex, at, &depth);
		if (!at)
			return false;
	}
	text_puts(regex, ")\\z");
	return depth == 0;
}

enum status glob_new(const char *pattern, struct glob **ret_glob, struct error *err)
{
	struct text regex AUTO_TEXT = { 0 };
	AUTO(glob) struct glob *glob = calloc(1, sizeof(*glob));
	int code;
	size_t offset;

	if (strlen(pattern) > PATTERN_MAX || !utf8_valid(pattern, strlen(pattern)) ||
	    !regex_write(&regex, pattern))
		return pattern_refused(pattern, err);
	if (!glob || regex.failed)
		return error_no_memory(err);
	glob->code = pcre2_compile((PCRE2_SPTR)regex.data, regex.length, PCRE2_UTF | PCRE2_DOTALL, &code,
				   &offset, NULL);
	if (!glob->code)
		return pattern_refused(pattern, err);
	glob->data = pcre2_match_data_create_from_pattern(glob->code, NULL);
	glob->context = pcre2_match_context_create(NULL);
	if (!glob->data || !glob->context)
		return error_no_memory(err);
	pcre2_set_match_limit(glob->context, STEPS_MAX);
	*ret_glob = TAKE(glob);
	return STATUS_OK;
}

enum status glob_match(struct glob *glob, const char *name, bool *ret_matches, struct error *err)
{
	int code = pcre2_match(glob->code, (PCRE2_SPTR)name, strlen(name), 0, PCRE2_NO_UTF_CHECK, glob->data,
			       glob->context);

	if (code < 0 && code != PCRE2_ERROR_NOMATCH)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "The match_glob takes too many steps on '%s'.", name);
	*ret_matches = code >= 0;
	return STATUS_OK;
}
