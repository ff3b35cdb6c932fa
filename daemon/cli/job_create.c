/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_create.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_log.h"
#include "daemon/cli/job_wait.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

enum { STEM_BYTES = 80 };

char *submit_project(const struct invocation *invocation)
{
	static const char *const none[] = { NULL };
	const char *given = invocation_value(invocation, "project");
	const char *variable = getenv("CLOUDSDK_CORE_PROJECT");
	struct config config AUTO_CONFIG = { 0 };

	if (given || (variable && *variable))
		return memory_strdup(given ? given : variable);
	return config_read(&config, CONFIG_ENV, none, NULL) ? memory_strdup("local-project")
							    : TAKE(config.project);
}

const char *submit_region(const struct invocation *invocation)
{
	const char *given = invocation_value(invocation, "region");

	return given ? given : "us-central1";
}

/* The length of @name without a time that name_draw() has appended, at most STEM_BYTES, and without a character that
 * this limit would cut. */
static size_t stem_length(const char *name)
{
	static const char form[] = "_00000000_000000_000000";
	size_t length = strlen(name), at = 0;

	if (length > strlen(form)) {
		const char *end = name + length - strlen(form);

		while (form[at] && (form[at] == '_' ? end[at] == '_' : isdigit((unsigned char)end[at])))
			at++;
		length -= form[at] ? 0 : strlen(form);
	}
	for (length = length < STEM_BYTES ? length : STEM_BYTES; (name[length] & 0xc0) == 0x80; length--)
		;
	return length;
}

char *name_draw(const char *stem)
{
	struct timespec now;
	struct tm local;
	char stamp[32];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &local);
	return memory_printf("%.*s_%s_%06ld", (int)stem_length(stem), stem, stamp, now.tv_nsec / 1000);
}

void name_restrict(char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name))
			*name = '_';
}

static int created_ask(struct client *client, const char *id, const char *project, json_t **ret_job)
{
	struct error err AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };

	job_path_write(&path, id, "?project=");
	text_percent(&path, project, URL_UNRESERVED);
	return client_call(client, "GET", path.data, NULL, ret_job, &err) ? ask_failure(client, &err)
									  : EXIT_GOOD;
}

int job_submit(struct client *client, const struct submission *submission, json_t **ret_job)
{
	struct error err AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };
	AUTO(json) json_t *created = NULL;
	const char *name, *id;

	text_puts(&path, "/v1/projects/");
	text_percent(&path, submission->project, URL_UNRESERVED);
	if (strcmp(submission->collection, "jobs") != 0) {
		text_puts(&path, "/locations/");
		text_percent(&path, submission->region, URL_UNRESERVED);
	}
	text_printf(&path, "/%s", submission->collection);
	if (client_call(client, "POST", path.data, submission->body, &created, &err))
		return ask_failure(client, &err) == EXIT_UNREACHED ? EXIT_UNREACHED : EXIT_NOT_STARTED;
	name = json_text_at(created, "name");
	id = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : json_text_at(created, "jobId");
	return created_ask(client, id ? id : "@last", submission->project, ret_job);
}

int job_attend(const struct invocation *invocation, struct client *client, const json_t *job)
{
	const char *id = json_text_at(job, "id"), *project = json_text_at(job, "project"), *state;
	struct text line AUTO_TEXT = { 0 };
	AUTO(json) json_t *ended = NULL;
	int exit_code;

	if (invocation_flag(invocation, "detach")) {
		text_printf(&line, "%s\n", id);
		return main_output(&line);
	}
	job_title_write(&line, job);
	sentence_print(stderr, "%s is submitted", line.data);
	exit_code = log_print(client, job, &(struct log_options){ .invocation = invocation, .follow = true });
	if (!exit_code)
		exit_code = created_ask(client, id, project, &ended);
	if (exit_code)
		return exit_code;
	json_object_del(ended, "reason"); /* the log has printed the reason already */
	text_clear(&line);
	ending_write(&line, ended);
	sentence_print(stderr, "%s", line.data);
	state = json_text_at(ended, "state");
	return state_exit(state ? state : "");
}
