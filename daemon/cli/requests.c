/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/requests.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/json_lines.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

enum { HTTP_REFUSED = 400, US_PER_MS = 1000, CLOCK_SHOWN = 16, AGENT_SHOWN = 40, INDENT = 14, PATH_AT = 36, PATH_LEAST = 24 };

enum form { FORM_TABLE, FORM_JSON, FORM_NAME };

static void time_write(struct text *text, const char *time)
{
	const int64_t us = time_read(time, 0);
	const time_t s = us / 1000000;
	struct tm local;
	char reported[CLOCK_SHOWN];

	localtime_r(&s, &local);
	strftime(reported, sizeof(reported), "%H:%M:%S", &local);
	text_printf(text, "%s.%03d", reported, (int)(us / US_PER_MS % 1000));
}

static void duration_write(struct text *text, const char *duration)
{
	int64_t us = 0;

	if (duration)
		duration_parse(duration, &us);
	text_printf(text, "%6lld ms", (long long)((us + US_PER_MS / 2) / US_PER_MS));
}

static void status_write(struct text *text, int64_t status)
{
	const char *style =
		terminal_style(stdout, !status || status >= HTTP_REFUSED ? STYLE_BAD : STYLE_GOOD);

	text_puts(text, style);
	if (status)
		text_printf(text, "%lld", (long long)status);
	else
		text_puts(text, "cut");
	text_puts(text, terminal_style(stdout, STYLE_NONE));
}

/* Appends the path, and the client's name if both fit the terminal. On a narrow terminal the path has a line of its own,
 * and is cut if necessary. */
static void target_write(struct text *text, const char *path, const char *agent)
{
	const unsigned width = terminal_width(stdout);
	const bool below = width && width < PATH_AT + PATH_LEAST;
	const unsigned room = !width ? 0 : below ? width - INDENT : width - PATH_AT;
	struct text client AUTO_TEXT = { 0 };

	if (below)
		text_printf(text, "\n%*s", INDENT, "");
	text_one_line(text, path, room);
	text_one_line(&client, agent, AGENT_SHOWN);
	if (!client.length || (width && text_columns(path) + 2 + text_columns(client.data) > room))
		return;
	text_printf(text, "  %s%s%s", terminal_style(stdout, STYLE_DIM), client.data,
		    terminal_style(stdout, STYLE_NONE));
}

/* Prints "14:02:11.120  200      3 ms  GET     /v1/projects/p/jobs  curl/7.88", and below it the reason of a refusal. */
static void line_print(const json_t *line)
{
	const char *method = json_text_at(line, "method"), *path = json_text_at(line, "path");
	const char *agent = json_text_at(line, "userAgent"), *reason = json_text_at(line, "reason");
	struct text reported AUTO_TEXT = { 0 }, one AUTO_TEXT = { 0 };

	time_write(&reported, json_text_at(line, "time"));
	text_puts(&reported, "  ");
	status_write(&reported, json_int_at(line, "status", 0));
	duration_write(&reported, json_text_at(line, "duration"));
	text_printf(&reported, "  %-6s  ", method ? method : "");
	target_write(&reported, path ? path : "", agent ? agent : "");
	if (reason) {
		text_one_line(&one, reason, 0);
		text_printf(&reported, "\n%*s", INDENT, "");
		text_wrap(&reported, one.data, INDENT);
	}
	printf("%s\n", reported.data);
}

static bool line_take(void *arg, const json_t *line)
{
	const enum form *form = arg;
	const char *api = json_text_at(line, "api");
	struct text text AUTO_TEXT = { 0 };

	switch (*form) {
	case FORM_TABLE:
		line_print(line);
		break;
	case FORM_JSON:
		json_write(&text, line);
		printf("%s\n", text.data);
		break;
	case FORM_NAME:
		printf("%s\n", api ? api : "-");
		break;
	}
	return fflush(stdout) == 0;
}

int requests_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	enum form form = invocation_prints(invocation, "json")	 ? FORM_JSON
			 : invocation_prints(invocation, "name") ? FORM_NAME
								 : FORM_TABLE;
	struct json_lines lines AUTO_JSON_LINES = { .take = line_take, .arg = &form };
	struct text path AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	int64_t tail = -1;
	int exit_code;

	if (invocation_number(invocation, "tail", 0, &tail, &err))
		return main_usage_error("requests ", &err);
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	text_printf(&path, "/_trainyard/v1/requests?follow=%s&failed=%s",
		    invocation_flag(invocation, "follow") ? "true" : "false",
		    invocation_flag(invocation, "failed") ? "true" : "false");
	if (tail >= 0)
		text_printf(&path, "&tail=%lld", (long long)tail);
	if (client_read(client, path.data, json_lines_take, &lines, &err))
		return ask_failure(client, &err);
	return lines.broken ? EXIT_FAILED : main_printed();
}
