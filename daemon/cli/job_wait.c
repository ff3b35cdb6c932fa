/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_wait.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_list.h"
#include "daemon/cli/job_watch.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

/* So many jobs are filtered by the daemon; of more, the changes of all jobs are read. */
enum { CALM_MS = 200, FILTERED_MAX = 50 };

void ending_write(struct text *text, const json_t *job)
{
	const char *state = json_text_at(job, "state"), *reason = json_text_at(job, "reason");
	const int64_t end_us = time_read(json_text_at(job, "endTime"), 0);

	job_title_write(text, job);
	text_printf(text, " %s", state);
	if (end_us) {
		text_puts(text, " after ");
		duration_append(text, end_us - time_read(json_text_at(job, "createTime"), end_us));
	}
	if (reason) {
		text_puts(text, ": ");
		text_one_line(text, reason, 0);
	}
}

/* How far a job has come: a state that is waited for is passed by a later one. The ends are no steps of each other. */
static int step_of(const char *state)
{
	static const char *const steps[] = { "QUEUED", "PREPARING", "RUNNING", "SUCCEEDED" };

	for (int i = 0; i < (int)(sizeof(steps) / sizeof(steps[0])); i++)
		if (strcmp(steps[i], state) == 0)
			return i;
	return -1;
}

/* Whether nothing more is to be waited for; *ret_exit: what came of it. */
static bool is_over(const char *state, const char *wanted, int *ret_exit)
{
	*ret_exit = EXIT_GOOD;
	if (wanted &&
	    (strcmp(state, wanted) == 0 || (step_of(wanted) >= 0 && step_of(state) >= step_of(wanted))))
		return true;
	if (wanted && strcmp(wanted, "CANCELLING") == 0 && strcmp(state, "CANCELLED") == 0)
		return true;
	if (!state_is_final(state))
		return false;
	*ret_exit = state_exit(state);
	if (wanted && !*ret_exit)
		*ret_exit = EXIT_FAILED;
	return true;
}

struct wait {
	const struct invocation *invocation;
	struct client *client;
	const char *wanted; /* NULL: the end */
	struct awaited {
		char *name;  /* as its API knows it; NULL: not looked at yet */
		char *id;    /* likewise */
		char *uid;   /* as the stream of changes knows it; NULL: it was not in it yet */
		char *stand; /* "train (123) is RUNNING" */
		bool over;
	} * jobs;
	size_t left;
	int exit_code;
};

/* A failure counts for more than a cancellation. */
static void exit_add(struct wait *wait, int exit_code)
{
	if (wait->exit_code != EXIT_FAILED && exit_code)
		wait->exit_code = exit_code;
}

static void stand_show(struct awaited *awaited, const json_t *job, const char *state)
{
	const char *reason = json_text_at(job, "reason");
	struct text stand AUTO_TEXT = { 0 };

	job_title_write(&stand, job);
	text_printf(&stand, " is %s", state);
	free(awaited->stand);
	awaited->stand = text_take(&stand);
	progress_show("%s%s%s", awaited->stand, reason ? ": " : "", reason ? reason : "");
}

/* The job as it is now. */
static void job_take(struct wait *wait, struct awaited *awaited, const json_t *job)
{
	const char *state = json_text_at(job, "state");
	struct text line AUTO_TEXT = { 0 }, wrapped AUTO_TEXT = { 0 };
	int outcome;

	awaited->over = is_over(state ? state : "", wait->wanted, &outcome);
	if (!awaited->over) {
		stand_show(awaited, job, state ? state : "");
		return;
	}
	wait->left--;
	exit_add(wait, outcome);
	progress_clear();
	ending_write(&line, job);
	text_wrap(&wrapped, line.data, 0);
	puts(wrapped.data);
	fflush(stdout);
}

/* EXIT_GOOD, or why the daemon cannot be asked. */
static int job_look(struct wait *wait, size_t number)
{
	struct awaited *awaited = &wait->jobs[number];
	AUTO(json) json_t *job = NULL;
	const int outcome = ask_job(wait->invocation, wait->client,
				    awaited->name ? awaited->name : wait->invocation->words[number], &job);

	if (outcome)
		return outcome;
	if (!awaited->name) { /* from now on it is this job, whatever else is called so */
		awaited->name = memory_strdup(json_text_at(job, "name"));
		awaited->id = memory_strdup(json_text_at(job, "id"));
	}
	job_take(wait, awaited, job);
	return EXIT_GOOD;
}

static int time_out(const struct wait *wait)
{
	progress_clear();
	for (size_t i = 0; i < wait->invocation->word_count; i++)
		if (!wait->jobs[i].over && wait->jobs[i].stand)
			fprintf(stderr, "trainyard: the time is up, and %s\n", wait->jobs[i].stand);
	return EXIT_TIMED_OUT;
}

/* Waits for a daemon that restarts. If it stays away, the user's time limit counts first. */
static int jobs_look(struct wait *wait, int64_t left_us)
{
	client_wait_out(wait->client, left_us < ASK_AWAY_US ? left_us : ASK_AWAY_US);
	for (size_t i = 0; i < wait->invocation->word_count; i++) {
		const int outcome = wait->jobs[i].over ? EXIT_GOOD : job_look(wait, i);

		if (outcome)
			return outcome;
	}
	return EXIT_GOOD;
}

/* ---- the stream of changes ---- */

static bool job_hear(struct wait *wait, const char *uid, const json_t *job)
{
	const char *name = json_text_at(job, "name");

	for (size_t i = 0; uid && name && i < wait->invocation->word_count; i++) {
		struct awaited *awaited = &wait->jobs[i];

		if (awaited->over || strcmp(awaited->name, name) != 0)
			continue;
		free(awaited->uid);
		awaited->uid = memory_strdup(uid);
		job_take(wait, awaited, job);
	}
	return wait->left > 0;
}

/* Whether a job that is waited for is no longer in the stream: it has to be looked at again. @uid: only that one;
 * NULL: one that never was in it. */
static bool one_is_missing(const struct wait *wait, const char *uid)
{
	for (size_t i = 0; i < wait->invocation->word_count; i++) {
		const struct awaited *awaited = &wait->jobs[i];

		if (!awaited->over && (uid ? awaited->uid && strcmp(awaited->uid, uid) == 0 : !awaited->uid))
			return true;
	}
	return false;
}

static bool change_take(void *arg, const json_t *line)
{
	struct wait *wait = arg;
	const char *uid = json_text_at(line, "uid");
	const json_t *job = json_object_get(line, "job");

	if (job)
		return job_hear(wait, uid, job);
	if (json_true_at(line, "removed"))
		return !uid || !one_is_missing(wait, uid);
	if (json_true_at(line, "all"))
		for (size_t i = 0; i < wait->invocation->word_count; i++) {
			free(wait->jobs[i].uid);
			wait->jobs[i].uid = NULL;
		}
	return !json_text_at(line, "position") || !one_is_missing(wait, NULL);
}

static void filter_write(const struct wait *wait, struct text *filter)
{
	text_puts(filter, "");
	for (size_t i = 0; wait->left <= FILTERED_MAX && i < wait->invocation->word_count; i++) {
		if (wait->jobs[i].over)
			continue;
		text_puts(filter, filter->length ? " OR id=" : "id=");
		text_json(filter, wait->jobs[i].id, strlen(wait->jobs[i].id));
	}
}

/* Until all have reached it, the time is up, or the stream ends. EXIT_GOOD, or why the daemon cannot be asked. */
static int changes_follow(struct wait *wait, int64_t limit_us)
{
	struct error err AUTO_ERROR = { 0 };
	struct text filter AUTO_TEXT = { 0 };
	struct job_watch watch AUTO_JOB_WATCH = { .take = change_take, .arg = wait };
	enum status rc;

	filter_write(wait, &filter);
	watch.filter = filter.data;
	rc = job_watch_read(&watch, wait->client, limit_us, &err);
	return rc && rc != STATUS_UNAVAILABLE ? ask_failure(wait->client, &err) : EXIT_GOOD;
}

/* A look finds the jobs that the words name; the stream then tells of their changes. Where it ends, as with a daemon
 * that restarts, they are looked at again. */
static int jobs_await(struct wait *wait, int64_t timeout_us)
{
	const int64_t end_us = clock_mono_us(&system_clock) + timeout_us;

	for (;; poll(NULL, 0, CALM_MS)) {
		int64_t left_us = end_us - clock_mono_us(&system_clock);
		int outcome = jobs_look(wait, timeout_us ? left_us : INT64_MAX);

		if (outcome == EXIT_UNREACHED && timeout_us && wait->jobs[0].stand &&
		    clock_mono_us(&system_clock) >= end_us)
			return time_out(wait);
		left_us = end_us - clock_mono_us(&system_clock);
		if (!outcome && wait->left && (!timeout_us || left_us > 0))
			outcome = changes_follow(wait, timeout_us ? left_us : 0);
		if (outcome)
			return outcome;
		if (!wait->left)
			return wait->exit_code;
		if (timeout_us && clock_mono_us(&system_clock) >= end_us)
			return time_out(wait);
	}
}

int wait_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	struct wait wait = { .invocation = invocation, .left = invocation->word_count };
	int64_t timeout_us = 0;
	int exit_code;

	if (invocation_duration(invocation, "timeout", &timeout_us, &err))
		return main_usage_error("wait ", &err);
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	wait.client = client;
	wait.wanted = invocation_value(invocation, "for");
	wait.jobs = memory_calloc(invocation->word_count, sizeof(*wait.jobs));
	exit_code = jobs_await(&wait, timeout_us);
	for (size_t i = 0; i < invocation->word_count; i++) {
		free(wait.jobs[i].name);
		free(wait.jobs[i].id);
		free(wait.jobs[i].uid);
		free(wait.jobs[i].stand);
	}
	free(wait.jobs);
	return exit_code;
}
