/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/completion.h"

#include <string.h>

#include "daemon/cli/invocation.h"
#include "daemon/cli/verb.h"
#include "daemon/config_items.h"

/* An option in a completion script. */
struct word {
	const char *name, *help;
	char letter; /* 0: none */
	bool takes_value;
	const char *const *values; /* the only valid values; NULL: any */
};

typedef void (*word_taker)(struct text *text, const char *verb, const struct word *word);

static void options_each(struct text *text, const struct verb *verb, word_taker take)
{
	const struct verb_option *const lists[] = { verb->options, verb->lists ? lister_options : NULL,
						    verb->calls ? caller_options : NULL };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct verb_option *option = lists[i]; option && option->name; option++)
			take(text, verb->name,
			     &(struct word){ option->name, option->help, option->letter, option->hint != NULL,
					     option->values });
	for (const struct config_item *item = config_items; verb->config && item->name; item++)
		if (item->commands & verb->config)
			take(text, verb->name,
			     &(struct word){ item->name, item->help, 0, item->type != CONFIG_FLAG,
					     item->choices });
}

static void values_write(struct text *text, const char *const *values)
{
	for (const char *const *value = values; value && *value; value++)
		text_printf(text, "%s%s", value == values ? "" : " ", *value);
}

/* ---- bash, and zsh through bashcompinit ---- */

static void bash_word(struct text *text, const char *verb, const struct word *word)
{
	(void)verb;
	text_printf(text, " --%s", word->name);
}

/* Writes the completions for the value of an option. Without a list of values there are none, and the shell offers
 * files. */
static void bash_values(struct text *text, const char *verb, const struct word *word)
{
	if (!word->takes_value)
		return;
	text_printf(text, "        %s:--%s", verb, word->name);
	if (word->letter)
		text_printf(text, "|%s:-%c", verb, word->letter);
	text_puts(text, ") words=\"");
	values_write(text, word->values);
	text_puts(text, "\" ;;\n");
}

/* Writes the bash function. It handles "--name=", which bash splits into three words and zsh does not, and offers
 * nothing after "--", where another program's command line begins. Names of jobs come from the daemon, one a line. */
static void bash_write(struct text *text)
{
	const struct verb *verb;

	text_puts(text,
		  "_trainyard() {\n"
		  "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= i jobs= name rest first=\n"
		  "    COMPREPLY=()\n"
		  "    if [ \"$before\" = = ]; then\n"
		  "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
		  "    elif [ \"$word\" = = ]; then\n"
		  "        word=\n"
		  "    elif [[ $word == --*=* ]]; then\n"
		  "        before=${word%%=*} first=${word%%=*}= word=${word#*=}\n"
		  "    fi\n"
		  "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
		  "        if [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
		  "            [ $((i + 1)) -ne \"$COMP_CWORD\" ] || COMPREPLY=($(compgen -c -- \"$word\"))\n"
		  "            return\n"
		  "        fi\n"
		  "    done\n"
		  "    if [ \"$COMP_CWORD\" -eq 1 ] || [ \"$COMP_CWORD:${COMP_WORDS[1]}\" = 2:help ]; then\n"
		  "        words=\"help");
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
		if (verb->summary)
			text_printf(text, " %s", verb->name);
	text_puts(text, "\"\n"
			"    else\n"
			"        case ${COMP_WORDS[1]}:$before in\n");
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
		if (verb->summary)
			options_each(text, verb, bash_values);
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
		if (!verb->summary)
			continue;
		text_printf(text, "        %s:*) words=\"", verb->name);
		values_write(text, verb->word_values);
		text_puts(text, verb->word_values ? " --help" : "--help");
		options_each(text, verb, bash_word);
		text_puts(text, verb->names_jobs ? "\" jobs=1 ;;\n" : "\" ;;\n");
	}
	text_puts(text, "        esac\n"
			"    fi\n"
			"    if [ -n \"$jobs\" ] && [[ $word != -* ]]; then\n"
			"        while read -r name rest; do\n"
			"            [[ $name != \"$word\"* ]] || COMPREPLY+=(\"$name\")\n"
			"        done < <(\"${COMP_WORDS[0]}\" job-names 2>/dev/null)\n"
			"        return\n"
			"    fi\n"
			"    [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
			"    [ -z \"$first\" ] || COMPREPLY=(\"${COMPREPLY[@]/#/$first}\")\n"
			"}\n"
			"complete -o default -F _trainyard trainyard\n");
}

static void zsh_write(struct text *text)
{
	text_puts(text, "(( $+functions[compdef] )) || { autoload -U +X compinit && compinit }\n"
			"autoload -U +X bashcompinit && bashcompinit\n");
	bash_write(text);
}

/* ---- fish ---- */

/* Appends words in single quotes for fish, in which a backslash precedes each quote and each backslash. */
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

/* Verbs are offered as the first word, and after "help". A verb's completions apply if it is the first word. They do not
 * apply after "--", where another program's command line begins: fish completes that as it does without trainyard. */
static const char fish_conditions[] =
	"function __trainyard_first\n"
	"    set -l words (commandline -opc)\n"
	"    test (count $words) -eq 1 -o \"$words[2..]\" = help\n"
	"end\n"
	"function __trainyard_verb\n"
	"    set -l words (commandline -opc)\n"
	"    contains -- -- $words; and return 1\n"
	"    test (count $words) -gt 1 -a \"$words[2]\" = \"$argv[1]\"\n"
	"end\n"
	"function __trainyard_jobs\n"
	"    set -l words (commandline -opc)\n"
	"    $words[1] job-names 2>/dev/null\n"
	"end\n"
	"function __trainyard_behind\n"
	"    contains -- -- (commandline -opc)\n"
	"end\n"
	"function __trainyard_command\n"
	"    set -l words (commandline -opc)\n"
	"    set -e words[1..(contains -i -- -- $words)]\n"
	"    complete -C (string join -- ' ' (string escape -- $words) (commandline -ct))\n"
	"end\n"
	"complete -c trainyard -n __trainyard_behind -x -a '(__trainyard_command)'\n";

static void fish_word(struct text *text, const char *verb, const struct word *word)
{
	text_printf(text, "complete -c trainyard -n '__trainyard_verb %s' -l %s", verb, word->name);
	if (word->letter)
		text_printf(text, " -s %c", word->letter);
	if (word->values) {
		text_puts(text, " -x -a '");
		values_write(text, word->values);
		text_putc(text, '\'');
	} else if (word->takes_value) {
		text_puts(text, " -r");
	}
	text_puts(text, " -d ");
	fish_quote(text, word->help);
	text_putc(text, '\n');
}

static void fish_write(struct text *text)
{
	const struct verb *verb;

	text_puts(text, fish_conditions);
	text_puts(text, "complete -c trainyard -n __trainyard_first -f -a help -d 'help of a command'\n");
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
		if (!verb->summary)
			continue;
		text_printf(text, "complete -c trainyard -n __trainyard_first -f -a %s -d ", verb->name);
		fish_quote(text, verb->summary);
		text_putc(text, '\n');
		if (verb->word_values) {
			text_printf(text, "complete -c trainyard -n '__trainyard_verb %s' -f -a '",
				    verb->name);
			values_write(text, verb->word_values);
			text_puts(text, "'\n");
		}
		if (verb->names_jobs)
			text_printf(text, "complete -c trainyard -n '__trainyard_verb %s' -f -a '(__trainyard_jobs)'\n",
				    verb->name);
		options_each(text, verb, fish_word);
	}
}

void completion_write(struct text *text, const char *shell)
{
	static const struct {
		const char *name;
		void (*write)(struct text *text);
	} shells[] = { { "bash", bash_write }, { "zsh", zsh_write }, { "fish", fish_write } };
	size_t i = 0;

	/* The last shell needs no comparison: the table of verbs refuses other words. */
	while (i + 1 < sizeof(shells) / sizeof(shells[0]) && strcmp(shells[i].name, shell) != 0)
		i++;
	shells[i].write(text);
}
