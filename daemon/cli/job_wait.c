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

/* FILTERED_MAX: up to this number of jobs the daemon filters the stream; for more, the changes of all jobs are read. */
enum { CALM_MS = 200, FILTERED_MAX = 50, NAME_SHOWN = 40 };

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

/* The number of a state in the order of a job's life, so that a later state also satisfies a wait for an earlier one.
 * -1: FAILED and other states that are not in this order. */
static int step_of(const char *state)
{
	static const char *const steps[] = { "QUEUED", "PREPARING", "RUNNING", "SUCCEEDED" };

	for (int i = 0; i < (int)(sizeof(steps) / sizeof(steps[0])); i++)
		if (strcmp(steps[i], state) == 0)
			return i;
	return -1;
}

/* Returns true if the wait for this job is over; *ret_exit is then its exit code. */
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
	const char *wanted; /* NULL: the job's end */
	struct awaited {
		char *name;  /* the job's name in its API; NULL: not asked yet */
		char *id;    /* the job's id; NULL: not asked yet */
		char *uid;   /* the job's uid in the stream of changes; NULL: the stream has not had it yet */
		char *stand; /* "train (123) is RUNNING" */
		bool over;
	} * jobs;
	size_t left;
	int exit_code;
};

/* Combines exit codes of several jobs: EXIT_FAILED has precedence over EXIT_CANCELLED. */
static void exit_add(struct wait *wait, int exit_code)
{
	if (wait->exit_code != EXIT_FAILED && exit_code)
		wait->exit_code = exit_code;
}

static void stand_show(struct awaited *awaited, const json_t *job, const char *state)
{
	const char *reason = json_text_at(job, "reason");
	const char *name = json_text_at(job, "displayName"), *id = json_text_at(job, "id");
	struct text stand AUTO_TEXT = { 0 }, shown AUTO_TEXT = { 0 };

	job_title_write(&stand, job);
	text_printf(&stand, " is %s", state);
	free(awaited->stand);
	awaited->stand = text_take(&stand);
	/* One line, cut to the terminal: the state must be in it. */
	text_one_line(&shown, name ? name : id ? id : "", NAME_SHOWN);
	progress_show("%s is %s%s%s", shown.data, state, reason ? ": " : "", reason ? reason : "");
}

/* Handles the current state of a job: prints a line if the wait for it is over. */
static void job_take(struct wait *wait, struct awaited *awaited, const json_t *job)
{
	const char *state = json_text_at(job, "state");
	struct text line AUTO_TEXT = { 0 };
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
	sentence_print(stdout, "%s", line.data);
	fflush(stdout);
	for (size_t i = 0; i < wait->invocation->word_count; i++)
		if (!wait->jobs[i].over && wait->jobs[i].stand) {
			progress_show("%s", wait->jobs[i].stand);
			break;
		}
}

/* Asks for one job. Returns EXIT_GOOD, or the exit code if the daemon cannot be asked. */
static int job_look(struct wait *wait, size_t number)
{
	struct awaited *awaited = &wait->jobs[number];
	AUTO(json) json_t *job = NULL;
	const int outcome = ask_job(wait->invocation, wait->client,
				    awaited->name ? awaited->name : wait->invocation->words[number], &job);

	if (outcome)
		return outcome;
	if (!awaited->name) { /* keep to this job, even if a new job gets the same short name */
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
			sentence_print(stderr, "trainyard: the time is up, and %s", wait->jobs[i].stand);
	return EXIT_TIMED_OUT;
}

/* Asks for all jobs, and waits for a daemon that restarts, but not beyond the user's time limit @left_us. */
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

/* Returns true if a job that is waited for is not in the stream, so that it must be asked for again. @uid: looks only at
 * the job with this uid; NULL: at jobs that were never in the stream. */
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

/* Reads the stream until the wait is over for all jobs, @limit_us is over, or the stream ends. Returns EXIT_GOOD, or the
 * exit code if the daemon cannot be asked. */
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

/* Asks for all jobs once, then reads their changes from the stream. When the stream ends, for example because the daemon
 * restarts, asks for all jobs again. @timeout_us negative: no time limit. */
static int jobs_await(struct wait *wait, int64_t timeout_us)
{
	const bool is_limited = timeout_us >= 0;
	const int64_t end_us = clock_mono_us(&system_clock) + timeout_us;

	for (;; poll(NULL, 0, CALM_MS)) {
		int64_t left_us = end_us - clock_mono_us(&system_clock);
		int outcome = jobs_look(wait, is_limited ? left_us : INT64_MAX);

		if (outcome == EXIT_UNREACHED && is_limited && wait->jobs[0].stand &&
		    clock_mono_us(&system_clock) >= end_us)
			return time_out(wait);
		left_us = end_us - clock_mono_us(&system_clock);
		if (!outcome && wait->left && (!is_limited || left_us > 0))
			outcome = changes_follow(wait, is_limited ? left_us : 0);
		if (outcome)
			return outcome;
		if (!wait->left)
			return wait->exit_code;
		if (is_limited && clock_mono_us(&system_clock) >= end_us)
			return time_out(wait);
	}
}

int wait_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	struct wait wait = { .invocation = invocation, .left = invocation->word_count };
	int64_t timeout_us = -1;
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
	if (ferror(stdout))
		exit_code = main_printed();
	for (size_t i = 0; i < invocation->word_count; i++) {
		free(wait.jobs[i].name);
		free(wait.jobs[i].id);
		free(wait.jobs[i].uid);
		free(wait.jobs[i].stand);
	}
	free(wait.jobs);
	return exit_code;
}
