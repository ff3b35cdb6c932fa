/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/config_items.h: the table of options. */
#include "daemon/config.h"

enum config_type {
	CONFIG_TEXT,
	CONFIG_NUMBER,
	CONFIG_FLAG,
	CONFIG_CHOICE,
	CONFIG_LIST, /* texts, joined by commas in one value; values from one place are combined */
};

struct config_item {
	const char *name;        /* "stop-grace" */
	const char *environment; /* "TRAINYARD_STOP_GRACE" */
	enum config_type type;
	size_t offset;           /* of its field in struct config */
	unsigned commands;       /* bits of enum config_command */
	const char *placeholder; /* "SECONDS"; NULL for a flag */
	const char *otherwise;   /* the default, NULL: none or computed */
	char *(*compute)(void);  /* computes the default; the caller's */
	const char *
		/* the environment variable from which the default is computed, named in errors; NULL: none */
		compute_from;
	bool (*valid)(const char *value);
	/* The same with the reason, where that says more than what is expected; NULL: none. */
	enum status (*check)(const char *value, struct error *err);
	const char *expected;       /* what valid() accepts, in words: "ADDR:PORT, such as ..." */
	const char *advice;         /* what to do about an invalid value; NULL: nothing more */
	int64_t min, max;           /* of a number */
	const char *const *choices; /* in the order of the enum, ending with NULL */
	const char *help;
	/* For the manual and docs/configuration.md, which `make reference` writes; NULL: nothing. `Code` is in backticks. */
	const char *detail;        /* sentences that follow the help */
	const char *default_words; /* the default, if it is not a fixed value */
	const char *page;          /* of docs/: says more */
	const char *
		group; /* the title above it in the help, for it and the rows that follow; NULL: as the row before */
};

extern const struct config_item config_items[]; /* ends with a NULL name */

/* The default state directory of a user, as a pure function. Arguments may be NULL. */
char *state_dir_default(bool root, const char *xdg_state_home, const char *home);
