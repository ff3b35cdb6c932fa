/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables of options, commands and methods of trainyard's own as one JSON object, for
 * deploy/build-aux/reference.py. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/emulator/jobs.h"
#include "api/message/message.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/verb.h"
#include "daemon/config_items.h"

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *texts(const char *const *values)
{
	json_t *array = json_array();

	for (; values && *values; values++)
		json_array_append_new(array, json_string(*values));
	return array;
}

static json_t *options_of_serve(void)
{
	json_t *array = json_array();

	for (const struct config_item *item = config_items; item->name; item++)
		json_array_append_new(
			array,
			json_pack("{ss, so, so, so, so, ss, so, so, so, so, si}", "name", item->name, "type",
				  json_integer(item->type), "hint", text_or_null(item->placeholder),
				  "default", text_or_null(item->otherwise), "default_words",
				  text_or_null(item->default_words), "help", item->help, "detail",
				  text_or_null(item->detail), "page", text_or_null(item->page), "group",
				  text_or_null(item->group), "choices", texts(item->choices), "commands",
				  (int)item->commands));
	return array;
}

static json_t *options_of_verb(const struct verb_option *options)
{
	json_t *array = json_array();

	for (; options && options->name; options++) {
		const char letter[] = { options->letter, '\0' };

		json_array_append_new(array, json_pack("{ss, ss, so, ss, sb, so}", "name", options->name, "letter",
						       letter, "hint", text_or_null(options->hint), "help",
						       options->help, "repeats", (int)options->repeats, "values",
						       texts(options->values)));
	}
	return array;
}

static json_t *groups_of_verbs(void)
{
	json_t *groups = json_array();

	for (const struct verb_group *group = verb_groups; group->title; group++) {
		json_t *verbs = json_array();

		for (const struct verb *verb = group->verbs; verb->name; verb++)
			if (verb->summary)
				json_array_append_new(
					verbs, json_pack("{ss, ss, ss, so, so, sb, sb, si}", "name", verb->name,
							 "words", verb->words, "summary", verb->summary, "detail",
							 text_or_null(verb->detail), "options",
							 options_of_verb(verb->options), "calls", (int)verb->calls,
							 "lists", (int)verb->lists, "config", (int)verb->config));
		json_array_append_new(groups, json_pack("{ss, so}", "title", group->title, "verbs", verbs));
	}
	return groups;
}

static json_t *codes_of_exit(void)
{
	json_t *array = json_array();

	for (const struct exit_row *row = exit_rows; row->meaning; row++)
		json_array_append_new(array, json_pack("{si, ss}", "code", row->code, "meaning", row->meaning));
	return array;
}

static json_t *parameters_of(const struct message *query)
{
	json_t *array = json_array();

	for (const struct field *field = query ? query->fields : NULL; field && field->name; field++)
		json_array_append_new(array, json_pack("{ss, ss}", "name", field->name, "help", field->help));
	return array;
}

static json_t *methods_of(const struct route *routes)
{
	json_t *array = json_array();

	for (; routes->method; routes++)
		if (routes->doc)
			json_array_append_new(array, json_pack("{ss, ss, ss, so}", "method", routes->method, "path",
							       routes->path, "help", routes->doc->help, "parameters",
							       parameters_of(routes->query)));
	return array;
}

int main(void)
{
	json_t *tables = json_pack("{so, so, so, so, so, so, ss}", "options", options_of_serve(), "groups", groups_of_verbs(),
				   "caller_options", options_of_verb(caller_options), "lister_options",
				   options_of_verb(lister_options), "exits", codes_of_exit(), "methods",
				   methods_of(jobs_routes), "job_words", JOB_WORDS_DETAIL);
	const bool printed = tables && !json_dumpf(tables, stdout, JSON_INDENT(1)) && putchar('\n') != EOF;

	json_decref(tables);
	return printed ? EXIT_SUCCESS : EXIT_FAILURE;
}
