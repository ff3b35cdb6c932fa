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
	char letter;               /* 'f' for -f; 0: no short form */
	const char *hint;          /* placeholder of the value, "N"; NULL: the option is a flag */
	const char *help;          /* one sentence fragment */
	bool repeats;              /* may be given several times; false: the last value counts */
	const char *const *values; /* the only valid values, ending with NULL; NULL: any */
	const char *synonyms;      /* other programs' names for it with blanks between, for hints; NULL: none */
};

struct invocation;

struct verb {
	const char *name;
	const char *words;              /* as shown in the usage: "JOB [-- COMMAND]"; "": none */
	const char *const *word_values; /* the only valid first words; NULL: any */
	const char *synonyms;           /* what docker, kubectl and others call it: "ps list"; suggested only; NULL: none */
	bool names_jobs;                /* the words are jobs, which completions offer */
	const char *summary;            /* one line of help; NULL: an internal verb that no list shows */
	const char *detail;             /* paragraphs below the usage; NULL: the summary is enough */
	const struct verb_option *options;
	bool calls;           /* the verb talks to a daemon, so it has --endpoint and --token-file */
	bool lists;           /* takes --output */
	unsigned least, most; /* limits for the number of words before "--" */
	bool command;         /* words after "--" are a command */
	bool logs;            /* the verb runs a daemon that logs on stderr, so unknown variables are reported in that log */
	unsigned config; /* the verb also takes the options with this bit of enum config_command; 0: none */
	/* Defaults for options of the configuration, "--name=value"; both lists end with NULL. A default of config_first
	 * applies unless the command line gives the option, one of config_defaults unless any place gives it. */
	const char *const *config_first, *const *config_defaults;
	int (*run)(struct invocation *invocation);
};

/* Verbs about one subject. */
struct verb_group {
	const char *title;        /* NULL ends the groups */
	const struct verb *verbs; /* ends with a NULL name */
};
/* The groups of all verbs, in the order of the help. */
extern const struct verb_group verb_groups[];
/* Returns the verb with that number, from 0, counted through all groups; NULL: there is no such verb. */
const struct verb *verb_at(size_t number);

/* Runs the program and returns its exit code. @arguments follow the program's name, and end with NULL. */
int verbs_main(const char *const *arguments);
/* Appends the help of a verb. */
void verb_help_write(struct text *text, const struct verb *verb);
