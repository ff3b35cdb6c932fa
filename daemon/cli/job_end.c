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

/* Finds all jobs before anything is done to them: once "a" is deleted, a second "a" is the beginning of another name.
 * *ret_failed: the exit code for words that name no job. Returns EXIT_UNREACHED if no daemon answers. */
static int jobs_ask(const struct invocation *invocation, struct client *client, json_t *jobs, int *ret_failed)
{
	for (size_t i = 0; i < invocation->word_count; i++) {
		AUTO(json) json_t *job = NULL;
		const int outcome = ask_job(invocation, client, invocation->words[i], &job);
		const json_t *other;
		size_t index;

		if (outcome == EXIT_UNREACHED)
			return outcome;
		if (outcome) {
			*ret_failed = outcome;
			continue;
		}
		json_array_foreach(jobs, index, other)
			if (json_equal(json_object_get(other, "name"), json_object_get(job, "name")))
				break;
		if (index == json_array_size(jobs))
			json_array_append(jobs, job);
	}
	return EXIT_GOOD;
}

static int job_do(struct client *client, const json_t *job, job_step step)
{
	struct error err AUTO_ERROR = { 0 };
	struct text title AUTO_TEXT = { 0 };
	const char *done = NULL;

	if (step(client, job, &done, &err))
		return ask_failure(client, &err);
	job_title_write(&title, job);
	sentence_print(stdout, "%s %s", title.data, done);
	return EXIT_GOOD;
}

static int jobs_do(const struct invocation *invocation, job_step step)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *jobs = json_array();
	int exit_code = ask_open(invocation, &client), failed = EXIT_GOOD;

	if (!exit_code)
		exit_code = jobs_ask(invocation, client, jobs, &failed);
	for (size_t i = 0; !exit_code && i < json_array_size(jobs); i++) {
		const int outcome = job_do(client, json_array_get(jobs, i), step);

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
