/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/verb.h"

#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/nearest.h"
#include "daemon/cli/invocation.h"
#include "daemon/config_variables.h"
#include "daemon/help_text.h"
#include "daemon/main.h"

const struct exit_row exit_rows[] = {
	{ EXIT_GOOD, "all is done; of a job: it succeeded" },
	{ EXIT_FAILED, "failed or refused; of a job: it failed" },
	{ EXIT_USAGE, "wrong usage or configuration" },
	{ EXIT_UNREACHED, "no daemon answers" },
	{ EXIT_CANCELLED, "the job was cancelled" },
	{ EXIT_TIMED_OUT, "the time was up" },
	{ EXIT_NOT_STARTED, "the daemon, the job or the command did not start" },
	{ EXIT_INTERRUPTED, "Ctrl-C: the command ended, and its job goes on" },
	{ .meaning = NULL },
};

const struct verb *verb_at(size_t number)
{
	for (const struct verb_group *group = verb_groups; group->title; group++)
		for (const struct verb *verb = group->verbs; verb->name; verb++)
			if (number-- == 0)
				return verb;
	return NULL;
}

/* ---- help ---- */

static void options_write(struct text *text, const struct verb_option *options)
{
	for (; options && options->name; options++) {
		struct text left AUTO_TEXT = { 0 };

		if (options->letter)
			text_printf(&left, "-%c, ", options->letter);
		text_printf(&left, "--%s", options->name);
		if (options->hint)
			text_printf(&left, " %s", options->hint);
		help_entry_write(text, left.data, options->help);
	}
}

void verb_help_write(struct text *text, const struct verb *verb)
{
	/* The words are shown before the options of the configuration, where invocation.c expects them. */
	const bool words_first = verb->config && !verb->command;
	const char *const blank = *verb->words ? " " : "";
	AUTO(string)
	char *usage = words_first ? memory_printf("usage: trainyard %s%s%s [OPTION]...\n\n", verb->name,
						  blank, verb->words)
				  : memory_printf("usage: trainyard %s [OPTION]...%s%s\n\n", verb->name,
						  blank, verb->words);

	help_paragraphs_write(text, usage);
	if (verb->detail)
		help_paragraphs_write(text, verb->detail);
	else
		text_printf(text, "trainyard %s: %s.\n", verb->name, verb->summary);
	text_putc(text, '\n');
	options_write(text, verb->options);
	if (verb->lists)
		options_write(text, lister_options);
	if (verb->calls)
		options_write(text, caller_options);
	if (verb->config & CONFIG_SERVE && verb->options) /* groups with titles follow */
		text_putc(text, '\n');
	if (verb->config)
		config_help_write(text, verb->config, verb->config_first, verb->config_defaults);
}

static int help_main(void)
{
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, "usage: trainyard COMMAND [OPTION]...\n");
	for (const struct verb_group *group = verb_groups; group->title; group++) {
		text_printf(&text, "\n%s\n", group->title);
		for (const struct verb *verb = group->verbs; verb->name; verb++)
			if (verb->summary)
				text_printf(&text, "  %-10s %s\n", verb->name, verb->summary);
	}
	text_puts(&text, "\nEach command has its own --help.\n\nExit codes\n");
	for (const struct exit_row *row = exit_rows; row->meaning; row++)
		text_printf(&text, "  %-10d %s\n", row->code, row->meaning);
	return main_output(&text);
}

static bool wants_help(const char *const *arguments)
{
	for (; *arguments && strcmp(*arguments, "--") != 0; arguments++)
		if (strcmp(*arguments, "--help") == 0 || strcmp(*arguments, "-h") == 0)
			return true;
	return false;
}

/* ---- the program ---- */

static void variable_report(const char *name, const char *hint)
{
	fprintf(stderr, "trainyard: warning: the variable %s is no option, and is ignored%s\n", name, hint);
}

static int verb_run(const struct verb *verb, const char *const *arguments)
{
	struct invocation invocation AUTO_INVOCATION = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct text text AUTO_TEXT = { 0 };

	if (verb->summary && wants_help(arguments)) {
		verb_help_write(&text, verb);
		return main_output(&text);
	}
	if (invocation_read(verb, arguments, &invocation, &err)) {
		text_printf(&text, "%s ", verb->name);
		return main_usage_error(text.data, &err);
	}
	if (!verb->logs && (verb->calls || verb->config))
		config_unknown_variables(variable_report);
	return verb->run(&invocation);
}

static void unknown_refuse(const char *word, struct error *err)
{
	struct nearest nearest = { .wanted = word }, options = { 0 };
	char hint[NEAREST_HINT_SIZE];
	const struct verb *verb;

	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
		if (verb->summary)
			nearest_look(&nearest, verb->name);
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
		nearest_look_synonyms(&nearest, verb->name, verb->synonyms);
	if (strncmp(word, "--", 2) == 0) {
		options.wanted = word + 2;
		nearest_look(&options, "help");
		nearest_look(&options, "version");
	}
	if (options.found)
		error_set(err, STATUS_INVALID_ARGUMENT, NULL, "unknown option \"%s\"%s", word,
			  nearest_hint(&options, "--", hint));
	else if (*word == '-')
		error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			  "\"%s\" is an option, where a command is expected: trainyard serve %s", word, word);
	else
		error_set(err, STATUS_INVALID_ARGUMENT, NULL, "unknown command \"%s\"%s", word, nearest_hint(&nearest, "", hint));
}

int verbs_main(const char *const *arguments)
{
	static const char *const help_of_verb[] = { "help", "--help", NULL };
	struct error err AUTO_ERROR = { 0 };
	const char *word = *arguments;
	const struct verb *verb;

	if (!word) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "no command given");
		return main_usage_error("", &err);
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		word = "version";
	if (strcmp(word, "help") == 0 && arguments[1]) {
		word = arguments[1];
		arguments = help_of_verb;
	}
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
		if (strcmp(word, verb->name) == 0)
			return verb_run(verb, arguments + 1);
	if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return help_main();
	unknown_refuse(word, &err);
	return main_usage_error("", &err);
}
