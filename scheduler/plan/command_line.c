/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/command_line.h"

#include "daemon/base/text.h"

static void word_put(struct text *text, const char *word)
{
	text_putc(text, ' ');
	text_shell_word(text, word);
}

static void words_put(struct text *text, const json_t *words, size_t first)
{
	for (size_t i = first; i < json_array_size(words) && text->length < COMMAND_LINE_MAX; i++)
		word_put(text, json_string_value(json_array_get(words, i)));
}

/* Cuts the text after COMMAND_LINE_MAX bytes, never inside a UTF-8 character, and appends an ellipsis. */
static void text_cut(struct text *text)
{
	size_t length = COMMAND_LINE_MAX;

	if (text->length <= length)
		return;
	while ((text->data[length] & 0xc0) == 0x80)
		length--;
	text->length = length;
	text_puts(text, "…");
}

char *command_line_text(const char *image, const json_t *command, const json_t *args)
{
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, "docker run");
	/* docker's --entrypoint takes one word only. The command's other words stand before @args; words after the
	 * image's name replace the image's own arguments in any case. */
	if (json_array_size(command)) {
		text_puts(&text, " --entrypoint");
		word_put(&text, json_string_value(json_array_get(command, 0)));
	}
	word_put(&text, image);
	words_put(&text, command, 1);
	words_put(&text, args, 0);
	text_cut(&text);
	return text_take(&text);
}
