/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/table.h: a table that fits the terminal. Thread: one at a time. */
#include <stdio.h>

#include "daemon/base/text.h"
#include "daemon/cli/terminal.h"

struct table_column {
	const char *title; /* NULL ends the columns */
	bool right;        /* aligned to the right, for numbers */
	unsigned least;    /* the column may shrink to this number of characters; 0: it must not shrink */
	bool optional;     /* the column is left out if there is no room, or if all its values are "-" */
	bool notes;        /* the column has long texts: in the row if there is room, otherwise on a line below the row */
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

/* Adds the next cell, row by row; @reported is an untrusted text of the daemon, or NULL. */
void table_put(struct table *table, const char *reported, enum style style);
/* Appends the table, with the columns' titles first, in the width of the terminal @file. */
void table_write(struct text *text, const struct table *table, FILE *file);
