/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/metric_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/tuning/metric_report.h"

/* ---- reports that were read before ---- */

/* Orders reports by step, then time. The step comes first, because clocks may be set back, and because reports of
 * earlier steps are not kept anyway (measurements_add()). */
static int known_compare(const struct metric_known *a, const struct metric_known *b)
{
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return (a->time_s > b->time_s) - (a->time_s < b->time_s);
}

/* The index at which @key is, or at which it has to be inserted. */
static size_t known_place(const struct metric_file *file, const struct metric_known *key)
{
	size_t low = 0, high = file->known_count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (known_compare(&file->known[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Forgets the earlier half of the list; file->forgotten then stands for it. */
static void known_forget(struct metric_file *file)
{
	const size_t half = file->known_count / 2;

	file->forgotten = file->known[half - 1];
	file->known_count -= half;
	memmove(file->known, file->known + half, file->known_count * sizeof(*file->known));
}

/* The metrics of report @key that were read before, a bit each. */
static unsigned known_metrics(const struct metric_file *file, const struct metric_known *key)
{
	const size_t place = known_place(file, key);

	/* A zeroed file->forgotten stands for no report. */
	if (file->forgotten.metrics && known_compare(key, &file->forgotten) <= 0)
		return UINT_MAX;
	if (place < file->known_count && known_compare(&file->known[place], key) == 0)
		return file->known[place].metrics;
	return 0;
}

static void known_add(struct metric_file *file, const struct metric_known *key)
{
	size_t place;

	if (file->known_count == METRIC_FILE_KNOWN_MAX)
		known_forget(file);
	place = known_place(file, key);
	if (place < file->known_count && known_compare(&file->known[place], key) == 0) {
		file->known[place].metrics |= key->metrics;
		return;
	}
	memmove(file->known + place + 1, file->known + place,
		(file->known_count - place) * sizeof(*file->known));
	file->known[place] = *key;
	file->known_count++;
}

/* ---- one line ---- */

static bool string_to_double(const char *string, double *ret_value)
{
	char *end;
	const double value = strtod(string, &end);

	if (end == string)
		return false;
	while (isspace((unsigned char)*end))
		end++;
	*ret_value = value;
	return *end == '\0';
}

/* NaN: it is no number. */
static double number_of(const json_t *value)
{
	double number;

	if (json_is_number(value))
		return json_number_value(value);
	return json_is_string(value) && string_to_double(json_string_value(value), &number) ? number : NAN;
}

static int64_t step_of(const json_t *value)
{
	const double number = number_of(value);

	if (json_is_integer(value))
		return json_integer_value(value);
	if (json_is_string(value)) {
		const char *string = json_string_value(value);
		char *end;
		long long step;

		errno = 0;
		step = strtoll(string, &end, 10);
		if (end != string && *end == '\0' && !errno)
			return step;
	}
	return fabs(number) < 0x1p63 ? (int64_t)number : 0;
}

static bool is_tag(const char *key, const json_t *value)
{
	static const char *const others[] = { "checkpoint_path", "global_step", "timestamp", "trial" };
	double number;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(key, others[i]) == 0)
			return false;
	return json_is_number(value) ||
	       (json_is_string(value) && string_to_double(json_string_value(value), &number));
}

/* Replaces the bare words NaN and Infinity, which Python's json writes and JSON does not have, by null. */
static void words_replace(struct text *text, const char *line, size_t length)
{
	static const char *const words[] = { "NaN", "-Infinity", "Infinity" };
	bool in_string = false;

	for (size_t at = 0; at < length; at++) {
		size_t step = 0;

		for (size_t i = 0; !in_string && !step && i < sizeof(words) / sizeof(words[0]); i++)
			if (length - at >= strlen(words[i]) &&
			    memcmp(line + at, words[i], strlen(words[i])) == 0)
				step = strlen(words[i]);
		if (step) {
			text_puts(text, "null");
			at += step - 1;
			continue;
		}
		if (line[at] == '"')
			in_string = !in_string;
		text_putc(text, line[at]);
		if (line[at] == '\\' && at + 1 < length)
			text_putc(text, line[++at]);
	}
}

/* NULL: not a JSON object. */
static json_t *line_parse(const char *line, size_t length)
{
	AUTO(json) json_t *value = json_parse_foreign(line, length, 0, NULL);

	if (!value) {
		struct text text AUTO_TEXT = { 0 };

		words_replace(&text, line, length);
		if (text.length)
			value = json_parse_foreign(text.data, text.length, 0, NULL);
	}
	return json_is_object(value) ? TAKE(value) : NULL;
}

static unsigned metrics_of(const struct metric_report *report, const struct measurement *measurement)
{
	unsigned metrics = 0;

	for (size_t i = 0; i < report->metric_count; i++)
		if (!isnan(measurement->values[i]))
			metrics |= 1u << i;
	return metrics;
}

static void metrics_drop(const struct metric_report *report, struct measurement *measurement,
			 unsigned metrics)
{
	for (size_t i = 0; i < report->metric_count; i++)
		if (metrics & 1u << i)
			measurement->values[i] = NAN;
}

static void object_take(struct metric_file *file, struct metric_report *report, json_t *object)
{
	const double time_s = number_of(json_object_get(object, "timestamp"));
	struct metric_known key = {
		.time_s = isfinite(time_s) ? time_s : 0,
		.step = step_of(json_object_get(object, "global_step")),
	};
	struct measurement measurement = metric_report_start(report, key.step, time_s);
	const char *tag;
	json_t *value;

	json_object_foreach(object, tag, value)
		if (is_tag(tag, value) || metric_report_wants(report, tag, strlen(tag)))
			metric_report_value(report, &measurement, tag, strlen(tag), number_of(value));
	metrics_drop(report, &measurement, known_metrics(file, &key));
	key.metrics = metrics_of(report, &measurement);
	if (!key.metrics)
		return;
	metric_report_add(report, &measurement);
	known_add(file, &key);
}

static bool is_blank(const char *line, size_t length)
{
	while (length > 0 && isspace((unsigned char)line[length - 1]))
		length--;
	return length == 0;
}

/* Reads one line. @is_last: the line has no end yet, so that more of it may come. */
static void line_take(struct metric_file *file, struct metric_report *report, const char *line, size_t length,
		      bool is_last)
{
	AUTO(json) json_t *object = NULL;

	if (is_blank(line, length))
		return;
	if (length <= METRIC_LINE_BYTES_MAX)
		object = line_parse(line, length);
	if (object) {
		object_take(file, report, object);
		return;
	}
	if (!is_last)
		report->is_broken = true;
}

/* ---- the file ---- */

/* The position of the first line to be read. */
static size_t window_start(const char *text, size_t length)
{
	const size_t first = length > METRIC_FILE_BYTES_MAX ? length - METRIC_FILE_BYTES_MAX : 0;
	size_t end = length && text[length - 1] == '\n' ? length - 1 : length, start = end;

	for (unsigned lines = 0; lines < METRIC_FILE_LINES_MAX; lines++) {
		const char *newline = end > first ? memrchr(text + first, '\n', end - first) : NULL;

		if (!newline)
			return first ? start : 0;
		end = (size_t)(newline - text);
		start = end + 1;
	}
	return start;
}

void metric_file_read(struct metric_file *file, struct metric_report *report, const char *text, size_t length)
{
	for (size_t at = window_start(text, length); at < length;) {
		const char *newline = memchr(text + at, '\n', length - at);
		const size_t line = newline ? (size_t)(newline - text) - at : length - at;

		line_take(file, report, text + at, line, !newline);
		at += line + 1;
	}
}
