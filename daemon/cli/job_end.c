/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_end.h"

#include <stdio.h>
#include <string.h>

#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

/* An action on one job. *ret_done: a word for the result that is printed. */
typedef enum status (*job_step)(struct client *client, const json_t *job, const char **ret_done,
				struct error *err);

static enum status job_cancel(struct client *client, const json_t *job, const char **ret_done,
			      struct error *err)
{
	const char *state = json_text_at(job, "state");
	AUTO(json) json_t *body = json_object();
	struct text path AUTO_TEXT = { 0 };

	*ret_done = "had ended before";
	if (state && state_is_final(state))
		return STATUS_OK;
	*ret_done = "is being cancelled";
	text_printf(&path, "/v1/%s:cancel", json_text_at(job, "name"));
	return client_call(client, "POST", path.data, body, NULL, err);
}

static enum status job_delete(struct client *client, const json_t *job, const char **ret_done,
			      struct error *err)
{
	const char *family = json_text_at(job, "family");
	struct text path AUTO_TEXT = { 0 };

	*ret_done = "is deleted";
	if (family && strcmp(family, "jobs") == 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s is a job of AI Platform Training, which never deletes a job",
				 json_text_at(job, "id"));
	text_printf(&path, "/v1/%s", json_text_at(job, "name"));
	return client_call(client, "DELETE", path.data, NULL, NULL, err);
}

static int job_do(const struct invocation *invocation, struct client *client, const char *reference,
		  job_step step)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *job = NULL;
	struct text title AUTO_TEXT = { 0 };
	const char *done = NULL;
	const int exit_code = ask_job(invocation, client, reference, &job);

	if (exit_code)
		return exit_code;
	if (step(client, job, &done, &err))
		return ask_failure(client, &err);
	job_title_write(&title, job);
	sentence_print(stdout, "%s %s", title.data, done);
	return EXIT_GOOD;
}

static int jobs_do(const struct invocation *invocation, job_step step)
{
	AUTO(client) struct client *client = NULL;
	int exit_code = ask_open(invocation, &client), failed = EXIT_GOOD;

	for (size_t i = 0; !exit_code && i < invocation->word_count; i++) {
		const int outcome = job_do(invocation, client, invocation->words[i], step);

		if (outcome == EXIT_UNREACHED)
			exit_code = outcome;
		else if (outcome)
			failed = outcome;
	}
	if (main_printed() != EXIT_GOOD)
		failed = EXIT_FAILED;
	return exit_code ? exit_code : failed;
}

int cancel_main(struct invocation *invocation)
{
	return jobs_do(invocation, job_cancel);
}

int delete_main(struct invocation *invocation)
{
	return jobs_do(invocation, job_delete);
}
