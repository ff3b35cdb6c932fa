/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/trial_metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/tuning/metric_file.h"
#include "scheduler/tuning/metric_report.h"

struct trial_metrics {
	char *path;
	struct metric_file *file; /* NULL: settled */
	struct metric_report report;
	enum metric_source source;
	char cause[128];
	struct measurement *all;
	size_t count, size;
};

struct trial_metrics *trial_metrics_new(const struct study *study, const char *directory, double started_s)
{
	struct trial_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metric_report_init(&metrics->report, study->metrics, study->metric_count, started_s);
	metrics->file = calloc(1, sizeof(*metrics->file));
	if (asprintf(&metrics->path, "%s/output.metrics", directory) < 0)
		metrics->path = NULL;
	if (!metrics->file || !metrics->path) {
		trial_metrics_free(metrics);
		return NULL;
	}
	return metrics;
}

void trial_metrics_free(struct trial_metrics *metrics)
{
	if (!metrics)
		return;
	metric_report_deinit(&metrics->report);
	free(metrics->file);
	free(metrics->path);
	free(metrics->all);
	free(metrics);
}

void trial_metrics_settle(struct trial_metrics *metrics)
{
	struct measurement *fitting;

	if (!metrics->file)
		return;
	free(metrics->file);
	metrics->file = NULL;
	fitting = metrics->count ? realloc(metrics->all, metrics->count * sizeof(*fitting)) : NULL;
	if (fitting) {
		metrics->all = fitting;
		metrics->size = metrics->count;
	}
}

static void unreadable(struct trial_metrics *metrics, const char *cause)
{
	metrics->source = METRIC_SOURCE_UNREADABLE;
	snprintf(metrics->cause, sizeof(metrics->cause), "%s", cause);
}

/* Measurements of a step that is past are dropped, those of the same step complete each other. */
static void measurements_take(struct trial_metrics *metrics)
{
	struct metric_report *report = &metrics->report;

	for (size_t i = 0; i < report->measurement_count; i++) {
		const struct measurement *next = &report->measurements[i];
		struct measurement *last = metrics->count ? &metrics->all[metrics->count - 1] : NULL;

		if (last && (next->step < last->step || measurement_join(last, next, report->metric_count)))
			continue;
		if (metrics->count == metrics->size) {
			size_t wanted = metrics->size ? metrics->size * 2 : 64;
			struct measurement *grown = realloc(metrics->all, wanted * sizeof(*grown));

			if (!grown)
				return;
			metrics->all = grown;
			metrics->size = wanted;
		}
		metrics->all[metrics->count++] = *next;
	}
	metric_report_clear(report);
}

/* With one read(2): what is put together from several could join halves of two reports. */
static void text_read(struct trial_metrics *metrics, int fd)
{
	char *text = malloc(METRIC_FILE_BYTES_MAX);
	struct stat status;
	ssize_t length;
	struct error err AUTO_ERROR = { 0 };

	if (!text)
		return;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		unreadable(metrics, "it is no plain file");
	} else if ((length = pread(fd, text, METRIC_FILE_BYTES_MAX,
				   status.st_size > METRIC_FILE_BYTES_MAX
					   ? status.st_size - METRIC_FILE_BYTES_MAX
					   : 0)) < 0) {
		unreadable(metrics, strerror(errno));
	} else if (length == 0) {
		metrics->source = metrics->count ? METRIC_SOURCE_READ : METRIC_SOURCE_EMPTY;
	} else {
		metrics->source = METRIC_SOURCE_READ;
		if (metric_file_read(metrics->file, &metrics->report, text, (size_t)length, &err))
			unreadable(metrics, err.text ? err.text : "out of memory");
		measurements_take(metrics);
	}
	free(text);
}

/* What the program in the container put there is not trusted: no links, nothing that blocks. */
void trial_metrics_read(struct trial_metrics *metrics)
{
	int fd;

	if (!metrics->file)
		return;
	fd = open(metrics->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		metrics->source = metrics->count ? METRIC_SOURCE_READ : METRIC_SOURCE_MISSING;
		return;
	}
	if (fd < 0) {
		unreadable(metrics, strerror(errno));
		return;
	}
	text_read(metrics, fd);
	close(fd);
}

const struct measurement *trial_metrics_all(const struct trial_metrics *metrics, size_t *ret_count)
{
	*ret_count = metrics->count;
	return metrics->all;
}

void trial_metrics_absence(const struct trial_metrics *metrics, struct text *text)
{
	metric_absence_text(text, &metrics->report, 0, metrics->source, metrics->cause);
}
