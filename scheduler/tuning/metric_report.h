/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/metric_report.h: the metrics that a trial has reported, by file or by events.
 *
 * The readers (metric_file.h, event_file.h) fill one of these for each trial; its user takes the measurements out from
 * time to time, and asks at the end why a metric never came. Pure: no I/O, no clock. Thread: any, one at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/tuning/study.h"

struct text;

enum {
	METRIC_TAGS_SEEN_MAX = 16,  /* maximum number of tags kept; more are only noted in has_more_tags */
	METRIC_TAG_BYTES_MAX = 128, /* how much of a tag's name is kept */
};

struct metric_report {
	const struct metric *metrics; /* borrowed; a metric's name is the tag it is reported under */
	size_t metric_count;          /* up to METRICS_MAX */
	double started_s;             /* when the trial began, since 1970 */

	/* New measurements, in the order of the file: steps may go back. Each has at least one finite value. */
	struct measurement *measurements;
	size_t measurement_count, measurement_size;

	bool has_arrived[METRICS_MAX]; /* a value has come, now or before */
	bool is_unusable[METRICS_MAX]; /* its tag came with a value that is not a finite number */
	bool is_broken;                /* some of the input was not a report */
	char *tags[METRIC_TAGS_SEEN_MAX];
	size_t tag_count;
	bool has_more_tags;

	/* Before the restart all reports of earlier steps were read, and those of this step up to this time. */
	int64_t known_step;
	double known_elapsed_s;
};

/* Makes an empty report. @metrics must live as long as the report. */
void metric_report_init(struct metric_report *report, const struct metric *metrics, size_t metric_count,
			double started_s);
void metric_report_deinit(struct metric_report *report);

/* Continues after a restart, with files that are read from their beginning: @last is the last kept measurement, by step
 * and then elapsed time. Only later ones are reported. */
void metric_report_resume(struct metric_report *report, const struct measurement *last);

/* Drops the measurements, after the caller has taken them; keeps the rest. */
void metric_report_clear(struct metric_report *report);

/* Adds @from to @into if both have the same step and no common metric; the later time stays. Successive readings may
 * each have a half of one report. */
bool measurement_join(struct measurement *into, const struct measurement *from, size_t metric_count);

/* ---- for readers ---- */

/* Makes a measurement without values. @time_s: since 1970; NaN: unknown, counts as the start. */
struct measurement metric_report_start(const struct metric_report *report, int64_t step, double time_s);
/* Notes a value under a tag, and puts it into @measurement if the tag is wanted and the value is finite. The first of
 * several values stays. @value NaN: not a number. */
void metric_report_value(struct metric_report *report, struct measurement *measurement, const char *tag,
			 size_t tag_length, double value);
/* Whether a metric has this tag. */
bool metric_report_wants(const struct metric_report *report, const char *tag, size_t tag_length);
/* Adds the measurement if it has a value and is new; adjacent values of one step become one measurement. */
void metric_report_add(struct metric_report *report, const struct measurement *measurement);

/* ---- why a metric has no value ---- */

enum metric_source {
	METRIC_SOURCE_MISSING,    /* there is no file */
	METRIC_SOURCE_EMPTY,      /* it has no bytes */
	METRIC_SOURCE_UNREADABLE, /* it could not be read, or has another format */
	METRIC_SOURCE_READ,
};

/* One sentence about why metric @index never came. @cause: for UNREADABLE, an error text, or NULL. */
void metric_absence_text(struct text *text, const struct metric_report *report, size_t index,
			 enum metric_source source, const char *cause);
