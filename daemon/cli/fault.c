/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/amount.h"
#include "daemon/cli/fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/table.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

#define FAULTS "/_trainyard/v1/faults"

/* ---- trainyard fault ---- */

/* Converts a value of a rule to JSON: "exitCode=137" is a number, "job=137" a text. */
static json_t *value_read(const char *member, const char *value)
{
	static const char *const texts[] = { "project", "job", "role", "pool", "logPattern", "method" };
	json_t *number;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i], member) == 0)
			return json_string(value);
	number = json_loads(value, JSON_DECODE_ANY, NULL);
	if (json_is_number(number))
		return number;
	json_decref(number);
	return json_string(value);
}

static enum status rule_read(const char *const *words, json_t *rule, struct error *err)
{
	if (!*words)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "which fault? fault add KIND [MEMBER=VALUE]...");
	json_object_set_new(rule, "fault", json_string(*words));
	while (*++words) {
		const size_t length = strcspn(*words, "=");
		AUTO(string) char *member = memory_strndup(*words, length);

		if (!length || !(*words)[length])
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not MEMBER=VALUE",
					 *words);
		json_object_set_new(rule, member, value_read(member, *words + length + 1));
	}
	return STATUS_OK;
}

/* Appends the members of a rule that have no column of their own: "job=my_*, role=worker". */
static void rule_write(struct text *text, const json_t *rule)
{
	static const char *const reported[] = { "id", "fault", "hits", "createTime", "lastHitTime", NULL };
	const char *member;
	const json_t *value;

	json_object_foreach((json_t *)rule, member, value) {
		AUTO(string) char *json = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		size_t i = 0;

		while (reported[i] && strcmp(reported[i], member) != 0)
			i++;
		if (!reported[i])
			text_printf(text, "%s%s=%s", text->length ? ", " : "", member,
				    json_is_string(value) ? json_string_value(value) : json);
	}
}

static int faults_print(const struct invocation *invocation, struct client *client, const json_t *answer)
{
	static const struct table_column columns[] = {
		{ .title = "ID", .right = true },   { .title = "FAULT" },
		{ .title = "HITS", .right = true }, { .title = "LAST HIT", .right = true },
		{ .title = "RULE", .notes = true }, { .title = NULL },
	};
	struct table table AUTO_TABLE = { .columns = columns };
	struct text text AUTO_TEXT = { 0 };
	const int64_t now_us = ask_now(client);
	const json_t *rule;
	size_t index;

	if (invocation_prints(invocation, "json"))
		return json_print(answer);
	json_array_foreach(json_object_get(answer, "faults"), index, rule) {
		struct text said AUTO_TEXT = { 0 }, ago AUTO_TEXT = { 0 };

		if (invocation_prints(invocation, "name")) {
			text_printf(&text, "%s\n", json_text_at(rule, "id"));
			continue;
		}
		rule_write(&said, rule);
		age_append(&ago, json_text_at(rule, "lastHitTime"), now_us);
		table_put(&table, json_text_at(rule, "id"), STYLE_NONE);
		table_put(&table, json_text_at(rule, "fault"), STYLE_NONE);
		table_put(&table, json_text_at(rule, "hits"), STYLE_NONE);
		table_put(&table, ago.data, STYLE_NONE);
		table_put(&table, said.data, STYLE_NONE);
	}
	if (table.cell_count)
		table_write(&text, &table, stdout);
	else if (terminal_width(stdout) && !invocation_prints(invocation, "name"))
		text_puts(&text, "There are no rules.\n");
	return main_output(&text);
}

static int fault_add(const struct invocation *invocation, struct client *client)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *rule = json_object();
	AUTO(json) json_t *answer = NULL;

	if (rule_read(invocation->words + 1, rule, &err))
		return main_usage_error("fault ", &err);
	if (client_call(client, "POST", FAULTS, rule, &answer, &err))
		return ask_failure(client, &err);
	if (invocation_prints(invocation, "json"))
		return json_print(answer);
	printf("%s\n", json_text_at(answer, "id"));
	return main_printed();
}

static int fault_list(const struct invocation *invocation, struct client *client)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *answer = NULL;

	if (invocation->word_count > 1) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "unexpected argument \"%s\"", invocation->words[1]);
		return main_usage_error("fault ", &err);
	}
	if (client_call(client, "GET", FAULTS, NULL, &answer, &err))
		return ask_failure(client, &err);
	return faults_print(invocation, client, answer);
}

static int fault_remove(const struct invocation *invocation, struct client *client)
{
	struct error err AUTO_ERROR = { 0 };

	if (!invocation->words[1]) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL,
			  "which fault? fault rm ID..., or fault rm all");
		return main_usage_error("fault ", &err);
	}
	for (const char *const *id = invocation->words + 1; *id; id++) {
		struct text path AUTO_TEXT = { 0 };

		text_puts(&path, strcmp(*id, "all") == 0 ? FAULTS : FAULTS "/");
		text_percent(&path, strcmp(*id, "all") == 0 ? "" : *id, URL_UNRESERVED);
		if (client_call(client, "DELETE", path.data, NULL, NULL, &err))
			return ask_failure(client, &err);
	}
	return EXIT_GOOD;
}

int fault_main(struct invocation *invocation)
{
	static const struct {
		const char *word;
		int (*run)(const struct invocation *invocation, struct client *client);
	} deeds[] = { { "add", fault_add }, { "rm", fault_remove }, { "ls", fault_list } };
	AUTO(client) struct client *client = NULL;
	const char *word = invocation->words[0] ? invocation->words[0] : "ls";
	const int exit_code = ask_open(invocation, &client);
	size_t i = 0;

	if (exit_code)
		return exit_code;
	/* The last word needs no comparison: the table of verbs refuses other words. */
	while (i + 1 < sizeof(deeds) / sizeof(deeds[0]) && strcmp(deeds[i].word, word) != 0)
		i++;
	return deeds[i].run(invocation, client);
}

/* ---- clock ---- */

/* Reads the words "advance TIME" into *ret_step. */
static enum status advance_read(const struct invocation *invocation, json_t **ret_step, struct error *err)
{
	int64_t us = 0;

	if (!invocation->words[1])
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "by how much? clock advance TIME, as in clock advance 2h");
	if (!duration_read(invocation->words[1], &us) || us <= 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "\"%s\" is not a duration such as 90s, 2h or 7d", invocation->words[1]);
	*ret_step = json_pack("{s:o}", "advance",
			      json_sprintf("%" PRId64 ".%06" PRId64 "s", us / 1000000, us % 1000000));
	return STATUS_OK;
}

int clock_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *step = NULL;
	AUTO(json) json_t *clock = NULL;
	struct text text AUTO_TEXT = { 0 }, wrapped AUTO_TEXT = { 0 };
	int exit_code;

	if (invocation->words[0] && advance_read(invocation, &step, &err))
		return main_usage_error("clock ", &err);
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	if (client_call(client, step ? "POST" : "GET", "/_trainyard/v1/clock", step, &clock, &err))
		return ask_failure(client, &err);
	if (invocation_prints(invocation, "json"))
		return json_print(clock);
	if (invocation_prints(invocation, "name")) {
		text_printf(&text, "%s\n", json_text_at(clock, "now"));
		return main_output(&text);
	}
	clock_write(&text, clock);
	text_puts(&text, json_true_at(clock, "steppable") ? "" : " (not steppable: serve --clock steppable)");
	text_wrap(&wrapped, text.data ? text.data : "", 0);
	text_putc(&wrapped, '\n');
	return main_output(&wrapped);
}
