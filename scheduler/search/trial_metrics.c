/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/trial_plan.h"
#include "scheduler/search/trial_events.h"
#include "scheduler/tuning/measurements.h"
#include "scheduler/tuning/metric_file.h"
#include "scheduler/tuning/metric_report.h"

/* A key in the stored text: the measurements are of event files, which are read anew from the beginning. */
static const char from_events_key[] = "fromEvents";

struct trial_metrics {
	char *path;
	struct metric_file *file; /* NULL: no more reports are read */
	struct metric_report report;
	enum metric_source source;
	char cause[128];
	const struct study *study;
	struct measurements of_file, of_events;
	struct trial_events *events; /* NULL: none are looked for */
	char *unread_dir;            /* may have event files, but this daemon cannot read it; NULL: none */
	bool changed;                /* since trial_metrics_stored() */
};

static void events_open(struct trial_metrics *metrics, const struct trial_source *place)
{
	struct text directory AUTO_TEXT = { 0 };

	if (!place->job_dir)
		return;
	trial_job_dir_write(&directory, place->job_dir, place->number);
	if (place->objects)
		metrics->events = trial_events_new(place->objects, directory.data, place->since);
	else
		metrics->unread_dir = text_take(&directory);
}

struct trial_metrics *trial_metrics_new(const struct study *study, const struct trial_source *place,
					double started_s)
{
	struct trial_metrics *metrics = memory_calloc(1, sizeof(*metrics));

	metrics->study = study;
	metric_report_init(&metrics->report, study->metrics, study->metric_count, started_s);
	measurements_init(&metrics->of_file, study);
	measurements_init(&metrics->of_events, study);
	metrics->file = memory_calloc(1, sizeof(*metrics->file));
	metrics->path = memory_printf("%s/output.metrics", place->directory);
	events_open(metrics, place);
	return metrics;
}

void trial_metrics_free(struct trial_metrics *metrics)
{
	if (!metrics)
		return;
	metric_report_deinit(&metrics->report);
	measurements_deinit(&metrics->of_file);
	measurements_deinit(&metrics->of_events);
	trial_events_free(metrics->events);
	free(metrics->file);
	free(metrics->path);
	free(metrics->unread_dir);
	free(metrics);
}

enum status trial_metrics_resume(struct trial_metrics *metrics, const char *text, struct error *err)
{
	AUTO(json) json_t *value = NULL;
	const struct measurements *of_file = &metrics->of_file;
	enum status rc = json_parse_own(text, &value, err);

	if (!rc && json_is_true(json_object_get(value, from_events_key)))
		return measurements_from_json(value, &metrics->of_events, err);
	if (!rc)
		rc = measurements_from_json(value, &metrics->of_file, err);
	if (!rc && of_file->count)
		metric_report_resume(&metrics->report, &of_file->all[of_file->count - 1]);
	return rc;
}

void trial_metrics_finish(struct trial_metrics *metrics)
{
	trial_events_free(TAKE(metrics->events));
	free(TAKE(metrics->file));
}

/* ---- the file ---- */

static void unreadable(struct trial_metrics *metrics, const char *cause)
{
	metrics->source = METRIC_SOURCE_UNREADABLE;
	snprintf(metrics->cause, sizeof(metrics->cause), "%s", cause);
}

static void measurements_take(struct trial_metrics *metrics)
{
	struct metric_report *report = &metrics->report;

	for (size_t i = 0; i < report->measurement_count; i++)
		measurements_add(&metrics->of_file, &report->measurements[i]);
	metrics->changed = metrics->changed || report->measurement_count;
	metric_report_clear(report);
}

/* Reads the file with one read(2), because the results of several calls could join halves of two reports. */
static void text_read(struct trial_metrics *metrics, int fd)
{
	char *text = memory_alloc(METRIC_FILE_BYTES_MAX);
	struct stat status;
	ssize_t length;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		unreadable(metrics, "it is no plain file");
	} else if ((length = pread(fd, text, METRIC_FILE_BYTES_MAX,
				   status.st_size > METRIC_FILE_BYTES_MAX
					   ? status.st_size - METRIC_FILE_BYTES_MAX
					   : 0)) < 0) {
		unreadable(metrics, strerror(errno));
	} else if (length == 0) {
		metrics->source = metrics->of_file.count ? METRIC_SOURCE_READ : METRIC_SOURCE_EMPTY;
	} else {
		metrics->source = METRIC_SOURCE_READ;
		metric_file_read(metrics->file, &metrics->report, text, (size_t)length);
		measurements_take(metrics);
	}
	free(text);
}

/* Opens and reads the metric file. It comes from an untrusted program: links are not followed, and nothing that blocks is
 * opened. */
static void file_read(struct trial_metrics *metrics)
{
	const int fd = open(metrics->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT) {
		metrics->source = metrics->of_file.count ? METRIC_SOURCE_READ : METRIC_SOURCE_MISSING;
		return;
	}
	if (fd < 0) {
		unreadable(metrics, strerror(errno));
		return;
	}
	text_read(metrics, fd);
	close(fd);
}

/* ---- event files ---- */

static void events_take(struct trial_metrics *metrics, const struct measurement_list *list)
{
	struct measurements taken;

	if (!list->count)
		return;
	measurements_init(&taken, metrics->study);
	for (size_t i = 0; i < list->count; i++)
		measurements_add(&taken, &list->all[i]);
	measurements_deinit(&metrics->of_events);
	metrics->of_events = taken;
	metrics->changed = true;
}

void trial_metrics_read(struct trial_metrics *metrics)
{
	if (!metrics->file)
		return;
	file_read(metrics);
	if (!metrics->of_file.count && metrics->events &&
	    trial_events_read(metrics->events, &metrics->report))
		events_take(metrics, trial_events_all(metrics->events));
}

bool trial_metrics_from_events(const struct trial_metrics *metrics)
{
	return !metrics->of_file.count && metrics->of_events.count;
}

/* ---- results ---- */

const struct measurements *trial_metrics_all(const struct trial_metrics *metrics)
{
	return trial_metrics_from_events(metrics) ? &metrics->of_events : &metrics->of_file;
}

bool trial_metrics_changed(const struct trial_metrics *metrics)
{
	return metrics->changed;
}

char *trial_metrics_text(const struct trial_metrics *metrics)
{
	AUTO(json) json_t *value = measurements_to_json(trial_metrics_all(metrics));

	if (!value ||
	    (trial_metrics_from_events(metrics) && json_object_set_new(value, from_events_key, json_true())))
		return NULL;
	return json_dump_compact(value);
}

void trial_metrics_stored(struct trial_metrics *metrics)
{
	metrics->changed = false;
}

/* ---- messages for users ---- */

static void events_absence(const struct trial_metrics *metrics, struct text *text)
{
	if (metrics->events)
		trial_events_remark(metrics->events, text);
	else if (metrics->unread_dir)
		text_printf(
			text,
			" Event files below %s were not looked for: they are with another emulator of storage "
			"(--storage-endpoint).",
			metrics->unread_dir);
	else
		text_puts(text, " Event files were not looked for: the job has no jobDir.");
}

void trial_metrics_absence(const struct trial_metrics *metrics, struct text *text)
{
	metric_absence_text(text, &metrics->report, 0, metrics->source, metrics->cause);
	events_absence(metrics, text);
}

void trial_metrics_caveat(const struct trial_metrics *metrics, struct text *text)
{
	if (trial_metrics_from_events(metrics) && metrics->events && trial_events_is_partial(metrics->events))
		trial_events_remark(metrics->events, text);
}
