/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_log.h"

#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_timeline.h"
#include "daemon/cli/json_lines.h"
#include "daemon/cli/study.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

enum {
	REPLICAS_COLOURED = 64,
	TAB = 8,
	TIME_SHOWN = 32,
	PREFIX_LEAST = 13,
	GAP = 2,
	TIME_WIDTH = 24, /* "2026-11-26 08:00:01.123 " */
	LOOK_MS = 200,
	BREAKS_MAX = 100
};

const char *const log_severities[] = { "DEFAULT", "DEBUG",    "INFO",  "NOTICE",    "WARNING",
				       "ERROR",   "CRITICAL", "ALERT", "EMERGENCY", NULL };

const char *const log_outputs[] = { "text", "json", NULL };

struct log_printing {
	struct json_lines lines; /* reads the stream */
	bool json, timestamps, prefix, terminal, own_stdout;
	regex_t *pattern; /* NULL: all lines */
	char *replicas[REPLICAS_COLOURED];
	size_t replica_count;
	int prefix_width;
	/* The position in a followed log, from which a new connection continues. */
	char *cursor;  /* NULL: none came */
	int64_t total; /* number of lines printed */
	int64_t taken; /* number of lines printed since the cursor */
	bool ended;    /* the job has ended, and its last line was printed */
};

/* ---- one line ---- */

/* Returns the number of a replica in the order of appearance, which selects its colour. */
static size_t replica_number(struct log_printing *printing, const char *replica)
{
	for (size_t i = 0; i < printing->replica_count; i++)
		if (strcmp(printing->replicas[i], replica) == 0)
			return i;
	if (printing->replica_count < REPLICAS_COLOURED)
		printing->replicas[printing->replica_count++] = memory_strdup(replica);
	return printing->replica_count - 1;
}

static const char *replica_colour(struct log_printing *printing, const char *replica)
{
	static const char *const colours[] = { "\033[36m", "\033[33m", "\033[32m",
					       "\033[35m", "\033[34m", "\033[31m" };

	if (!*terminal_style(stdout, STYLE_NONE))
		return "";
	return colours[replica_number(printing, replica) % (sizeof(colours) / sizeof(colours[0]))];
}

/* Prints a time in local time, with milliseconds. */
static void time_print(FILE *file, const char *time)
{
	const int64_t us = time_read(time, 0);
	const time_t s = us / 1000000;
	struct tm local;
	char reported[TIME_SHOWN];

	localtime_r(&s, &local);
	strftime(reported, sizeof(reported), "%Y-%m-%d %H:%M:%S", &local);
	fprintf(file, "%s.%03d ", reported, (int)(us / 1000 % 1000));
}

/* Returns how wide the beginning of a line is: the time and the replica. */
static unsigned begin_width(const struct log_printing *printing)
{
	return (printing->timestamps ? TIME_WIDTH : 0) + (unsigned)printing->prefix_width + GAP;
}

/* Prints a message: on a terminal without control characters, otherwise unchanged. Lines of the service are sentences,
 * which a terminal gets wrapped; a program's lines stay as they are. */
static void message_print(const struct log_printing *printing, FILE *file, const char *message, bool service)
{
	const unsigned width = service ? terminal_width(file) : 0;
	struct text spaced AUTO_TEXT = { 0 }, reported AUTO_TEXT = { 0 };
	size_t column = 0;

	if (!printing->terminal) {
		fprintf(file, "%s\n", message);
		return;
	}
	if (width) {
		words_wrap(&reported, message, begin_width(printing), width);
		fprintf(file, "%s\n", reported.length ? reported.data : "");
		return;
	}
	for (; *message; message++) {
		const size_t blanks = *message == '\t' ? TAB - column % TAB : 0;

		if (blanks)
			text_printf(&spaced, "%*s", (int)blanks, "");
		else
			text_putc(&spaced, *message);
		column += blanks ? blanks : 1;
	}
	text_one_line(&reported, spaced.data ? spaced.data : "", 0);
	fprintf(file, "%s\n", reported.data);
}

static void prefix_print(struct log_printing *printing, FILE *file, const json_t *line, bool service)
{
	const char *replica = json_text_at(line, "replica"), *trial = json_text_at(line, "trial");
	struct text name AUTO_TEXT = { 0 };

	if (trial)
		text_printf(&name, "trial %s ", trial);
	text_one_line(&name, replica ? replica : "", 0);
	if ((int)name.length > printing->prefix_width)
		printing->prefix_width = (int)name.length;
	fprintf(file, "%s%-*s%s%*s",
		service ? terminal_style(file, STYLE_DIM) : replica_colour(printing, name.data),
		printing->prefix_width, name.data, terminal_style(file, STYLE_NONE), GAP, "");
}

static void line_print(struct log_printing *printing, const json_t *line)
{
	const char *replica = json_text_at(line, "replica"), *reported = json_text_at(line, "message");
	const bool service = replica && strcmp(replica, "service") == 0;
	FILE *file = service && !printing->own_stdout ? stderr : stdout;
	AUTO(string) char *fields = reported ? NULL : json_dump_compact(json_object_get(line, "fields"));
	const char *message = reported ? reported : fields ? fields : "";

	if (printing->pattern && regexec(printing->pattern, message, 0, NULL, 0) != 0)
		return;
	if (printing->json) {
		AUTO(string) char *whole = json_dump_compact(line);

		puts(whole);
		return;
	}
	if (file == stderr) /* stdout and stderr may be the same pipe: keep the order of the lines */
		fflush(stdout);
	if (printing->timestamps)
		time_print(file, json_text_at(line, "time"));
	if (printing->prefix || service || json_text_at(line, "trial"))
		prefix_print(printing, file, line, service);
	message_print(printing, file, message, service);
}

/* ---- the stream ---- */

/* Handles one line of the stream: a log line, a cursor, or the end. Returns false to stop reading. */
static bool line_take(void *arg, const json_t *line)
{
	struct log_printing *printing = arg;
	const char *cursor = json_text_at(line, "cursor");

	if (cursor) {
		free(printing->cursor);
		printing->cursor = memory_strdup(cursor);
		printing->taken = json_int_at(line, "skip", 0);
	} else if (json_true_at(line, "end")) {
		printing->ended = true;
	} else {
		printing->taken++;
		printing->total++;
		line_print(printing, line);
	}
	return true;
}

static bool lines_take(void *arg, const char *data, size_t length)
{
	struct log_printing *printing = arg;

	return json_lines_take(&printing->lines, data, length) && fflush(stdout) == 0;
}

static char farewell[512];

static void on_interrupt(int number)
{
	(void)number;
	if (write(STDERR_FILENO, farewell, strlen(farewell)) < 0)
		_exit(EXIT_INTERRUPTED);
	_exit(EXIT_INTERRUPTED);
}

static void interrupt_expect(const json_t *job)
{
	struct sigaction action = { .sa_handler = on_interrupt };
	const char *id = json_text_at(job, "id");

	snprintf(farewell, sizeof(farewell),
		 "\nThe job goes on.\nTo see more: trainyard logs -f %s\nTo end it:   trainyard cancel %s\n", id ? id : "",
		 id ? id : "");
	sigaction(SIGINT, &action, NULL);
}

static void clause_add(struct text *filter, const char *clause)
{
	text_printf(filter, "%s(%s)", filter->length ? " AND " : "", clause);
}

/* Appends the filter for the --replica options. A replica is worker-1 in commands, but worker-replica-1 in the log of AI
 * Platform, so both names are in the filter. */
static void replicas_write(const struct invocation *invocation, struct text *filter)
{
	struct text clause AUTO_TEXT = { 0 };
	const char *replica;

	for (size_t at = 0; (replica = invocation_next(invocation, "replica", &at)) != NULL;) {
		const char *dash = strrchr(replica, '-');

		text_printf(&clause, "%sresource.labels.task_name=", clause.length ? " OR " : "");
		text_json(&clause, replica, strlen(replica));
		if (dash) {
			AUTO(string)
			char *full = memory_printf("%.*s-replica%s", (int)(dash - replica), replica, dash);

			text_puts(&clause, " OR resource.labels.task_name=");
			text_json(&clause, full, strlen(full));
		}
	}
	if (clause.length)
		clause_add(filter, clause.data);
}

/* Returns true if @name is @replica, or its short form: worker-1 of worker-replica-1. */
static bool replica_has_name(const char *replica, const char *name)
{
	const char *dash = strrchr(name, '-');
	const size_t length = dash ? (size_t)(dash - name) : 0;

	return strcmp(replica, name) == 0 ||
	       (dash && strncmp(replica, name, length) == 0 && strncmp(replica + length, "-replica-", 9) == 0 &&
		strcmp(replica + length + 8, dash) == 0);
}

/* Asks for a timeline with the job's replicas. A tuning job has none itself; all its trials have the same, and the first
 * trial is made together with the job. */
static json_t *replicas_ask(struct client *client, const json_t *job)
{
	json_t *timeline = timeline_ask(client, job, 0);

	if (json_array_size(json_object_get(timeline, "replicas")))
		return timeline;
	json_decref(timeline);
	return timeline_ask(client, job, 1);
}

/* Refuses a --replica that the job does not have: its lines would never come, and nothing would say why. */
static enum status replicas_check(const struct invocation *invocation, struct client *client,
				  const json_t *job, struct error *err)
{
	AUTO(json) json_t *timeline = NULL;
	const char *name;

	for (size_t at = 0; (name = invocation_next(invocation, "replica", &at)) != NULL;) {
		struct text names AUTO_TEXT = { 0 };
		bool found = strcmp(name, "service") == 0;
		const json_t *replica;
		size_t index;

		if (!timeline)
			timeline = replicas_ask(client, job);
		json_array_foreach(json_object_get(timeline, "replicas"), index, replica) {
			const char *own = json_text_at(replica, "replica");

			text_printf(&names, "%s%s", index ? ", " : "", own);
			found = found || replica_has_name(own, name);
		}
		if (!found && names.length)
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "--replica: the job has no replica %s; it has %s", name, names.data);
	}
	return STATUS_OK;
}

/* Refuses a --trial that the job does not have and will not have: there would be no line, and nothing would say why. */
static enum status trial_check(const struct invocation *invocation, struct client *client, const json_t *job,
			       struct error *err)
{
	const char *state = json_text_at(job, "state");
	AUTO(json) json_t *study = NULL;
	int64_t trial = 0, most;
	enum status rc = invocation_number(invocation, "trial", 1, &trial, err);

	if (rc || !trial)
		return rc;
	rc = study_ask(client, job, &study, err);
	if (rc)
		return rc;
	most = state && state_is_final(state) ? (int64_t)json_array_size(json_object_get(study, "trials"))
					      : json_int_at(study, "trialCount", 0);
	if (trial <= most)
		return STATUS_OK;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--trial: the job has no trial %lld; it has %lld",
			 (long long)trial, (long long)most);
}

static void filter_write(const struct invocation *invocation, struct text *filter)
{
	const char *severity = invocation_value(invocation, "severity");
	const char *trial = invocation_value(invocation, "trial");
	struct text clause AUTO_TEXT = { 0 };

	replicas_write(invocation, filter);
	if (severity) {
		text_printf(&clause, "severity>=%s", severity);
		clause_add(filter, clause.data);
	}
	if (trial) {
		text_clear(&clause);
		text_puts(&clause, "labels.\"ml.googleapis.com/trial_id\"=");
		text_json(&clause, trial, strlen(trial));
		clause_add(filter, clause.data);
	}
}

static enum status since_write(const struct invocation *invocation, struct client *client, struct text *path,
			       struct error *err)
{
	const char *since = invocation_value(invocation, "since");
	struct text time AUTO_TEXT = { 0 };
	int64_t us = 0, ns;

	if (!since)
		return STATUS_OK;
	if (time_parse(since, &ns))
		us = ns / 1000;
	else if (invocation_duration(invocation, "since", &us, err))
		return STATUS_INVALID_ARGUMENT;
	else
		us = ask_now(client) - us;
	text_time_micros(&time, us);
	text_puts(path, "&sinceTime=");
	text_percent(path, time.data, URL_UNRESERVED);
	return STATUS_OK;
}

static enum status path_write(struct client *client, const json_t *job, const struct log_options *options,
			      struct text *path, struct error *err)
{
	const struct invocation *invocation = options->invocation;
	const char *id = json_text_at(job, "id"), *project = json_text_at(job, "project");
	struct text filter AUTO_TEXT = { 0 };
	int64_t last = -1;
	enum status rc = invocation_number(invocation, "tail", 0, &last, err);

	if (rc)
		return rc;
	job_path_write(path, id ? id : "",
		       options->follow ? ":log?follow=true&cursors=true&project=" : ":log?project=");
	text_percent(path, project ? project : "", URL_UNRESERVED);
	if (last >= 0)
		text_printf(path, "&tail=%lld", (long long)last);
	text_puts(&filter, "");
	filter_write(invocation, &filter);
	text_puts(path, "&filter=");
	text_percent(path, filter.data, URL_UNRESERVED);
	return since_write(invocation, client, path, err);
}

static enum status pattern_read(const struct invocation *invocation, regex_t *pattern, regex_t **ret_pattern,
				struct error *err)
{
	const char *words = invocation_value(invocation, "grep");
	char fault[128];
	int rc = words ? regcomp(pattern, words, REG_EXTENDED | REG_NOSUB) : 0;

	if (words && !rc)
		*ret_pattern = pattern;
	if (!rc)
		return STATUS_OK;
	regerror(rc, pattern, fault, sizeof(fault));
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--grep: \"%s\" is not a regular expression: %s",
			 words, fault);
}

static bool asks_service(const struct invocation *invocation)
{
	const char *replica = invocation_value(invocation, "replica");

	return replica && strcmp(replica, "service") == 0;
}

/* Waits for a daemon that does not answer, with a message. Returns false if it is still away after ASK_AWAY_US. */
static bool daemon_await(struct client *client)
{
	const int64_t end_us = clock_mono_us(&system_clock) + ASK_AWAY_US;
	bool is_there = false;

	while (!is_there && clock_mono_us(&system_clock) < end_us) {
		AUTO(json) json_t *health = NULL;

		client_show_away(client, end_us);
		poll(NULL, 0, LOOK_MS);
		is_there = client_call(client, "GET", "/healthz", NULL, &health, NULL) == STATUS_OK;
	}
	progress_clear();
	return is_there;
}

/* Reads the log once, from the cursor if there is one. */
static enum status stream_read(struct client *client, const char *path, struct log_printing *printing,
			       struct error *err)
{
	struct text onward AUTO_TEXT = { 0 };

	text_puts(&onward, path);
	if (printing->cursor) {
		text_puts(&onward, "&cursor=");
		text_percent(&onward, printing->cursor, URL_UNRESERVED);
		text_printf(&onward, "&skip=%lld", (long long)printing->taken);
	}
	text_clear(&printing->lines.line); /* forget an incomplete line: the daemon sends it again */
	return client_read(client, onward.data, lines_take, printing, err);
}

/* Prints the log until the job has ended, and reconnects when the daemon restarts. */
static int log_follow(struct client *client, const char *path, struct log_printing *printing)
{
	for (unsigned breaks = 0; breaks < BREAKS_MAX; breaks++) {
		struct error err AUTO_ERROR = { 0 };
		const int64_t before = printing->total;
		const enum status rc = stream_read(client, path, printing, &err);

		if (printing->total > before)
			breaks = 0;
		if (printing->ended || printing->lines.broken)
			return EXIT_GOOD;
		if ((rc && rc != STATUS_UNAVAILABLE) || ferror(stdout))
			return rc ? ask_failure(client, &err) : EXIT_FAILED;
		if (!daemon_await(client)) {
			error_set(&err, STATUS_UNAVAILABLE, NULL, "%s has not answered for a minute",
				  client_endpoint(client));
			ask_failure(client, &err);
			return EXIT_UNREACHED;
		}
	}
	fputs("trainyard: the connection breaks again and again, and no line comes\n", stderr);
	return EXIT_FAILED;
}

int log_print(struct client *client, const json_t *job, const struct log_options *options)
{
	const char *family = json_text_at(job, "family");
	struct log_printing printing = {
		.json = options->json,
		.timestamps = invocation_flag(options->invocation, "timestamps"),
		.prefix = json_int_at(job, "replicaCount", 1) > 1 ||
			  (family && strcmp(family, "hyperparameterTuningJobs") == 0),
		.terminal = terminal_width(stdout) > 0,
		.own_stdout = asks_service(options->invocation),
		.prefix_width = PREFIX_LEAST,
		.lines = { .take = line_take, .arg = &printing },
	};
	struct error err AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };
	regex_t pattern;
	int exit_code = EXIT_GOOD;

	if (pattern_read(options->invocation, &pattern, &printing.pattern, &err) ||
	    replicas_check(options->invocation, client, job, &err) ||
	    trial_check(options->invocation, client, job, &err) ||
	    path_write(client, job, options, &path, &err)) {
		exit_code = client_is_unreached(client) ? ask_failure(client, &err)
							: main_usage_error("logs ", &err);
	} else {
		if (options->follow)
			interrupt_expect(job);
		if (options->follow)
			exit_code = log_follow(client, path.data, &printing);
		else if (client_read(client, path.data, lines_take, &printing, &err))
			exit_code = ask_failure(client, &err);
	}
	if (printing.lines.broken)
		exit_code = EXIT_FAILED;
	if (ferror(stdout))
		exit_code = main_printed();
	if (printing.pattern)
		regfree(printing.pattern);
	json_lines_deinit(&printing.lines);
	free(printing.cursor);
	while (printing.replica_count)
		free(printing.replicas[--printing.replica_count]);
	return exit_code;
}

int logs_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *job = NULL;
	const char *output = invocation_value(invocation, "output");
	int exit_code = ask_open(invocation, &client);

	if (!exit_code)
		exit_code = ask_job(invocation, client, invocation->words[0], &job);
	if (exit_code)
		return exit_code;
	return log_print(client, job,
			 &(struct log_options){ .invocation = invocation,
						.follow = invocation_flag(invocation, "follow"),
						.json = output && strcmp(output, "json") == 0 });
}
