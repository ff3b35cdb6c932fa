/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/completion.h"

#include <string.h>

#include "daemon/cli/invocation.h"
#include "daemon/cli/verb.h"
#include "daemon/config_items.h"

/* One word that may be written next. */
typedef void (*word_taker)(struct text *text, const char *verb, const char *word, const char *help);

static void options_each(struct text *text, const struct verb *verb, word_taker take)
{
	const struct verb_option *const lists[] = { verb->options, verb->lists ? lister_options : NULL,
						    verb->calls ? caller_options : NULL };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct verb_option *option = lists[i]; option && option->name; option++)
			take(text, verb->name, option->name, option->help);
	for (const struct config_item *item = config_items; verb->config && item->name; item++)
		if (item->commands & verb->config)
			take(text, verb->name, item->name, item->help);
}

/* ---- bash, and zsh by its bashcompinit ---- */

static void bash_word(struct text *text, const char *verb, const char *word, const char *help)
{
	(void)verb, (void)help;
	text_printf(text, " --%s", word);
}

static void bash_write(struct text *text)
{
	text_puts(text, "_trainyard() {\n"
			"    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
			"    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
			"        words=\"");
	for (const struct verb *verb = verbs; verb->name; verb++)
		if (verb->summary)
			text_printf(text, "%s%s", verb == verbs ? "" : " ", verb->name);
	text_puts(text, "\"\n"
			"    else\n"
			"        case ${COMP_WORDS[1]} in\n");
	for (const struct verb *verb = verbs; verb->name; verb++) {
		if (!verb->summary)
			continue;
		text_printf(text, "        %s) words=\"--help", verb->name);
		options_each(text, verb, bash_word);
		text_puts(text, "\" ;;\n");
	}
	text_puts(text, "        esac\n"
			"    fi\n"
			"    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
			"}\n"
			"complete -o default -F _trainyard trainyard\n");
}

static void zsh_write(struct text *text)
{
	text_puts(text, "autoload -U +X bashcompinit && bashcompinit\n");
	bash_write(text);
}

/* ---- fish ---- */

/* In single quotes a backslash stands before a quote and before itself. */
static void fish_quote(struct text *text, const char *words)
{
	text_putc(text, '\'');
	for (; *words; words++) {
		if (*words == '\'' || *words == '\\')
			text_putc(text, '\\');
		text_putc(text, *words);
	}
	text_putc(text, '\'');
}

static void fish_word(struct text *text, const char *verb, const char *word, const char *help)
{
	text_printf(text, "complete -c trainyard -n '__fish_seen_subcommand_from %s' -l %s -d ", verb, word);
	fish_quote(text, help);
	text_putc(text, '\n');
}

static void fish_write(struct text *text)
{
	for (const struct verb *verb = verbs; verb->name; verb++) {
		if (!verb->summary)
			continue;
		text_printf(text, "complete -c trainyard -n __fish_use_subcommand -f -a %s -d ", verb->name);
		fish_quote(text, verb->summary);
		text_putc(text, '\n');
		options_each(text, verb, fish_word);
	}
}

enum status completion_write(struct text *text, const char *shell, struct error *err)
{
	static const struct {
		const char *name;
		void (*write)(struct text *text);
	} shells[] = { { "bash", bash_write }, { "zsh", zsh_write }, { "fish", fish_write } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, shell) == 0) {
			shells[i].write(text);
			return STATUS_OK;
		}
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not one of bash, zsh, fish", shell);
}
