/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum { COLUMNS_MAX = 16, GAP = 2, NOTES_LEAST = 32 };

void table_deinit(struct table *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i].text);
	free(table->cells);
}

void table_put(struct table *table, const char *reported, enum style style)
{
	struct text text AUTO_TEXT = { 0 };

	text_one_line(&text, reported && *reported ? reported : "-", 0);
	if (table->cell_count == table->cell_size) {
		table->cell_size = table->cell_size ? 2 * table->cell_size : 64;
		table->cells = memory_resize(table->cells, table->cell_size, sizeof(*table->cells));
	}
	table->cells[table->cell_count++] = (struct table_cell){ text_take(&text), style };
}

/* How the columns are laid out: a width of 0 leaves one out. */
struct layout {
	size_t count;
	unsigned widths[COLUMNS_MAX];
	bool notes_below;
	const char *sequences[STYLE_BOLD + 1]; /* escape sequences by enum style; "" if the file takes none */
};

static bool is_empty(const struct table *table, const struct layout *layout, size_t column)
{
	for (size_t i = column; i < table->cell_count; i += layout->count)
		if (strcmp(table->cells[i].text, "-") != 0)
			return false;
	return true;
}

static unsigned total_width(const struct table *table, const struct layout *layout)
{
	unsigned total = 0;

	for (size_t i = 0; i < layout->count; i++)
		if (layout->widths[i] && !table->columns[i].notes)
			total += layout->widths[i] + GAP;
	return total ? total - GAP : 0;
}

static void widths_measure(const struct table *table, struct layout *layout)
{
	while (layout->count < COLUMNS_MAX && table->columns[layout->count].title)
		layout->count++;
	for (size_t i = 0; i < layout->count; i++) {
		const struct table_column *column = &table->columns[i];

		if ((column->optional || column->notes) && is_empty(table, layout, i))
			continue;
		layout->widths[i] = (unsigned)strlen(column->title);
		for (size_t cell = i; cell < table->cell_count; cell += layout->count) {
			const unsigned wide = text_columns(table->cells[cell].text);

			if (wide > layout->widths[i])
				layout->widths[i] = wide;
		}
	}
}

/* Reduces the table to @width, in this order: shrinks the columns that may shrink, leaves out optional columns, then
 * leaves out others except the first. In each step the last column is first. */
static void widths_fit(const struct table *table, struct layout *layout, unsigned width)
{
	for (size_t i = layout->count; i-- > 0 && total_width(table, layout) > width;) {
		const unsigned excess = total_width(table, layout) - width;
		const unsigned least = table->columns[i].least;

		if (least && layout->widths[i] > least && !table->columns[i].notes)
			layout->widths[i] =
				layout->widths[i] > least + excess ? layout->widths[i] - excess : least;
	}
	for (int optional = 1; optional >= 0; optional--)
		for (size_t i = layout->count; i-- > 1 && total_width(table, layout) > width;)
			if (table->columns[i].optional == optional && !table->columns[i].notes)
				layout->widths[i] = 0;
	for (size_t i = 0; i < layout->count; i++)
		if (table->columns[i].notes && layout->widths[i]) {
			const unsigned used = total_width(table, layout) + GAP;

			layout->notes_below = used + NOTES_LEAST > width && used + layout->widths[i] > width;
			if (used + layout->widths[i] > width)
				layout->widths[i] = width - (layout->notes_below ? 2 * GAP : used);
		}
}

static void cell_write(struct text *text, const struct layout *layout, const struct table_column *column,
		       unsigned width, bool last, const struct table_cell *cell)
{
	struct text shown AUTO_TEXT = { 0 };
	unsigned length, pad;

	text_one_line(&shown, cell->text, width);
	text_puts(&shown, "");
	length = text_columns(shown.data);
	pad = length < width ? width - length : 0;
	if (column->right)
		text_printf(text, "%*s", (int)pad, "");
	text_puts(text, cell->style ? layout->sequences[cell->style] : "");
	text_puts(text, shown.data);
	text_puts(text, cell->style ? layout->sequences[STYLE_NONE] : "");
	if (!last)
		text_printf(text, "%*s", (int)((column->right ? 0 : pad) + GAP), "");
}

static void row_write(struct text *text, const struct table *table, const struct layout *layout,
		      const struct table_cell *cells)
{
	size_t last = layout->count - 1;

	while (last && (!layout->widths[last] || (layout->notes_below && table->columns[last].notes)))
		last--;
	for (size_t i = 0; i <= last; i++)
		if (layout->widths[i])
			cell_write(text, layout, &table->columns[i], layout->widths[i], i == last, &cells[i]);
	text_putc(text, '\n');
	for (size_t i = last + 1; i < layout->count; i++)
		if (layout->widths[i] && strcmp(cells[i].text, "-") != 0) {
			text_printf(text, "%*s", 2 * GAP, "");
			cell_write(text, layout, &table->columns[i], layout->widths[i], true, &cells[i]);
			text_putc(text, '\n');
		}
}

void table_write(struct text *text, const struct table *table, FILE *file)
{
	struct layout layout = { 0 };
	struct table titles AUTO_TABLE = { 0 };
	const unsigned width = terminal_width(file);

	/* Look up each style only once, because terminal_style() makes system calls. */
	for (enum style style = STYLE_NONE; style <= STYLE_BOLD; style++)
		layout.sequences[style] = terminal_style(file, style);
	widths_measure(table, &layout);
	if (width)
		widths_fit(table, &layout, width);
	/* There is only one line of titles, so a column of notes that is printed below the rows has no title. */
	for (size_t i = 0; i < layout.count; i++)
		table_put(&titles,
			  layout.notes_below && table->columns[i].notes ? "-" : table->columns[i].title,
			  STYLE_DIM);
	row_write(text, table, &layout, titles.cells);
	for (size_t row = 0; row + layout.count <= table->cell_count; row += layout.count)
		row_write(text, table, &layout, &table->cells[row]);
}
