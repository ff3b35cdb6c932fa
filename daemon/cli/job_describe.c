/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_describe.h"

#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_timeline.h"
#include "daemon/cli/table.h"
#include "daemon/main.h"

enum { MEMBER_WIDTH = 10, LINES_SHOWN = 10, INDENT = 4, FAULTS_SHOWN = 3 };

/* ---- texts ---- */

static void member_write(struct text *text, const char *name, const char *reported)
{
	if (!reported || !*reported)
		return;
	text_printf(text, "%s%-*s%s", terminal_style(stdout, STYLE_DIM), MEMBER_WIDTH, name,
		    terminal_style(stdout, STYLE_NONE));
	text_wrap(text, reported, MEMBER_WIDTH);
	text_putc(text, '\n');
}

/* "2026-11-26 08:00:01 (3m12s ago)" */
static void moment_write(struct text *text, const char *name, const char *time, int64_t now_us)
{
	struct text reported AUTO_TEXT = { 0 };

	if (!time)
		return;
	moment_append(&reported, time);
	text_puts(&reported, " (");
	age_append(&reported, time, now_us);
	text_puts(&reported, " ago)");
	member_write(text, name, reported.data);
}

/* ---- questions to the daemon ---- */

/* Returns the report of the job, or of the job behind a pipeline, as a new reference. NULL: there is none. */
static json_t *report_ask(struct client *client, const json_t *job)
{
	const char *families[] = { json_text_at(job, "family"), NULL };
	const char *behind = json_text_at(job, "job"), *location = json_text_at(job, "location");
	const char *project = json_text_at(job, "project"), *id = behind ? behind : json_text_at(job, "id");
	json_t *report = NULL;

	if (behind) {
		families[0] = "customJobs";
		families[1] = "hyperparameterTuningJobs";
	}
	for (size_t i = 0; !report && i < sizeof(families) / sizeof(families[0]) && families[i]; i++) {
		struct text path AUTO_TEXT = { 0 };

		text_puts(&path, "/_trainyard/v1/projects/");
		text_percent(&path, project ? project : "", URL_UNRESERVED);
		if (location)
			text_printf(&path, "/locations/%s", location);
		text_printf(&path, "/%s/%s/report", families[i], id);
		client_call(client, "GET", path.data, NULL, &report, NULL);
	}
	return report;
}

static bool lines_take(void *arg, const char *data, size_t length)
{
	text_append(arg, data, length);
	return true;
}

/* Appends the last log lines of a replica, indented; @replica NULL: of all replicas. */
static void last_lines_write(struct client *client, const json_t *job, const char *replica, struct text *text)
{
	struct text filter AUTO_TEXT = { 0 };
	const char *id = json_text_at(job, "id"), *project = json_text_at(job, "project");
	struct text lines AUTO_TEXT = { 0 };
	struct text path AUTO_TEXT = { 0 };

	job_path_write(&path, id ? id : "", ":log?project=");
	text_percent(&path, project ? project : "", URL_UNRESERVED);
	text_printf(&path, "&tail=%d&filter=", LINES_SHOWN);
	text_puts(&filter, replica ? "resource.labels.task_name=" : "NOT resource.labels.task_name=service");
	if (replica)
		text_json(&filter, replica, strlen(replica));
	text_percent(&path, filter.data, URL_UNRESERVED);
	if (client_read(client, path.data, lines_take, &lines, NULL) == STATUS_OK && lines.length)
		text_printf(text, "The last lines%s%s:\n", replica ? " of " : "", replica ? replica : "");
	for (const char *at = lines.data; at && *at;) {
		const size_t length = strcspn(at, "\n");
		AUTO(json) json_t *line = json_parse_foreign(at, length, 0, NULL);
		const char *task = json_text_at(line, "replica"), *message = json_text_at(line, "message");
		struct text reported AUTO_TEXT = { 0 };
		const unsigned width = terminal_width(stdout);

		text_printf(&reported, "%s%s%s", replica || !task ? "" : task, replica ? "" : "  ",
			    message ? message : "");
		text_printf(text, "%*s", INDENT, "");
		text_one_line(text, reported.data, width ? width - INDENT : 0);
		text_putc(text, '\n');
		at += length + (at[length] == '\n');
	}
}

/* ---- describe ---- */

static void replicas_write(struct text *text, const json_t *report, const json_t *timeline)
{
	static const struct table_column columns[] = {
		{ .title = "REPLICA" },
		{ .title = "NODE", .optional = true },
		{ .title = "END", .optional = true },
		{ .title = "RESTARTS", .right = true, .optional = true },
		{ .title = "IMAGE", .least = 16, .optional = true },
		{ .title = "MACHINE", .optional = true },
		{ .title = "VCPUS", .right = true, .optional = true },
		{ .title = "MEMORY", .right = true, .optional = true },
		{ .title = "GPUS", .right = true, .optional = true },
		{ .title = NULL },
	};
	struct table table AUTO_TABLE = { .columns = columns };
	const char *placement = json_text_at(report, "placement");
	const json_t *replica;
	size_t index;

	json_array_foreach(json_object_get(report, "replicas"), index, replica) {
		const json_t *limits = json_object_get(replica, "limits");
		const size_t gpus = json_array_size(json_object_get(replica, "gpus"));
		AUTO(string)
		char *vcpus = memory_printf("%g", json_number_value(json_object_get(limits, "vcpus")));
		AUTO(string)
		char *memory =
			memory_printf("%.1f GiB", (double)json_int_at(limits, "memoryBytes", 0) / (1 << 30));
		AUTO(string) char *gpu_count = gpus ? memory_printf("%zu", gpus) : NULL;
		const json_t *became = timeline_replica(timeline, json_text_at(replica, "name"));
		const int64_t restarts = json_int_at(became, "restarts", 0);
		AUTO(string)
		char *restart_count = restarts ? memory_printf("%lld", (long long)restarts) : NULL;
		struct text end AUTO_TEXT = { 0 };

		replica_end_report(&end, became);
		table_put(&table, json_text_at(replica, "name"), STYLE_NONE);
		table_put(&table, json_text_at(replica, "node"), STYLE_NONE);
		table_put(&table, end.data, json_true_at(became, "blamed") ? STYLE_BAD : STYLE_NONE);
		table_put(&table, restart_count, STYLE_NONE);
		table_put(&table, json_text_at(replica, "image"), STYLE_NONE);
		table_put(&table, json_text_at(replica, "machineType"), STYLE_NONE);
		table_put(&table, limits ? vcpus : NULL, STYLE_NONE);
		table_put(&table, limits ? memory : NULL, STYLE_NONE);
		table_put(&table, gpu_count, STYLE_NONE);
	}
	if (!table.cell_count)
		return;
	text_putc(text, '\n');
	table_write(text, &table, stdout);
	if (!placement)
		return;
	text_putc(text, '\n');
	text_wrap(text, placement, 0);
	text_putc(text, '\n');
}

static void deviations_write(struct text *text, const json_t *report)
{
	const json_t *deviation;
	size_t index;

	json_array_foreach(json_object_get(report, "differences"), index, deviation) {
		const char *reported = json_text_at(deviation, "text");

		text_puts(text, index ? "  * " : "\nUnlike in the cloud\n  * ");
		text_wrap(text, reported ? reported : "", INDENT);
		text_putc(text, '\n');
	}
}

static void labels_write(struct text *text, const json_t *job)
{
	struct text reported AUTO_TEXT = { 0 };
	const char *key;
	const json_t *value;

	json_object_foreach((json_t *)json_object_get(job, "labels"), key, value)
		text_printf(&reported, "%s%s=%s", reported.length ? ", " : "", key, json_string_value(value));
	member_write(text, "labels", reported.data);
}

static void job_write(struct text *text, const json_t *job, const json_t *report, const json_t *timeline,
		      int64_t now_us)
{
	const char *state = json_text_at(job, "state");
	const char *start = json_text_at(job, "startTime"), *end = json_text_at(job, "endTime");
	const json_t *progress = json_object_get(job, "progress");
	struct text ran AUTO_TEXT = { 0 }, pull AUTO_TEXT = { 0 };

	member_write(text, "job", json_text_at(job, "displayName"));
	member_write(text, "name", json_text_at(job, "name"));
	text_printf(text, "%s%-*s%s%s%s%s\n", terminal_style(stdout, STYLE_DIM), MEMBER_WIDTH, "state",
		    terminal_style(stdout, STYLE_NONE),
		    terminal_style(stdout, state_style(state ? state : "")), state,
		    terminal_style(stdout, STYLE_NONE));
	member_write(text, "reason", json_text_at(job, "reason"));
	member_write(text, "last line", json_text_at(progress, "lastLine"));
	pull_append(&pull, json_object_get(progress, "imagePull"));
	member_write(text, "image pull", pull.data);
	moment_write(text, "created", json_text_at(job, "createTime"), now_us);
	moment_write(text, "started", start, now_us);
	moment_write(text, "ended", end, now_us);
	if (start) {
		age_append(&ran, start, time_read(end, now_us));
		member_write(text, "ran", ran.data);
	}
	labels_write(text, job);
	member_write(text, "console", json_text_at(job, "console"));
	if (json_array_size(json_object_get(timeline, "events")))
		text_puts(text, "\nTimeline\n");
	timeline_write(text, timeline);
	replicas_write(text, report, timeline);
	deviations_write(text, report);
}

int describe_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *job = NULL;
	AUTO(json) json_t *report = NULL;
	AUTO(json) json_t *timeline = NULL;
	struct text text AUTO_TEXT = { 0 }, console AUTO_TEXT = { 0 };
	int exit_code = ask_open(invocation, &client);

	if (!exit_code)
		exit_code = ask_job(invocation, client, invocation->words[0], &job);
	if (exit_code)
		return exit_code;
	report = report_ask(client, job);
	timeline = timeline_ask(client, job, 0);
	console_address_write(&console, client, job);
	if (console.length)
		json_object_set_new(job, "console", json_string(console.data));
	if (invocation_prints(invocation, "name")) {
		text_printf(&text, "%s\n", json_text_at(job, "name"));
	} else if (invocation_prints(invocation, "json")) {
		if (report)
			json_object_set(job, "report", report);
		if (timeline)
			json_object_set(job, "timeline", timeline);
		return json_print(job);
	} else {
		job_write(&text, job, report, timeline, ask_now(client));
	}
	return main_output(&text);
}

/* ---- trainyard why ---- */

#define OUT_OF_MEMORY "memory"
#define NOT_STARTED   "start"

/* The advice for a user with a job in this state, or with a failed job of this cause; NULL: none. */
static const char *advice_of(const char *state)
{
	static const char *const advice[][2] = {
		{ "QUEUED",
		  "`trainyard queue` shows what is before it; `trainyard cancel %s` gives it up." },
		{ "PREPARING", "`trainyard logs -f %s` shows how its replicas come up." },
		{ "RUNNING", "`trainyard logs -f %s` follows it." },
		{ "FAILED",
		  "`trainyard logs %s` has all of its log; `trainyard describe %s` what it was given." },
		{ "CANCELLED", "`trainyard rerun %s` runs it once more." },
		{ OUT_OF_MEMORY, "Give it a machine with more memory, or let it use less: `trainyard describe %s` shows the "
				 "memory of each replica." },
		{ NOT_STARTED, "Once that is mended, `trainyard rerun %s` runs it once more; `trainyard doctor` checks the "
			       "engine." },
	};

	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (strcmp(advice[i][0], state) == 0)
			return advice[i][1];
	return NULL;
}

/* Appends the advice, with the job's id in the place of each %s. */
static void advice_write(struct text *text, const char *advice, const char *id)
{
	struct text reported AUTO_TEXT = { 0 };

	for (; *advice; advice++)
		if (strncmp(advice, "%s", 2) == 0) {
			text_puts(&reported, id);
			advice++;
		} else {
			text_putc(&reported, *advice);
		}
	text_wrap(text, reported.data, 0);
	text_putc(text, '\n');
}

/* Appends which replica made the job fail, and the last lines that it printed. Returns the cause for advice_of(). */
static const char *blame_write(struct client *client, const json_t *job, const json_t *timeline,
			       struct text *text)
{
	struct text reported AUTO_TEXT = { 0 };
	size_t others = 0;
	const json_t *end = timeline_blamed(timeline, &others);
	const char *replica = json_text_at(end, "replica"), *how;
	const json_t *became;

	if (end) {
		text_printf(&reported, "It ended by this: %s", json_text_at(end, "text"));
		if (others)
			text_printf(&reported, ", and by %zu more replica%s", others, others == 1 ? "" : "s");
		text_puts(&reported, ".");
		text_wrap(text, reported.data, 0);
		text_putc(text, '\n');
	}
	last_lines_write(client, job, replica, text);
	became = timeline_replica(timeline, replica);
	how = json_text_at(became, "end");
	if (json_true_at(became, "outOfMemory"))
		return OUT_OF_MEMORY;
	return end && how && strcmp(how, "EXIT") != 0 && strcmp(how, "LOST") != 0 ? NOT_STARTED : "FAILED";
}

/* Appends the faults that rules have injected into the job: without them it might not have failed, or would not wait. */
static void faults_write(struct text *text, const json_t *timeline)
{
	const json_t *faults = json_object_get(timeline, "faults"), *fault;
	const size_t count = json_array_size(faults);
	size_t index;

	json_array_foreach(faults, index, fault) {
		if (index == FAULTS_SHOWN)
			break;
		text_wrap(text, json_text_at(fault, "text"), 0);
		text_putc(text, '\n');
	}
	if (count > FAULTS_SHOWN)
		text_printf(text, "%zu more faults were injected.\n", count - FAULTS_SHOWN);
}

static void why_write(struct client *client, const json_t *job, struct text *text)
{
	const char *state = json_text_at(job, "state"), *reason = json_text_at(job, "reason");
	const char *id = json_text_at(job, "id"), *end = json_text_at(job, "endTime");
	const int64_t now_us = ask_now(client);
	struct text reported AUTO_TEXT = { 0 };
	const char *advice = advice_of(state ? state : "");
	AUTO(json) json_t *timeline = timeline_ask(client, job, 0);

	job_title_write(&reported, job);
	text_printf(&reported, end ? " %s " : " has been %s for ", state);
	age_append(&reported,
		   end ? end : json_text_at(job, json_text_at(job, "startTime") ? "startTime" : "createTime"),
		   now_us);
	text_puts(&reported, end ? " ago." : ".");
	if (reason)
		text_printf(&reported, " %s", reason);
	text_wrap(text, reported.data, 0);
	text_putc(text, '\n');
	faults_write(text, timeline);
	if (state && strcmp(state, "FAILED") == 0)
		advice = advice_of(blame_write(client, job, timeline, text));
	else if (state && strcmp(state, "RUNNING") == 0)
		last_lines_write(client, job, NULL, text);
	if (advice)
		advice_write(text, advice, id ? id : "");
}

int why_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *job = NULL;
	struct text text AUTO_TEXT = { 0 };
	int exit_code = ask_open(invocation, &client);

	if (!exit_code)
		exit_code = ask_job(invocation, client, invocation->words[0], &job);
	if (exit_code)
		return exit_code;
	why_write(client, job, &text);
	return main_output(&text);
}
