/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/study.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/plot.h"
#include "daemon/cli/table.h"
#include "daemon/main.h"

enum { WATCH_MS = 1000, WIDTH_OTHERWISE = 80, PLOT_ROWS = 11, TRIALS_SHOWN = 20, NAME_WIDTH = 10 };

/* ---- questions to the daemon ---- */

/* Appends the URL's path for the study of @job, or of the tuning job behind a pipeline, followed by @query. */
static void path_write(struct text *path, const json_t *job, const char *query)
{
	const char *family = json_text_at(job, "family"), *behind = json_text_at(job, "job");
	const char *location = json_text_at(job, "location"), *id = json_text_at(job, "id");
	const char *project = json_text_at(job, "project");

	text_puts(path, "/_trainyard/v1/projects/");
	text_percent(path, project ? project : "", URL_UNRESERVED);
	if (location)
		text_printf(path, "/locations/%s", location);
	text_printf(path, "/%s/%s/study%s", behind ? "hyperparameterTuningJobs" : family,
		    behind ? behind : id, query);
}

enum status study_ask(struct client *client, const json_t *job, json_t **ret_study, struct error *err)
{
	const char *family = json_text_at(job, "family");
	struct text path AUTO_TEXT = { 0 }, title AUTO_TEXT = { 0 };
	enum status rc = STATUS_NOT_FOUND;

	if (family && strcmp(family, "customJobs") != 0) {
		path_write(&path, job, "");
		rc = client_call(client, "GET", path.data, NULL, ret_study, err);
	}
	if (rc != STATUS_NOT_FOUND)
		return rc;
	if (err)
		error_deinit(err);
	job_title_write(&title, job);
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s is not a tuning job and has no trials",
			 title.data);
}

/* ---- output ---- */

static double number_at(const json_t *object, const char *member)
{
	const json_t *number = json_object_get(object, member);

	return json_is_number(number) ? json_number_value(number) : NAN;
}

/* "learning_rate=0.012, layers=3" */
static void parameters_write(struct text *text, const json_t *parameters)
{
	const size_t before = text->length;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)parameters, name, value) {
		text_printf(text, "%s%s=", text->length > before ? ", " : "", name);
		if (json_is_string(value))
			text_puts(text, json_string_value(value));
		else if (json_is_integer(value))
			text_printf(text, "%lld", (long long)json_integer_value(value));
		else
			text_printf(text, "%.5g", json_number_value(value));
	}
}

static void line_write(struct text *text, const char *name, const char *reported)
{
	text_printf(text, "%s%-*s%s", terminal_style(stdout, STYLE_DIM), NAME_WIDTH, name,
		    terminal_style(stdout, STYLE_NONE));
	text_wrap(text, reported, NAME_WIDTH);
	text_putc(text, '\n');
}

static const json_t *metric_of(const json_t *study)
{
	return json_array_get(json_object_get(json_object_get(study, "study"), "metrics"), 0);
}

static bool is_maximized(const json_t *study)
{
	return !json_true_at(metric_of(study), "minimized");
}

static void goal_write(struct text *text, const json_t *study)
{
	const json_t *search = json_object_get(study, "study"), *metric;
	const char *algorithm = json_text_at(search, "algorithm");
	struct text reported AUTO_TEXT = { 0 };
	size_t index;

	json_array_foreach(json_object_get(search, "metrics"), index, metric)
		text_printf(&reported, "%s%s %s", index ? ", " : "",
			    json_true_at(metric, "minimized") ? "minimize" : "maximize",
			    json_text_at(metric, "name"));
	text_printf(&reported, " (%s)", algorithm ? algorithm : "");
	line_write(text, "goal", reported.data);
}

static void trials_count(struct text *text, const json_t *study)
{
	static const char *const words[][2] = { { "COMPLETED", "completed" },
						{ "INFEASIBLE", "infeasible" },
						{ "PENDING", "under way" } };
	struct text reported AUTO_TEXT = { 0 };
	const json_t *trials = json_object_get(study, "trials"), *trial;

	text_printf(&reported, "%zu of %lld", json_array_size(trials),
		    (long long)json_int_at(study, "trialCount", 0));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t index, count = 0;

		json_array_foreach(trials, index, trial) {
			const char *outcome = json_text_at(trial, "outcome");

			count += outcome && strcmp(outcome, words[i][0]) == 0;
		}
		if (count)
			text_printf(&reported, ", %zu %s", count, words[i][1]);
	}
	line_write(text, "trials", reported.data);
}

static void best_write(struct text *text, const json_t *study)
{
	const json_t *best = json_object_get(study, "best");
	struct text reported AUTO_TEXT = { 0 };

	if (!best)
		return;
	text_printf(&reported, "%.6g by trial %lld: ", number_at(best, "objectiveValue"),
		    (long long)json_int_at(best, "trialId", 0));
	parameters_write(&reported, json_object_get(best, "parameters"));
	line_write(text, "best", reported.data);
}

static void study_plot(struct text *text, const json_t *study)
{
	const json_t *trials = json_object_get(study, "trials"), *trial;
	const unsigned width = terminal_width(stdout) ? terminal_width(stdout) : WIDTH_OTHERWISE;
	struct plot_point *points = memory_calloc(json_array_size(trials) + 1, sizeof(*points));
	const char *metric = json_text_at(metric_of(study), "name");
	struct text drawn AUTO_TEXT = { 0 };
	bool believes = false;
	size_t index;

	json_array_foreach(trials, index, trial) {
		const json_t *belief = json_object_get(trial, "belief");

		points[index] =
			(struct plot_point){ number_at(trial, "objectiveValue"), number_at(belief, "mean"),
					     number_at(belief, "deviation") };
		believes = believes || belief;
	}
	plot_write(&drawn, points, json_array_size(trials), is_maximized(study), width, PLOT_ROWS);
	free(points);
	if (!drawn.length)
		return;
	text_putc(text, '\n');
	text_one_line(text, metric ? metric : "", width);
	text_printf(text, "\n%s%s", drawn.data, terminal_style(stdout, STYLE_DIM));
	text_wrap(text, believes ? "● measured, ★ best, ─ best so far, ○┊ the model's belief" : "● measured, ★ best, ─ best so far", 0);
	text_printf(text, "%s\n", terminal_style(stdout, STYLE_NONE));
}

static const struct table_column columns[] = {
	{ .title = "TRIAL", .right = true },
	{ .title = "STATE" },
	{ .title = "OUTCOME" },
	{ .title = "VALUE", .right = true },
	{ .title = "LAST", .right = true, .optional = true },
	{ .title = "BELIEF", .right = true, .optional = true },
	{ .title = "PARAMETERS", .notes = true },
	{ .title = NULL },
};

static void value_put(struct table *table, double value, enum style style)
{
	AUTO(string) char *reported = isfinite(value) ? memory_printf("%.5g", value) : NULL;

	table_put(table, reported, style);
}

/* Returns the value that a running trial reported last. */
static double last_reported(const json_t *trial)
{
	const json_t *all = json_object_get(trial, "measurements");
	const char *outcome = json_text_at(trial, "outcome");

	if (!outcome || strcmp(outcome, "PENDING") != 0)
		return NAN;
	return number_at(json_array_get(all, json_array_size(all) - 1), "objectiveValue");
}

static void trial_put(struct table *table, const json_t *trial, int64_t best)
{
	const json_t *belief = json_object_get(trial, "belief");
	const char *state = json_text_at(trial, "state"), *outcome = json_text_at(trial, "outcome");
	const int64_t number = json_int_at(trial, "trialId", 0);
	const double mean = number_at(belief, "mean"), deviation = number_at(belief, "deviation");
	AUTO(string) char *number_text = memory_printf("%lld", (long long)number);
	AUTO(string) char *reported = isfinite(mean) ? memory_printf("%.4g ± %.2g", mean, deviation) : NULL;
	AUTO(string)
	char *ended = memory_printf("%s%s", outcome ? outcome : "",
				    json_true_at(trial, "isTrialStoppedEarly") ? ", stopped early" : "");
	struct text parameters AUTO_TEXT = { 0 };

	parameters_write(&parameters, json_object_get(trial, "parameters"));
	table_put(table, number_text, STYLE_NONE);
	table_put(table, state, state_style(state ? state : ""));
	table_put(table, ended, STYLE_NONE);
	value_put(table, number_at(trial, "objectiveValue"), number == best ? STYLE_GOOD : STYLE_NONE);
	value_put(table, last_reported(trial), STYLE_NONE);
	table_put(table, reported, STYLE_DIM);
	table_put(table, parameters.data, STYLE_DIM);
}

/* Appends a table of the newest trials (@all: of all trials), and of the best trial if it is older. */
static void trials_write(struct text *text, const json_t *study, bool all)
{
	struct table table AUTO_TABLE = { .columns = columns };
	const json_t *trials = json_object_get(study, "trials");
	const int64_t best = json_int_at(json_object_get(study, "best"), "trialId", 0);
	const size_t count = json_array_size(trials);
	const size_t first = all || count <= TRIALS_SHOWN ? 0 : count - TRIALS_SHOWN;

	for (size_t i = 0; i < count; i++)
		if (i >= first || json_int_at(json_array_get(trials, i), "trialId", 0) == best)
			trial_put(&table, json_array_get(trials, i), best);
	if (!table.cell_count)
		return;
	text_putc(text, '\n');
	table_write(text, &table, stdout);
	if (first)
		text_printf(text, "%sEarlier trials: --all%s\n", terminal_style(stdout, STYLE_DIM),
			    terminal_style(stdout, STYLE_NONE));
}

static void study_write(struct text *text, const json_t *job, const json_t *study, bool all)
{
	const char *state = json_text_at(job, "state");
	struct text title AUTO_TEXT = { 0 };

	job_title_write(&title, job);
	line_write(text, "job", title.data);
	text_printf(text, "%s%-*s%s%s%s%s\n", terminal_style(stdout, STYLE_DIM), NAME_WIDTH, "state",
		    terminal_style(stdout, STYLE_NONE),
		    terminal_style(stdout, state_style(state ? state : "")), state,
		    terminal_style(stdout, STYLE_NONE));
	goal_write(text, study);
	trials_count(text, study);
	best_write(text, study);
	study_plot(text, study);
	trials_write(text, study, all);
}

/* ---- the command ---- */

static bool csv_take(void *arg, const char *data, size_t length)
{
	(void)arg;
	return fwrite(data, 1, length, stdout) == length;
}

static int csv_print(struct client *client, const json_t *job)
{
	struct error err AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };

	path_write(&path, job, "?format=csv");
	if (client_read(client, path.data, csv_take, NULL, &err))
		return ask_failure(client, &err);
	return main_printed();
}

static int study_print(const struct invocation *invocation, const json_t *job, const json_t *study)
{
	struct text text AUTO_TEXT = { 0 };

	if (invocation_prints(invocation, "json"))
		return json_print(study);
	if (invocation_prints(invocation, "name"))
		text_printf(&text, "%s\n", json_text_at(study, "name"));
	else
		study_write(&text, job, study, invocation_flag(invocation, "all"));
	return main_output(&text);
}

/* Shows the study, and draws it again each second until the job has ended. */
static int study_watch(const struct invocation *invocation, struct client *client, const char *reference)
{
	struct text last AUTO_TEXT = { 0 };

	for (;; poll(NULL, 0, WATCH_MS)) {
		struct error err AUTO_ERROR = { 0 };
		AUTO(json) json_t *job = NULL;
		AUTO(json) json_t *study = NULL;
		struct text text AUTO_TEXT = { 0 };
		const int exit_code = ask_job(invocation, client, reference, &job);
		const char *state;
		bool is_final;

		if (exit_code)
			return exit_code;
		if (study_ask(client, job, &study, &err))
			return ask_failure(client, &err);
		study_write(&text, job, study, invocation_flag(invocation, "all"));
		state = json_text_at(job, "state");
		is_final = state && state_is_final(state);
		if (is_final || !last.data || strcmp(last.data, text.data) != 0) {
			text_clear(&last);
			text_puts(&last, text.data);
			/* the final state is not drawn again, so it may be longer than the terminal */
			screen_draw(&text, is_final);
		}
		if (is_final)
			return state_exit(state);
	}
}

int study_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *job = NULL;
	AUTO(json) json_t *study = NULL;
	int exit_code = ask_open(invocation, &client);

	if (!exit_code)
		exit_code = ask_job(invocation, client, invocation->words[0], &job);
	if (exit_code)
		return exit_code;
	if (study_ask(client, job, &study, &err))
		return ask_failure(client, &err);
	if (invocation_flag(invocation, "csv"))
		return csv_print(client, job);
	if (invocation_flag(invocation, "watch"))
		return study_watch(invocation, client, json_text_at(job, "name"));
	return study_print(invocation, job, study);
}
