/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/job_text.h"
#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_create.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

enum { FILE_BYTES_MAX = 10 << 20, PIECE = 65536, INDENT = 4 };

/* ---- the file ---- */

static enum status file_read(const char *path, struct text *text, struct error *err)
{
	const bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	char piece[PIECE];
	size_t length;
	bool failed;

	if (!file)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: %s", path, strerror(errno));
	while (text->length <= FILE_BYTES_MAX && (length = fread(piece, 1, sizeof(piece), file)) > 0)
		text_append(text, piece, length);
	failed = ferror(file);
	if (!is_stdin)
		fclose(file);
	if (failed)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s cannot be read", path);
	if (text->length > FILE_BYTES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s is longer than %d bytes", path,
				 FILE_BYTES_MAX);
	return STATUS_OK;
}

/* ---- the job of the file ---- */

/* Returns a job name from the file's name and the time, with letters that both APIs accept. The caller frees. */
static char *file_name(const char *path)
{
	const char *last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	AUTO(string) char *stem = memory_printf("%s%.*s", isalpha((unsigned char)*last) ? "" : "job_",
						(int)strcspn(last, "."), last);

	name_restrict(stem);
	return name_draw(stem);
}

static enum status body_read(const struct invocation *invocation, struct job_text *ret_job, struct error *err)
{
	const char *option = invocation_value(invocation, "file");
	const char *path = invocation->word_count ? invocation->words[0] : option;
	struct text text AUTO_TEXT = { 0 };
	struct error cause AUTO_ERROR = { 0 };
	enum status rc;

	if (!path)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "which file? submit FILE");
	if (option && path != option)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "two files: %s and %s", path, option);
	rc = file_read(path, &text, err);
	if (rc)
		return rc;
	text_puts(&text, "");
	rc = job_text_read(text.data, text.length, invocation_value(invocation, "name"),
			   submit_region(invocation), ret_job, &cause);
	if (rc)
		return error_set(err, rc, NULL, "%s: %s", path, cause.text);
	if (!job_text_has_name(ret_job)) {
		AUTO(string) char *drawn = file_name(path);

		json_object_set_new(ret_job->body, ret_job->name_field, json_string(drawn));
	}
	return STATUS_OK;
}

/* ---- output ---- */

static void words_write(struct text *text, const json_t *words)
{
	const json_t *word;
	size_t index;

	json_array_foreach(words, index, word) {
		text_putc(text, ' ');
		text_shell_word(text, json_string_value(word));
	}
}

/* Prints "worker-replica-0  my-image:1 on n1-standard-4: 2 vCPUs, 15.0 GiB" and below it the command. */
static void replica_print(const json_t *replica)
{
	const json_t *limits = json_object_get(replica, "limits");
	struct text reported AUTO_TEXT = { 0 }, head AUTO_TEXT = { 0 }, words AUTO_TEXT = { 0 };
	const char *machine = json_text_at(replica, "machineType");

	text_printf(&reported, "%s  %s", json_text_at(replica, "name"), json_text_at(replica, "image"));
	if (machine)
		text_printf(&reported, " on %s", machine);
	if (limits)
		text_printf(&reported, ": %g vCPUs, %.1f GiB",
			    json_number_value(json_object_get(limits, "vcpus")),
			    (double)json_int_at(limits, "memoryBytes", 0) / (1 << 30));
	text_wrap(&head, reported.data, INDENT);
	text_clear(&reported);
	text_puts(&reported, json_object_get(replica, "command") ? "" : " (its entry point)");
	words_write(&reported, json_object_get(replica, "command"));
	words_write(&reported, json_object_get(replica, "args"));
	text_one_line(&words, reported.data, 0);
	printf("%s\n   %s\n", head.data, words.data);
}

static void plan_print(const json_t *plan)
{
	const json_t *replica, *deviation;
	size_t index;

	json_array_foreach(json_object_get(plan, "replicas"), index, replica)
		replica_print(replica);
	if (json_array_size(json_object_get(plan, "differences")))
		printf("Unlike in the cloud\n");
	json_array_foreach(json_object_get(plan, "differences"), index, deviation) {
		const char *text = json_text_at(deviation, "text");
		struct text reported AUTO_TEXT = { 0 };

		text_wrap(&reported, text ? text : "", INDENT);
		printf("  * %s\n", reported.length ? reported.data : "");
	}
}

static int plan_show(const struct invocation *invocation, struct client *client, const struct job_text *job)
{
	AUTO(string) char *project = submit_project(invocation);
	const bool vertex = strcmp(job->collection, "jobs") != 0;
	struct error err AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };
	AUTO(json) json_t *plan = NULL;

	text_puts(&path, "/_trainyard/v1/projects/");
	text_percent(&path, project, URL_UNRESERVED);
	if (vertex) {
		text_puts(&path, "/locations/");
		text_percent(&path, submit_region(invocation), URL_UNRESERVED);
	}
	text_printf(&path, "/%s:plan", job->collection);
	if (client_call(client, "POST", path.data, job->body, &plan, &err))
		return ask_failure(client, &err) == EXIT_UNREACHED ? EXIT_UNREACHED : EXIT_NOT_STARTED;
	plan_print(plan);
	return main_printed();
}

int submit_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	struct job_text text AUTO_JOB_TEXT = { 0 };
	AUTO(string) char *project = NULL;
	AUTO(json) json_t *job = NULL;
	int exit_code;

	if (body_read(invocation, &text, &err))
		return main_usage_error("submit ", &err);
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	if (invocation_flag(invocation, "plan"))
		return plan_show(invocation, client, &text);
	project = submit_project(invocation);
	exit_code = job_submit(client,
			       &(struct submission){ .collection = text.collection,
						     .project = project,
						     .region = submit_region(invocation),
						     .body = text.body },
			       &job);
	return exit_code ? exit_code : job_attend(invocation, client, job);
}
