/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/ask.h"

#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/config_listen.h"
#include "daemon/main.h"

int ask_open(const struct invocation *invocation, struct client **ret_client)
{
	struct error err AUTO_ERROR = { 0 };
	struct text verb AUTO_TEXT = { 0 };

	if (!client_of(invocation, ret_client, &err))
		return EXIT_GOOD;
	text_printf(&verb, "%s ", invocation->verb->name);
	return main_usage_error(verb.data, &err);
}

int ask_storage_open(const struct invocation *invocation, struct client **ret_client)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *health = NULL;
	const char *endpoint;
	int exit_code = ask_open(invocation, &client);

	if (exit_code)
		return exit_code;
	/* A daemon that has no /healthz is another emulator, which serves storage itself. */
	if (client_call(client, "GET", "/healthz", NULL, &health, &err) && client_is_unreached(client))
		return ask_failure(client, &err);
	endpoint = json_text_at(json_object_get(health, "storage"), "endpoint");
	if (!endpoint)
		*ret_client = TAKE(client);
	else if (client_open(endpoint, NULL, ret_client, &err))
		return ask_failure(client, &err);
	return EXIT_GOOD;
}

/* Prints the error line by line. Control characters are replaced, because the daemon's text may contain a client's. */
int ask_failure(const struct client *client, const struct error *err)
{
	struct text reported AUTO_TEXT = { 0 };

	for (const char *line = main_words(err); *line;) {
		const size_t length = strcspn(line, "\n");
		struct text one AUTO_TEXT = { 0 };

		text_append(&one, line, length);
		text_puts(&reported, reported.length ? "\n" : "");
		text_one_line(&reported, one.data, 0);
		line += length + (line[length] == '\n');
	}
	error_line_print(reported.data ? reported.data : "");
	return client_is_unreached(client) ? EXIT_UNREACHED : EXIT_FAILED;
}

int json_print(const json_t *answer)
{
	struct text text AUTO_TEXT = { 0 };

	json_write(&text, answer);
	text_putc(&text, '\n');
	return main_output(&text);
}

void job_path_write(struct text *text, const char *reference, const char *behind)
{
	text_puts(text, "/_trainyard/v1/jobs/");
	text_percent(text, reference, URL_UNRESERVED);
	text_puts(text, behind);
}

int ask_job(const struct invocation *invocation, struct client *client, const char *reference,
	    json_t **ret_job)
{
	struct error err AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };
	const char *project = invocation_value(invocation, "project");

	job_path_write(&path, reference, project ? "?project=" : "");
	text_percent(&path, project ? project : "", URL_UNRESERVED);
	if (client_call(client, "GET", path.data, NULL, ret_job, &err))
		return ask_failure(client, &err);
	return EXIT_GOOD;
}

void job_title_write(struct text *text, const json_t *job)
{
	const char *name = json_text_at(job, "displayName"), *id = json_text_at(job, "id");

	if (name)
		text_one_line(text, name, 64);
	text_printf(text, name ? " (%s)" : "%s", id ? id : "");
}

void console_address_write(struct text *text, const struct client *client, const json_t *job)
{
	const char *project = json_text_at(job, "project"), *id = json_text_at(job, "id");

	if (config_listen_path(client_endpoint(client)))
		return;
	text_printf(text, "%s%s", client_endpoint(client), CONSOLE_PATH);
	if (!job)
		return;
	text_puts(text, "jobs/");
	text_percent(text, project ? project : "-", URL_UNRESERVED);
	text_putc(text, '/');
	text_percent(text, id ? id : "", URL_UNRESERVED);
}

int64_t ask_now(struct client *client)
{
	AUTO(json) json_t *clock = NULL;
	const int64_t now_us = clock_wall_us(&system_clock);

	return client_call(client, "GET", "/_trainyard/v1/clock", NULL, &clock, NULL)
		       ? now_us
		       : time_read(json_text_at(clock, "now"), now_us);
}

void clock_write(struct text *text, const json_t *clock)
{
	const char *now = json_text_at(clock, "now"), *offset = json_text_at(clock, "offset");
	int64_t ahead_us = 0;

	if (!now)
		return;
	moment_append(text, now);
	if (!offset || !duration_parse(offset, &ahead_us) || ahead_us <= 0)
		return;
	text_puts(text, ", ");
	duration_append(text, ahead_us);
	text_puts(text, " ahead");
}

bool state_is_final(const char *state)
{
	return strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "FAILED") == 0 ||
	       strcmp(state, "CANCELLED") == 0;
}

int state_exit(const char *state)
{
	if (strcmp(state, "SUCCEEDED") == 0)
		return EXIT_GOOD;
	return strcmp(state, "CANCELLED") == 0 ? EXIT_CANCELLED : EXIT_FAILED;
}
