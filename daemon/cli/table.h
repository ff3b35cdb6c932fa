/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/table.h: a table that fits the terminal. Thread: one at a time. */
#include <stdio.h>

#include "daemon/base/text.h"
#include "daemon/cli/terminal.h"

struct table_column {
	const char *title; /* NULL ends the columns */
	bool right;        /* numbers */
	unsigned least;    /* it may shrink to so many characters; 0: it must not shrink */
	bool optional;     /* left out if there is no room, or if all its values are "-" */
	bool notes;        /* long texts: in the row if there is room, otherwise on a line below it */
};

struct table {
	const struct table_column *columns;
	struct table_cell {
		char *text;
		enum style style;
	} * cells;
	size_t cell_count, cell_size;
};

void table_deinit(struct table *table);
#define AUTO_TABLE __attribute__((cleanup(table_deinit)))

/* The next cell, row by row; @reported is an untrusted text of the daemon, or NULL. */
void table_put(struct table *table, const char *reported, enum style style);
/* Appends the table as fits @file, with the columns' titles first. */
void table_write(struct text *text, const struct table *table, FILE *file);
