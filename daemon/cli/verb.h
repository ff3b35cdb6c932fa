/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/verb.h: a command of the program is one row: help, parsing, completion and suggestions are made of it.
 *
 * Thread: the first. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* What each exit code (daemon/main.h) means, for all commands but what `exec` and `shell` pass on. */
struct exit_row {
	int code;
	const char *meaning; /* NULL ends the rows */
};
extern const struct exit_row exit_rows[];

enum { VERB_WORDS_MAX = 1000 };

struct verb_option {
	const char *name;          /* "tail", without dashes; NULL ends a list */
	char letter;               /* 'f' of -f; 0: there is none */
	const char *hint;          /* the value, "N"; NULL: the option is a flag */
	const char *help;          /* one sentence fragment */
	bool repeats;              /* may be given several times; else the last one counts */
	const char *const *values; /* the only ones, ending with NULL; NULL: any */
};

struct invocation;

struct verb {
	const char *name;
	const char *words;              /* as usage shows them: "JOB [-- COMMAND]"; "" where there are none */
	const char *const *word_values; /* the only ones that a word may be, for completions; NULL: any */
	const char *summary;            /* NULL: a verb of the program itself, in no list */
	const char *detail;             /* paragraphs below the usage; NULL: the summary says all */
	const struct verb_option *options;
	bool calls;           /* asks a daemon: takes --endpoint and --token-file */
	bool lists;           /* takes --output */
	unsigned least, most; /* how many words there may be, before "--" */
	bool command;         /* words behind "--" are a command's */
	unsigned config;      /* of enum config_command: the options of the configuration that it takes too */
	/* Options of the configuration, "--name=value": the first hold where the command line gives no others, the second where
	 * no place gives others; both end with NULL. */
	const char *const *config_first, *const *config_defaults;
	int (*run)(struct invocation *invocation);
};

/* Verbs about one subject. */
struct verb_group {
	const char *title;        /* NULL ends the groups */
	const struct verb *verbs; /* ends with a NULL name */
};
/* All of them, in the order of the help. */
extern const struct verb_group verb_groups[];
/* The verb of that number, from 0, through all groups; NULL: there are no more. */
const struct verb *verb_at(size_t number);

/* Runs the program; the exit code. @arguments are those behind the program's name and end with NULL. */
int verbs_main(const char *const *arguments);
/* Appends the help of a verb. */
void verb_help_write(struct text *text, const struct verb *verb);
