/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/invocation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/amount.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/nearest.h"

const struct verb_option caller_options[] = {
	{ .name = "endpoint",
	  .hint = "URL",
	  .help = "the daemon to ask (default $TRAINYARD_ENDPOINT, else where this user's daemon serves)" },
	{ .name = "token-file", .hint = "FILE", .help = "the token that the daemon asks for" },
	{ .name = "state-dir", .hint = "DIR", .help = "ask the daemon of that state directory" },
	{ .name = "config", .hint = "FILE", .help = "ask the daemon of the state directory that FILE names" },
	{ .name = NULL },
};

const struct verb_option lister_options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .hint = "FORM",
	  .values = (const char *const[]){ "table", "json", "name", NULL },
	  .help = "how to print: table, json or name (default table)" },
	{ .name = NULL },
};

/* Returns one of the lists of options that @verb accepts, in the order of its help. */
static const struct verb_option *option_list(const struct verb *verb, unsigned number)
{
	static const struct verb_option none[] = { { .name = NULL } };

	switch (number) {
	case 0:
		return verb->options ? verb->options : none;
	case 1:
		return verb->lists ? lister_options : none;
	default:
		return verb->calls ? caller_options : none;
	}
}

enum { OPTION_LISTS = 3, BESIDE_MAX = 32 };

/* Finds the option of @word: "--tail", "--tail=3", or its letter first: "-f", "-n3", "-lr". *ret_value: the rest of the
 * word after the name or letter; NULL: nothing follows. */
static const struct verb_option *option_find(const struct verb *verb, const char *word,
					     const char **ret_value)
{
	for (unsigned list = 0; list < OPTION_LISTS; list++)
		for (const struct verb_option *option = option_list(verb, list); option->name; option++) {
			const size_t length = strlen(option->name);

			*ret_value = NULL;
			if (word[1] != '-' && option->letter == word[1]) {
				*ret_value = word[2] ? word + 2 : NULL;
				return option;
			}
			if (word[1] != '-' || strncmp(word + 2, option->name, length) != 0)
				continue;
			if (word[2 + length] == '=')
				*ret_value = word + 2 + length + 1;
			if (word[2 + length] == '=' || word[2 + length] == '\0')
				return option;
		}
	return NULL;
}

/* Checks that @value is one of @values. @place: where it stands, for the error: "--output: ", or "". */
static enum status value_check(const char *const *values, const char *place, const char *value,
			       struct error *err)
{
	struct nearest nearest = { .wanted = value };
	struct text names AUTO_TEXT = { 0 };
	char hint[NEAREST_HINT_SIZE];

	for (const char *const *one = values; *one; one++) {
		if (strcmp(*one, value) == 0)
			return STATUS_OK;
		nearest_look(&nearest, *one);
		text_printf(&names, "%s%s", one == values ? "" : ", ", *one);
	}
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s\"%s\" is not %s%s%s", place, value,
			 values[1] ? "one of " : "", names.data, nearest_hint(&nearest, "", hint));
}

static enum status unknown_refuse(const struct verb *verb, const char *word, struct error *err)
{
	struct nearest nearest = { .wanted = word + strspn(word, "-") };
	char hint[NEAREST_HINT_SIZE];

	for (unsigned list = 0; list < OPTION_LISTS; list++)
		for (const struct verb_option *option = option_list(verb, list); option->name; option++)
			nearest_look(&nearest, option->name);
	for (unsigned list = 0; list < OPTION_LISTS; list++)
		for (const struct verb_option *option = option_list(verb, list); option->name; option++)
			nearest_look_synonyms(&nearest, option->name, option->synonyms);
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "unknown option \"%s\"%s", word,
			 nearest_hint(&nearest, "--", hint));
}

/* Reads the option at *at and, if its value is the next word, that word too. "-lr" is read as "-l -r". */
static enum status option_take(struct invocation *invocation, const char *const **at, struct error *err)
{
	const char *word = **at, *value;
	const struct verb_option *option = option_find(invocation->verb, word, &value);

	while (option && !option->hint && value && word[1] != '-') {
		const char rest[] = { '-', *value, value[1], '\0' };
		const char *behind = value + 1;

		invocation->given[invocation->given_count++] = (struct invocation_option){ option, "" };
		option = option_find(invocation->verb, rest, &value);
		value = option && *behind ? behind : NULL;
	}
	if (!option)
		return unknown_refuse(invocation->verb, word, err);
	if (!option->hint && value)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--%s takes no value", option->name);
	if (option->hint && !value)
		value = (*at)[1] ? *++*at : NULL;
	if (option->hint && !value)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--%s needs a value: %s", option->name,
				 option->hint);
	if (option->values) {
		AUTO(string) char *place = memory_printf("--%s: ", option->name);

		if (value_check(option->values, place, value, err))
			return STATUS_INVALID_ARGUMENT;
	}
	invocation->given[invocation->given_count++] =
		(struct invocation_option){ option, value ? value : "" };
	return STATUS_OK;
}

/* Returns the name of the first word: "DIR", "JOB". The caller frees it. */
static char *word_name(const char *words)
{
	words += strspn(words, "[");
	return memory_strndup(words, strcspn(words, " ./[]"));
}

/* Returns the length of the part of @words that names the required words: the part before " [". */
static int words_needed(const char *words)
{
	const char *optional = strstr(words, " [");

	return (int)(optional ? (size_t)(optional - words) : strlen(words));
}

static enum status words_check(const struct invocation *invocation, struct error *err)
{
	const struct verb *verb = invocation->verb;

	if (invocation->word_count > verb->most)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "unexpected argument \"%s\"%s",
				 invocation->words[verb->most], verb->command ? CONFIG_PASSES_ON : "");
	if (invocation->word_count < verb->least)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%.*s is missing", words_needed(verb->words),
				 verb->words);
	if (verb->word_values && invocation->word_count)
		return value_check(verb->word_values, "", invocation->words[0], err);
	/* Verbs with different words have messages of their own. */
	for (size_t i = 0; (verb->names_jobs || verb->most == 1) && i < invocation->word_count; i++)
		if (!*invocation->words[i]) {
			AUTO(string) char *name = word_name(verb->words);

			return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s is empty", name);
		}
	return STATUS_OK;
}

/* Reads one word. For a verb that takes the configuration's options, an unknown option is kept in rest, with all words
 * after it that are not options of the verb: they may be values. So the verb's own words must come first. */
static enum status word_take(struct invocation *invocation, const char *const **at, struct error *err)
{
	const struct verb *verb = invocation->verb;
	const char *word = **at, *value;
	const bool is_option = *word == '-' && word[1];
	const bool is_word = !is_option && !invocation->rest_count && invocation->word_count < verb->most;

	if (verb->config && !is_word && !(is_option && option_find(verb, word, &value))) {
		invocation->rest[invocation->rest_count++] = word;
		return STATUS_OK;
	}
	if (is_option)
		return option_take(invocation, at, err);
	invocation->words[invocation->word_count++] = word;
	return STATUS_OK;
}

static enum status config_take(struct invocation *invocation, struct error *err)
{
	const char *beside[BESIDE_MAX + 1] = { NULL };
	size_t count = 0;

	/* Tell config_read_beside() the verb's own options, so that it can suggest them for a misspelled option. */
	for (unsigned list = 0; list < OPTION_LISTS; list++)
		for (const struct verb_option *option = option_list(invocation->verb, list); option->name;
		     option++)
			if (count < BESIDE_MAX)
				beside[count++] = option->name;
	return config_read_beside(&invocation->config, invocation->verb->config,
				  invocation->verb->config_defaults, beside, invocation->verb->command,
				  invocation->rest, err);
}

enum status invocation_read(const struct verb *verb, const char *const *arguments,
			    struct invocation *ret_invocation, struct error *err)
{
	struct invocation invocation AUTO_INVOCATION = { .verb = verb };
	size_t count = 0, first = 0, letters = 0;
	enum status rc = STATUS_OK;

	for (; arguments[count]; count++)
		letters += strlen(arguments[count]) + 1;
	invocation.words = memory_calloc(count + 1, sizeof(*invocation.words));
	while (verb->config_first && verb->config_first[first])
		first++;
	invocation.rest = memory_calloc(first + count + 1, sizeof(*invocation.rest));
	for (size_t i = 0; i < first; i++)
		invocation.rest[invocation.rest_count++] = verb->config_first[i];
	invocation.given = memory_calloc(letters + 1, sizeof(*invocation.given)); /* each may be an option */
	for (; !rc && *arguments; arguments++) {
		if (strcmp(*arguments, "--") == 0 && verb->command) {
			invocation.command = arguments + 1;
			break;
		}
		rc = word_take(&invocation, &arguments, err);
	}
	if (!rc && verb->config)
		rc = config_take(&invocation, err);
	if (!rc)
		rc = words_check(&invocation, err);
	if (rc)
		return rc;
	*ret_invocation = invocation;
	invocation = (struct invocation){ 0 };
	return STATUS_OK;
}

void invocation_deinit(struct invocation *invocation)
{
	free(invocation->words);
	free(invocation->rest);
	free(invocation->given);
	config_deinit(&invocation->config);
}

const char *invocation_next(const struct invocation *invocation, const char *name, size_t *at)
{
	while (*at < invocation->given_count) {
		const struct invocation_option *given = &invocation->given[(*at)++];

		if (strcmp(given->option->name, name) == 0)
			return given->value;
	}
	return NULL;
}

const char *invocation_value(const struct invocation *invocation, const char *name)
{
	const char *value = NULL, *next;

	for (size_t at = 0; (next = invocation_next(invocation, name, &at)) != NULL;)
		value = next;
	return value;
}

bool invocation_prints(const struct invocation *invocation, const char *form)
{
	const char *given = invocation_value(invocation, "output");

	return strcmp(given ? given : "table", form) == 0;
}

bool invocation_flag(const struct invocation *invocation, const char *name)
{
	return invocation_value(invocation, name) != NULL;
}

enum status invocation_number(const struct invocation *invocation, const char *name, int64_t least,
			      int64_t *ret_number, struct error *err)
{
	const char *value = invocation_value(invocation, name);
	char *end;
	long long number;

	if (!value)
		return STATUS_OK;
	errno = 0;
	number = strtoll(value, &end, 10);
	if (errno || end == value || *end || number < least)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--%s: \"%s\" is not a whole number of at least %lld", name, value,
				 (long long)least);
	*ret_number = number;
	return STATUS_OK;
}

enum status invocation_duration(const struct invocation *invocation, const char *name, int64_t *ret_us,
				struct error *err)
{
	const char *value = invocation_value(invocation, name);

	if (!value || duration_read(value, ret_us))
		return STATUS_OK;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "--%s: \"%s\" is not a duration such as 90s, 15m, 2h or 7d", name, value);
}
