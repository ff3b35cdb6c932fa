/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/glob.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"

/* A comma in braces becomes two steps, every other character of a pattern at most one. */
enum { PATTERN_MAX = 1024, STEPS_MAX = 2 * PATTERN_MAX + 1 };

/* A pattern is a list of steps. A name matches if a path through the steps consumes all its characters and leads past
 * the last step. All paths are followed at the same time, so matching takes time proportional to the lengths of name
 * and pattern, whatever the pattern is. */
struct step {
	enum { STEP_CHARACTER, STEP_ONE, STEP_SET, STEP_MANY, STEP_ANY, STEP_FORK, STEP_JUMP } kind;
	/* A character: its code point. A set: the position of its text. A fork: a later step at which matching may go
	 * on as well; a jump: a later step at which it goes on instead. 0: none. */
	uint32_t value;
};

struct glob {
	char *pattern, *directory;
	size_t count;
	struct step steps[STEPS_MAX];
};

void glob_free(struct glob *glob)
{
	if (!glob)
		return;
	free(glob->directory);
	free(glob->pattern);
	free(glob);
}

/* Reads the next code point of valid UTF-8 and moves *at past it; 0 at the end. */
static uint32_t character_read(const char **at, const char *end)
{
	const unsigned char *s = (const unsigned char *)*at;
	const size_t left = (size_t)(end - *at);
	const size_t length = !left ? 0 : s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t character;

	if (length <= 1) {
		*at += length;
		return length ? s[0] : 0;
	}
	character = s[0] & (0x7fu >> length);
	for (size_t i = 1; i < length && i < left; i++)
		character = character << 6 | (s[i] & 0x3f);
	*at += length < left ? length : left;
	return character;
}

static uint32_t member_read(const char **at, const char *end)
{
	if (**at == '\\' && (*at)[1])
		++*at;
	return character_read(at, end);
}

/* Sets *ret_holds if @character is in the set that begins at @at, after the bracket. Returns the end of the set; NULL:
 * the set does not end, or contains a range that goes backwards. */
static const char *set_read(const char *at, uint32_t character, bool *ret_holds)
{
	const bool negated = *at == '!' || *at == '^';
	const char *first = at += negated, *end = at + strlen(at);
	bool holds = false;

	while (*at != ']' || at == first) {
		const uint32_t low = member_read(&at, end);
		uint32_t high = low;

		if (*at == '-' && at[1] && at[1] != ']') {
			at++;
			high = member_read(&at, end);
		}
		if (!low || high < low)
			return NULL;
		holds |= low <= character && character <= high;
	}
	*ret_holds = holds != negated;
	return at + 1;
}

static void step_add(struct glob *glob, int kind, uint32_t value)
{
	glob->steps[glob->count++] = (struct step){ kind, value };
}

/* The braces that are open at the current position of the pattern. */
struct braces {
	unsigned depth;
	struct {
		uint32_t fork,
			jump; /* the last ones; until the brace ends, a jump's value is the index of the one before */
	} open[PATTERN_MAX];
};

static void brace_begin(struct glob *glob, struct braces *braces)
{
	braces->open[braces->depth].fork = (uint32_t)glob->count;
	braces->open[braces->depth++].jump = 0;
	step_add(glob, STEP_FORK, 0);
}

static void brace_alternative(struct glob *glob, struct braces *braces)
{
	const unsigned last = braces->depth - 1;

	step_add(glob, STEP_JUMP, braces->open[last].jump);
	braces->open[last].jump = (uint32_t)glob->count - 1;
	glob->steps[braces->open[last].fork].value = (uint32_t)glob->count;
	braces->open[last].fork = (uint32_t)glob->count;
	step_add(glob, STEP_FORK, 0);
}

static void brace_end(struct glob *glob, struct braces *braces)
{
	uint32_t jump = braces->open[--braces->depth].jump;

	while (jump) {
		const uint32_t before = glob->steps[jump].value;

		glob->steps[jump].value = (uint32_t)glob->count;
		jump = before;
	}
}

static const char *set_add(struct glob *glob, const char *at)
{
	bool holds;

	step_add(glob, STEP_SET, (uint32_t)(at - glob->pattern));
	return set_read(at, 0, &holds);
}

static const char *character_add(struct glob *glob, const char *at)
{
	const char *end = at + strlen(at);
	const uint32_t character = character_read(&at, end);

	step_add(glob, STEP_CHARACTER, character);
	return character ? at : NULL;
}

/* Adds the steps of one wildcard or character. Returns the rest of the pattern; NULL: the pattern ends in the
 * middle. */
static const char *piece_add(struct glob *glob, const char *at, struct braces *braces)
{
	switch (*at) {
	case '*':
		step_add(glob, at[1] == '*' ? STEP_ANY : STEP_MANY, 0);
		return at + 1 + (at[1] == '*');
	case '?':
		step_add(glob, STEP_ONE, 0);
		return at + 1;
	case '[':
		return set_add(glob, at + 1);
	case '{':
		brace_begin(glob, braces);
		return at + 1;
	case '\\':
		return character_add(glob, at + 1);
	default:
		break;
	}
	if (braces->depth && *at == ',')
		brace_alternative(glob, braces);
	else if (braces->depth && *at == '}')
		brace_end(glob, braces);
	else
		return character_add(glob, at);
	return at + 1;
}

/* Makes the steps and the directory of the pattern. False: it is not a valid pattern. */
static bool steps_make(struct glob *glob)
{
	struct braces braces = { .depth = 0 };
	char *literal = glob->directory, *directory = literal;

	for (const char *at = glob->pattern; *at;) {
		const char *end = piece_add(glob, at, &braces);

		if (!end)
			return false;
		if (glob->steps[glob->count - 1].kind != STEP_CHARACTER)
			literal = NULL;
		at += literal && *at == '\\';
		if (literal)
			literal = mempcpy(literal, at, (size_t)(end - at));
		if (literal && literal[-1] == '/' && *end)
			directory = literal;
		at = end;
	}
	*directory = '\0';
	return braces.depth == 0;
}

enum status glob_new(const char *pattern, struct glob **ret_glob, struct error *err)
{
	AUTO(glob) struct glob *glob = memory_calloc(1, sizeof(*glob));

	glob->pattern = memory_strdup(pattern);
	glob->directory = memory_strdup(pattern);
	if (strlen(pattern) > PATTERN_MAX || !utf8_valid(pattern, strlen(pattern)) || !steps_make(glob))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid match_glob: '%s'", pattern);
	*ret_glob = TAKE(glob);
	return STATUS_OK;
}

const char *glob_directory(const struct glob *glob)
{
	return glob->directory;
}

static bool step_takes(const struct glob *glob, const struct step *step, uint32_t character)
{
	bool holds = false;

	switch (step->kind) {
	case STEP_CHARACTER:
		return character == step->value;
	case STEP_ONE:
	case STEP_MANY:
		return character != '/';
	case STEP_SET:
		return character != '/' && set_read(glob->pattern + step->value, character, &holds) && holds;
	case STEP_ANY:
		return true;
	case STEP_FORK:
	case STEP_JUMP:
		break;
	}
	return false;
}

/* Adds to @now the steps that can be reached from it without a character, and marks in @next, which is empty at first,
 * the steps that @character leads to. All steps lead forward, so one pass is enough. */
static void steps_walk(const struct glob *glob, bool *now, uint32_t character, bool *next)
{
	for (size_t i = 0; i < glob->count; i++) {
		const struct step *step = &glob->steps[i];
		const bool repeats = step->kind == STEP_MANY || step->kind == STEP_ANY;

		if (!now[i])
			continue;
		if (repeats || step->kind == STEP_FORK)
			now[i + 1] = true;
		if (step->value && (step->kind == STEP_FORK || step->kind == STEP_JUMP))
			now[step->value] = true;
		if (character && step_takes(glob, step, character))
			next[repeats ? i : i + 1] = true;
	}
}

bool glob_match(const struct glob *glob, const char *name, size_t length)
{
	bool steps[2][STEPS_MAX + 1];
	bool *now = steps[0], *next = steps[1];
	const char *at = name, *end = name + length;
	uint32_t character;

	memset(now, false, glob->count + 1);
	now[0] = true;
	do {
		bool *before = now;

		memset(next, false, glob->count + 1);
		character = character_read(&at, end);
		steps_walk(glob, now, character, next);
		if (!character)
			return now[glob->count];
		now = next;
		next = before;
	} while (memchr(now, 1, glob->count + 1));
	return false;
}
