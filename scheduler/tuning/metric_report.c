/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/metric_report.h"

#include <math.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"

void metric_report_init(struct metric_report *report, const struct metric *metrics, size_t metric_count,
			double started_s)
{
	*report = (struct metric_report){
		.metrics = metrics,
		.metric_count = metric_count < METRICS_MAX ? metric_count : METRICS_MAX,
		.started_s = started_s,
		.known_step = INT64_MIN,
		.known_elapsed_s = -INFINITY,
	};
}

void metric_report_deinit(struct metric_report *report)
{
	for (size_t i = 0; i < report->tag_count; i++)
		free(report->tags[i]);
	report->tag_count = 0;
	free(report->measurements);
	report->measurements = NULL;
	report->measurement_count = report->measurement_size = 0;
}

void metric_report_resume(struct metric_report *report, const struct measurement *last)
{
	report->known_elapsed_s = last->elapsed_s;
	report->known_step = last->step;
	for (size_t i = 0; i < report->metric_count; i++)
		if (!isnan(last->values[i]))
			report->has_arrived[i] = true;
}

void metric_report_clear(struct metric_report *report)
{
	report->measurement_count = 0;
}

bool measurement_join(struct measurement *into, const struct measurement *from, size_t metric_count)
{
	if (into->step != from->step)
		return false;
	for (size_t i = 0; i < metric_count; i++)
		if (!isnan(into->values[i]) && !isnan(from->values[i]))
			return false;
	for (size_t i = 0; i < metric_count; i++)
		if (!isnan(from->values[i]))
			into->values[i] = from->values[i];
	into->elapsed_s = fmax(into->elapsed_s, from->elapsed_s);
	return true;
}

/* ---- values ---- */

struct measurement metric_report_start(const struct metric_report *report, int64_t step, double time_s)
{
	const double elapsed_s = time_s - report->started_s;
	struct measurement measurement = { .step = step, .elapsed_s = 0 };

	if (isfinite(elapsed_s) && elapsed_s > 0)
		measurement.elapsed_s = elapsed_s;
	for (size_t i = 0; i < METRICS_MAX; i++)
		measurement.values[i] = NAN;
	return measurement;
}

static size_t metric_find(const struct metric_report *report, const char *tag, size_t tag_length)
{
	size_t i = 0;

	while (i < report->metric_count && (strlen(report->metrics[i].name) != tag_length ||
					    memcmp(report->metrics[i].name, tag, tag_length) != 0))
		i++;
	return i;
}

bool metric_report_wants(const struct metric_report *report, const char *tag, size_t tag_length)
{
	return metric_find(report, tag, tag_length) < report->metric_count;
}

static void tag_note(struct metric_report *report, const char *tag, size_t tag_length)
{
	const size_t kept =
		strnlen(tag, tag_length < METRIC_TAG_BYTES_MAX ? tag_length : METRIC_TAG_BYTES_MAX);
	char *copy;

	for (size_t i = 0; i < report->tag_count; i++)
		if (strlen(report->tags[i]) == kept && memcmp(report->tags[i], tag, kept) == 0)
			return;
	copy = report->tag_count < METRIC_TAGS_SEEN_MAX ? memory_strndup(tag, kept) : NULL;
	if (copy)
		report->tags[report->tag_count++] = copy;
	else
		report->has_more_tags = true;
}

void metric_report_value(struct metric_report *report, struct measurement *measurement, const char *tag,
			 size_t tag_length, double value)
{
	const size_t index = metric_find(report, tag, tag_length);

	if (index == report->metric_count)
		tag_note(report, tag, tag_length);
	else if (!isfinite(value))
		report->is_unusable[index] = true;
	else if (isnan(measurement->values[index]))
		measurement->values[index] = value;
}

static bool has_values(const struct metric_report *report, const struct measurement *measurement)
{
	for (size_t i = 0; i < report->metric_count; i++)
		if (!isnan(measurement->values[i]))
			return true;
	return false;
}

/* Whether the report was read before the restart, compared by step, then time. The step comes first, because clocks may
 * be set back while a trial runs, and because reports of earlier steps do not count anyway (measurements_add()). */
static bool was_taken_before(const struct metric_report *report, const struct measurement *measurement)
{
	return measurement->step < report->known_step ||
	       (measurement->step == report->known_step && measurement->elapsed_s <= report->known_elapsed_s);
}

static void measurement_append(struct metric_report *report, const struct measurement *measurement)
{
	if (report->measurement_count == report->measurement_size) {
		const size_t size = report->measurement_size ? 2 * report->measurement_size : 16;
		struct measurement *grown = memory_resize(report->measurements, size, sizeof(*grown));

		report->measurements = grown;
		report->measurement_size = size;
	}
	report->measurements[report->measurement_count++] = *measurement;
}

void metric_report_add(struct metric_report *report, const struct measurement *measurement)
{
	const size_t count = report->measurement_count;

	if (!has_values(report, measurement) || was_taken_before(report, measurement))
		return;
	if (!count || !measurement_join(&report->measurements[count - 1], measurement, report->metric_count))
		measurement_append(report, measurement);
	for (size_t i = 0; i < report->metric_count; i++)
		report->has_arrived[i] |= !isnan(measurement->values[i]);
}

/* ---- why a metric has no value ---- */

static void tags_write(struct text *text, const struct metric_report *report)
{
	text_puts(text, "reports came under other tags only: ");
	for (size_t i = 0; i < report->tag_count; i++) {
		text_puts(text, i ? ", " : "");
		text_json(text, report->tags[i], strlen(report->tags[i]));
	}
	if (report->has_more_tags)
		text_puts(text, " and more");
}

static void source_write(struct text *text, const struct metric_report *report, enum metric_source source,
			 const char *cause)
{
	switch (source) {
	case METRIC_SOURCE_MISSING:
		text_puts(text, "the program wrote no metrics");
		return;
	case METRIC_SOURCE_EMPTY:
		text_puts(text, "the file of its metrics is empty; "
				"the program may have ended before it was written");
		return;
	case METRIC_SOURCE_UNREADABLE:
		text_puts(text, "the file of its metrics could not be read");
		if (cause)
			text_printf(text, " (%s)", cause);
		return;
	case METRIC_SOURCE_READ:
		text_puts(text, report->is_broken
					? "nothing in the file of its metrics could be read as a report"
					: "the file of its metrics holds no reports");
		return;
	}
}

void metric_absence_text(struct text *text, const struct metric_report *report, size_t index,
			 enum metric_source source, const char *cause)
{
	const char *name = report->metrics[index].name;

	text_puts(text, "The metric ");
	text_json(text, name, strlen(name));
	text_puts(text, " was not reported: ");
	if (report->is_unusable[index])
		text_puts(text, "its tag came, but never with a finite number");
	else if (report->tag_count || report->has_more_tags)
		tags_write(text, report);
	else
		source_write(text, report, source, cause);
	text_putc(text, '.');
}
