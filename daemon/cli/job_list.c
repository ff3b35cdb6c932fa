/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_list.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_watch.h"
#include "daemon/cli/table.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

enum { NAMES_US = 2000000, ENDED_SHOWN = 20, PAGE_SIZE = 1000, ID_SHOWN = 10, CALM_MS = 200 };

const char *const job_states[] = { "QUEUED", "PREPARING",  "RUNNING",   "SUCCEEDED",
				   "FAILED", "CANCELLING", "CANCELLED", NULL };

/* ---- choosing jobs ---- */

static void text_quote(struct text *filter, const char *value)
{
	text_putc(filter, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			text_putc(filter, '\\');
		text_putc(filter, *value);
	}
	text_putc(filter, '"');
}

/* Appends the options as a filter for the list: a job must be in one of the given states and have all given labels. */
static enum status filter_make(const struct invocation *invocation, struct text *filter, struct error *err)
{
	const char *own = invocation_value(invocation, "filter"), *value;
	size_t at = 0;

	for (; (value = invocation_next(invocation, "state", &at)) != NULL;)
		text_printf(filter, "%sstate=%s", filter->length ? " OR " : "(", value);
	text_puts(filter, filter->length ? ")" : "");
	for (at = 0; (value = invocation_next(invocation, "label", &at)) != NULL;) {
		const size_t length = strcspn(value, "=");
		AUTO(string) char *key = memory_strndup(value, length);

		if (!*key || !value[length])
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "--label: \"%s\" is not KEY=VALUE", value);
		text_printf(filter, "%slabels.", filter->length ? " AND " : "");
		text_quote(filter, key);
		text_puts(filter, "=");
		text_quote(filter, value + length + 1);
	}
	if (own && own[strspn(own, " \t\n\v\f\r")])
		text_printf(filter, "%s(%s)", filter->length ? " AND " : "", own);
	return STATUS_OK;
}

/* Asks for one page of jobs and appends it to @jobs. *token: selects the page; becomes that of the next page, NULL: no
 * more. */
static enum status page_ask(const struct invocation *invocation, struct client *client, const char *filter,
			    unsigned size, char **token, json_t *jobs, struct error *err)
{
	const char *project = invocation_value(invocation, "project");
	struct text path AUTO_TEXT = { 0 };
	AUTO(json) json_t *answer = NULL;
	enum status rc;

	text_printf(&path, "/_trainyard/v1/jobs?prettyPrint=false&pageSize=%u&filter=", size);
	text_percent(&path, filter, URL_UNRESERVED);
	text_puts(&path, "&pageToken=");
	text_percent(&path, *token ? *token : "", URL_UNRESERVED);
	text_puts(&path, "&project=");
	text_percent(&path, project ? project : "", URL_UNRESERVED);
	rc = client_call(client, "GET", path.data, NULL, &answer, err);
	if (rc)
		return rc;
	json_array_extend(jobs, json_object_get(answer, "jobs"));
	free(*token);
	*token = memory_strdup(json_text_at(answer, "nextPageToken"));
	return STATUS_OK;
}

/* Refuses a --filter that is not a filter by itself. In the parentheses that filter_make() puts around it, "a=b) OR (c=d"
 * would be one, and would escape the other options. The error has the columns that the user sees. */
static enum status filter_check(const struct invocation *invocation, struct client *client, struct error *err)
{
	const char *own = invocation_value(invocation, "filter");
	AUTO(string) char *token = NULL;
	AUTO(json) json_t *jobs = json_array();

	return own ? page_ask(invocation, client, own, 1, &token, jobs, err) : STATUS_OK;
}

static int newer_first(const void *left, const void *right)
{
	const char *a = json_text_at(*(json_t *const *)left, "createTime");
	const char *b = json_text_at(*(json_t *const *)right, "createTime");

	return strcmp(b ? b : "", a ? a : "");
}

static void newest_first(json_t *jobs)
{
	const size_t count = json_array_size(jobs);
	json_t **sorted = memory_calloc(count + 1, sizeof(json_t *));

	for (size_t i = 0; i < count; i++)
		sorted[i] = json_incref(json_array_get(jobs, i));
	qsort(sorted, count, sizeof(json_t *), newer_first);
	for (size_t i = 0; i < count; i++)
		json_array_set_new(jobs, i, sorted[i]);
	free(sorted);
}

/* Lists all jobs with --all; otherwise all unfinished jobs and the newest finished ones. *ret_more: true if older
 * finished jobs are left out. */
static enum status jobs_ask(const struct invocation *invocation, struct client *client, const char *filter,
			    json_t *jobs, bool *ret_more, struct error *err)
{
	static const char *const halves[] = { "NOT (state=SUCCEEDED OR state=FAILED OR state=CANCELLED)",
					      "(state=SUCCEEDED OR state=FAILED OR state=CANCELLED)" };
	const bool all = invocation_flag(invocation, "all");
	enum status rc = STATUS_OK;

	for (unsigned half = 0; !rc && half < (all ? 1 : 2); half++) {
		struct text which AUTO_TEXT = { 0 };
		AUTO(string) char *token = NULL;

		/* The state is first in the filter, so that the labels of jobs in other states are not read. */
		text_printf(&which, "%s%s%s", all ? "" : halves[half], *filter && !all ? " AND " : "",
			    filter);
		do
			rc = page_ask(invocation, client, which.data, half ? ENDED_SHOWN : PAGE_SIZE, &token,
				      jobs, err);
		while (!rc && token && !half);
		*ret_more = token != NULL;
	}
	if (!all)
		newest_first(jobs);
	return rc;
}

/* ---- output ---- */

static const struct table_column columns[] = {
	{ .title = "NAME", .least = 16 },
	{ .title = "ID", .optional = true },
	{ .title = "KIND" },
	{ .title = "STATE" },
	{ .title = "AGE", .right = true },
	{ .title = "RAN", .right = true, .optional = true },
	{ .title = "REPLICAS", .right = true, .optional = true },
	{ .title = "GPUS", .right = true, .optional = true },
	{ .title = "REASON", .notes = true },
	{ .title = NULL },
};

static const char *kind_of(const char *family)
{
	static const char *const kinds[][2] = { { "jobs", "ml" },
						{ "customJobs", "custom" },
						{ "hyperparameterTuningJobs", "tuning" },
						{ "trainingPipelines", "pipeline" } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (family && strcmp(kinds[i][0], family) == 0)
			return kinds[i][1];
	return family;
}

static void count_put(struct table *table, const json_t *job, const char *member)
{
	const int64_t count = json_int_at(job, member, 0);
	AUTO(string) char *reported = count ? memory_printf("%lld", (long long)count) : NULL;

	table_put(table, reported, STYLE_NONE);
}

static void row_put(struct table *table, const json_t *job, int64_t now_us)
{
	const char *name = json_text_at(job, "displayName"), *id = json_text_at(job, "id");
	const char *state = json_text_at(job, "state"), *start = json_text_at(job, "startTime");
	AUTO(string) char *id_shown = name && id ? memory_strndup(id, ID_SHOWN) : NULL;
	struct text age AUTO_TEXT = { 0 }, ran AUTO_TEXT = { 0 };

	age_append(&age, json_text_at(job, "createTime"), now_us);
	age_append(&ran, start, time_read(json_text_at(job, "endTime"), now_us));
	table_put(table, name ? name : id, STYLE_NONE);
	table_put(table, id_shown, STYLE_DIM);
	table_put(table, kind_of(json_text_at(job, "family")), STYLE_NONE);
	table_put(table, state, state_style(state ? state : ""));
	table_put(table, age.data, STYLE_NONE);
	table_put(table, ran.data, STYLE_NONE);
	count_put(table, job, "replicaCount");
	count_put(table, job, "gpuCount");
	table_put(table, json_text_at(job, "reason"), STYLE_DIM);
}

static void jobs_write(const struct invocation *invocation, int64_t now_us, json_t *jobs, bool more,
		       struct text *text)
{
	struct table table AUTO_TABLE = { .columns = columns };
	const json_t *job;
	size_t index;

	if (invocation_prints(invocation, "json")) {
		AUTO(json) json_t *answer = json_pack("{s:O}", "jobs", jobs);

		json_write(text, answer);
		text_putc(text, '\n');
		return;
	}
	json_array_foreach(jobs, index, job) {
		const char *name = json_text_at(job, "name");

		if (invocation_prints(invocation, "name"))
			text_printf(text, "%s\n", name ? name : "");
		else
			row_put(&table, job, now_us);
	}
	if (invocation_prints(invocation, "name"))
		return;
	if (json_array_size(jobs))
		table_write(text, &table, stdout);
	if (terminal_width(stdout) && (more || !json_array_size(jobs)))
		text_printf(text, "%s%s%s\n", terminal_style(stdout, STYLE_DIM),
			    more ? "Older jobs that have ended: --all" : "There are no such jobs.",
			    terminal_style(stdout, STYLE_NONE));
}

/* ---- watching ---- */

/* A filter that no job matches: the stream then has a short line for each change instead of the whole job. */
#define CHANGES_ALONE "state=QUEUED AND state=RUNNING"

struct watched {
	const struct invocation *invocation;
	json_t *jobs;
	bool more, changed;
	int64_t ahead_us; /* the daemon's time minus this machine's */
	struct text shown;
};

/* Draws the last list again if its text changes: ages change even if no job does. */
static bool watched_draw(void *arg)
{
	struct watched *watched = arg;
	struct text text AUTO_TEXT = { 0 };

	jobs_write(watched->invocation, clock_wall_us(&system_clock) + watched->ahead_us, watched->jobs,
		   watched->more, &text);
	text_puts(&text, "");
	if (watched->shown.data && strcmp(watched->shown.data, text.data) == 0)
		return true;
	text_clear(&watched->shown);
	text_puts(&watched->shown, text.data);
	screen_draw(&text, false);
	return true;
}

static enum status watched_read(struct watched *watched, struct client *client, const char *filter,
				struct error *err)
{
	AUTO(json) json_t *jobs = json_array();
	bool more = false;
	enum status rc = jobs_ask(watched->invocation, client, filter, jobs, &more, err);

	if (rc)
		return rc;
	json_decref(watched->jobs);
	watched->jobs = TAKE(jobs);
	watched->more = more;
	watched->ahead_us = ask_now(client) - clock_wall_us(&system_clock);
	watched_draw(watched);
	return STATUS_OK;
}

/* Stops reading at the end of a group of changes, so that the list is read again. */
static bool change_take(void *arg, const json_t *line)
{
	struct watched *watched = arg;

	if (!json_text_at(line, "position"))
		watched->changed = true;
	return !watched->changed || !json_text_at(line, "position");
}

static int jobs_watch(const struct invocation *invocation, struct client *client, const char *filter)
{
	struct error err AUTO_ERROR = { 0 };
	struct watched watched = { .invocation = invocation };
	struct job_watch watch AUTO_JOB_WATCH = {
		.project = invocation_value(invocation, "project"),
		.filter = CHANGES_ALONE,
		.take = change_take,
		.tick = watched_draw,
		.arg = &watched,
	};
	enum status rc = STATUS_OK;

	client_wait_out(client, ASK_AWAY_US);
	for (; !rc; poll(NULL, 0, CALM_MS)) {
		rc = watched_read(&watched, client, filter, &err);
		if (rc)
			break;
		watched.changed = false;
		rc = job_watch_read(&watch, client, 0, &err);
		if (rc == STATUS_UNAVAILABLE) { /* the next jobs_ask() waits for the daemon */
			error_deinit(&err);
			rc = STATUS_OK;
		}
	}
	json_decref(watched.jobs);
	text_deinit(&watched.shown);
	return ask_failure(client, &err);
}

int jobs_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	struct text filter AUTO_TEXT = { 0 }, text AUTO_TEXT = { 0 };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *jobs = NULL;
	bool more = false;
	int exit_code;

	text_puts(&filter, "");
	if (filter_make(invocation, &filter, &err))
		return main_usage_error("jobs ", &err);
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	if (filter_check(invocation, client, &err))
		return ask_failure(client, &err);
	if (invocation_flag(invocation, "watch"))
		return jobs_watch(invocation, client, filter.data);
	jobs = json_array();
	if (jobs_ask(invocation, client, filter.data, jobs, &more, &err))
		return ask_failure(client, &err);
	jobs_write(invocation, ask_now(client), jobs, more, &text);
	return main_output(&text);
}

/* ---- for completions ---- */

/* Returns true if a shell takes @name as one word, as it is. */
static bool name_is_plain(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	return *name && *name != '-' && !name[strspn(name, plain)];
}

/* Returns what the shell completes for @job: its display name, or its id if several jobs have the name. */
static const char *word_of(const json_t *job, const json_t *counts)
{
	const char *name = json_text_at(job, "displayName");

	return name && name_is_plain(name) && json_int_at(counts, name, 0) == 1 ? name : json_text_at(job, "id");
}

/* A daemon that does not answer must not hold up the shell, so errors are not printed. */
int job_names_main(struct invocation *invocation)
{
	struct text text AUTO_TEXT = { 0 };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *jobs = json_array();
	AUTO(json) json_t *counts = json_object();
	const json_t *job;
	size_t index;
	bool more = false;
	int exit_code = ask_open(invocation, &client);

	if (exit_code)
		return exit_code;
	client_limit(client, NAMES_US);
	if (jobs_ask(invocation, client, "", jobs, &more, NULL))
		return EXIT_FAILED;
	json_array_foreach(jobs, index, job) {
		const char *name = json_text_at(job, "displayName");

		if (name)
			json_object_set_new(counts, name, json_integer(json_int_at(counts, name, 0) + 1));
	}
	json_array_foreach(jobs, index, job) {
		const char *word = word_of(job, counts), *state = json_text_at(job, "state");

		if (word)
			text_printf(&text, "%s\t%s %s\n", word, kind_of(json_text_at(job, "family")),
				    state ? state : "");
	}
	return main_output(&text);
}
