/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/help_text.h"

#include <string.h>

enum { WIDTH = 80, NAME_AT = 2, HELP_AT = 29 };

/* Appends the words in the first @length bytes of @reported, wrapped to WIDTH; further lines are indented by @indent
 * columns. *column is the current column. */
static void words_write(struct text *text, const char *reported, size_t length, unsigned indent,
			unsigned *column)
{
	const char *const end = reported + length;

	while (reported < end) {
		const size_t gap = strspn(reported, " \n");
		const char *word = reported + gap;
		size_t word_length = 0;

		if (word >= end)
			break;
		while (word + word_length < end && !strchr(" \n", word[word_length]))
			word_length++;
		if (*column > indent && *column + 1 + word_length > WIDTH) {
			text_printf(text, "\n%*s", (int)indent, "");
			*column = indent;
		}
		text_puts(text, *column > indent ? " " : "");
		*column += (unsigned)word_length + (*column > indent);
		text_append(text, word, word_length);
		reported = word + word_length;
	}
}

void help_entry_write(struct text *text, const char *name, const char *help)
{
	const unsigned length = (unsigned)strlen(name);
	unsigned column = HELP_AT;

	text_printf(text, "%*s%s", NAME_AT, "", name);
	if (NAME_AT + length + 1 > HELP_AT)
		text_printf(text, "\n%*s", HELP_AT, "");
	else
		text_printf(text, "%*s", (int)(HELP_AT - NAME_AT - length), "");
	words_write(text, help, strlen(help), HELP_AT, &column);
	text_putc(text, '\n');
}

void help_paragraphs_write(struct text *text, const char *paragraphs)
{
	while (*paragraphs) {
		size_t length = strcspn(paragraphs, "\n");
		unsigned column = 0;

		if (*paragraphs == ' ' || *paragraphs == '\n') {
			text_append(text, paragraphs, length);
		} else {
			while (paragraphs[length] && paragraphs[length + 1] &&
			       !strchr(" \n", paragraphs[length + 1]))
				length += 1 + strcspn(paragraphs + length + 1, "\n");
			words_write(text, paragraphs, length, 0, &column);
		}
		text_putc(text, '\n');
		paragraphs += length + (paragraphs[length] == '\n');
	}
}
