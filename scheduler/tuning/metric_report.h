/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/metric_report.h: what a trial has reported, whichever way it did.
 *
 * The readers (metric_file.h, event_file.h) fill one of these for each trial; its user takes the measurements out
 * now and then, and asks at the end why a metric never came. Pure: no I/O, no clock. Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

struct text;

enum {
	METRIC_TAGS_SEEN_MAX = 16,  /* further ones are only known to exist */
	METRIC_TAG_BYTES_MAX = 128, /* what is kept of a tag's name */
};

struct metric_report {
	const struct metric *metrics; /* borrowed; a metric's name is the tag it is reported under */
	size_t metric_count;          /* up to METRICS_MAX */
	double started_s;             /* when the trial began, since 1970 */

	/* What is new, in the order of the file: steps may go back. Each has one finite value at least. */
	struct measurement *measurements;
	size_t measurement_count, measurement_size;

	bool has_arrived[METRICS_MAX]; /* a value was taken, now or before */
	bool is_unusable[METRICS_MAX]; /* its tag came with what is no finite number */
	bool is_broken;                /* a part of what was read is no report at all */
	char *tags[METRIC_TAGS_SEEN_MAX];
	size_t tag_count;
	bool has_more_tags;

	/* Reports until this step, and of this step up to this moment, were taken by an earlier life. */
	int64_t known_step;
	double known_elapsed_s;
};

/* @metrics must live as long as the report. */
void metric_report_init(struct metric_report *report, const struct metric *metrics, size_t metric_count,
			double started_s);
void metric_report_deinit(struct metric_report *report);

/* Continues after a restart, with files that are read from their beginning: @last is the last of
 * the measurements that were kept, by step and then elapsed time. Only later ones are given again. */
void metric_report_resume(struct metric_report *report, const struct measurement *last);

/* Forgets the measurements (they were taken out), and nothing else. */
void metric_report_clear(struct metric_report *report);

/* Completes @into by @from if both are of one step and no metric is in both; the later time stays. Readings that
 * come one after the other may give two halves. */
bool measurement_join(struct measurement *into, const struct measurement *from, size_t metric_count);

/* ---- for the readers ---- */

/* A measurement without values. @time_s: since 1970; NaN: unknown, which is as at the start. */
struct measurement metric_report_start(const struct metric_report *report, int64_t step, double time_s);
/* A value that came under a tag: noted, and put into @measurement if the tag is wanted and the value is finite. The
 * first of several stays. NaN for what is no number. */
void metric_report_value(struct metric_report *report, struct measurement *measurement, const char *tag,
			 size_t tag_length, double value);
/* Whether somebody asks for this tag. */
bool metric_report_wants(const struct metric_report *report, const char *tag, size_t tag_length);
/* Takes what has a value and is new; the values of one step become one measurement where nothing lies between. */
void metric_report_add(struct metric_report *report, const struct measurement *measurement);

/* ---- why there is nothing ---- */

enum metric_source {
	METRIC_SOURCE_MISSING,    /* there is no file */
	METRIC_SOURCE_EMPTY,      /* it has no bytes */
	METRIC_SOURCE_UNREADABLE, /* it could not be had, or is not of the format */
	METRIC_SOURCE_READ,
};

/* One sentence that tells why metric @index never arrived. @cause: of UNREADABLE, an error's text, or NULL. */
void metric_absence_text(struct text *text, const struct metric_report *report, size_t index,
			 enum metric_source source, const char *cause);
