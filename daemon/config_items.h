/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/config_items.h: the table of options. */
#include "daemon/config.h"

enum config_type {
	CONFIG_TEXT,
	CONFIG_NUMBER,
	CONFIG_FLAG,
	CONFIG_CHOICE,
	CONFIG_LIST, /* texts separated by commas; an option given several times in one place adds values */
};

struct config_item {
	const char *name;        /* "stop-grace" */
	const char *environment; /* "TRAINYARD_STOP_GRACE" */
	enum config_type type;
	size_t offset;           /* offset of its member in struct config */
	unsigned commands;       /* bits of enum config_command */
	const char *placeholder; /* "SECONDS"; NULL for a flag */
	const char *otherwise;   /* the default; NULL: none, or a computed one */
	char *(*compute)(void);  /* computes the default; the caller frees it */
	const char *
		/* the environment variable from which the default is computed, named in errors; NULL: none */
		compute_from;
	bool (*valid)(const char *value);
	/* Called for a value that valid() has refused, if there is no advice: sets *err to a text that follows
	 * @expected in the error. NULL: no text follows. */
	enum status (*check)(const char *value, struct error *err);
	const char *expected;       /* what valid() accepts, in words: "ADDR:PORT, such as ..." */
	const char *advice;         /* the user's remedy for an invalid value; NULL: none */
	int64_t min, max;           /* limits of a number */
	const char *synonyms;       /* what users call it instead, with blanks between; suggested only; NULL: none */
	const char *const *choices; /* the words, in the order of the enum; ends with NULL */
	const char *help;
	/* For the manual and docs/configuration.md, which `make reference` writes; NULL: nothing. `Code` is in
	 * backticks. */
	const char *detail;        /* sentences that follow the help */
	const char *default_words; /* the default, if it is not a fixed value */
	const char *page;          /* page of docs/ with more about the option */
	const char *
		group; /* title in the help above this row and the rows that follow; NULL: the title of the row before */
};

extern const struct config_item config_items[]; /* ends with a NULL name */

/* Returns the default state directory of a user. Pure. @xdg_state_home and @home may be NULL. The caller frees. */
char *state_dir_default(bool root, const char *xdg_state_home, const char *home);
