/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/verb.h: a command of the program is one row, from which help, parsing, completion and suggestions are
 * made.
 *
 * Thread: the first. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* The meaning of each exit code (daemon/main.h), except codes that `exec` and `shell` pass on. */
struct exit_row {
	int code;
	const char *meaning; /* NULL ends the rows */
};
extern const struct exit_row exit_rows[];

enum { VERB_WORDS_MAX = 1000 };

struct verb_option {
	const char *name;          /* "tail", without dashes; NULL ends a list */
	char letter;               /* 'f' of -f; 0: there is none */
	const char *hint;          /* placeholder of the value, "N"; NULL: the option is a flag */
	const char *help;          /* one sentence fragment */
	bool repeats;              /* may be given several times; otherwise the last one counts */
	const char *const *values; /* the only valid values, ending with NULL; NULL: any */
};

struct invocation;

struct verb {
	const char *name;
	const char *words;              /* as shown in the usage: "JOB [-- COMMAND]"; "": none */
	const char *const *word_values; /* the only valid first words; NULL: any */
	const char *summary;            /* NULL: an internal verb, not listed */
	const char *detail;             /* paragraphs below the usage; NULL: the summary is enough */
	const struct verb_option *options;
	bool calls;           /* talks to a daemon: has --endpoint and --token-file */
	bool lists;           /* takes --output */
	unsigned least, most; /* limits for the number of words before "--" */
	bool command;         /* words after "--" are a command */
	bool logs;            /* runs the daemon with its log on stderr, where unknown variables are reported */
	unsigned config; /* of enum config_command: the options of the configuration that it also takes */
	/* Defaults for options of the configuration, "--name=value": the first list counts unless the command line
	 * gives the option, the second unless any place gives it; both end with NULL. */
	const char *const *config_first, *const *config_defaults;
	int (*run)(struct invocation *invocation);
};

/* Verbs about one subject. */
struct verb_group {
	const char *title;        /* NULL ends the groups */
	const struct verb *verbs; /* ends with a NULL name */
};
/* All verbs, in the order of the help. */
extern const struct verb_group verb_groups[];
/* The verb with that number, from 0, through all groups; NULL: there are no more. */
const struct verb *verb_at(size_t number);

/* Runs the program; returns the exit code. @arguments are those after the program's name and end with NULL. */
int verbs_main(const char *const *arguments);
/* Appends the help of a verb. */
void verb_help_write(struct text *text, const struct verb *verb);
