/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/metric_file.h: reads the file in which training code reports metrics with cloudml-hypertune.
 *
 * Lines of JSON: {"checkpoint_path": "", "global_step": "1000", "timestamp": 1546300800.123, "TAG": "0.93", "trial":
 * "1"}. At each report the library truncates the file and writes its last 100 reports: a reader may find it empty, or
 * cut in the middle of a line. Other programs append, or write numbers instead of strings.
 * Source: https://github.com/GoogleCloudPlatform/cloudml-hypertune/blob/master/hypertune/hypertune.py (read 2026-11-22)
 *
 * Pure: the caller reads the file repeatedly, each time with one call of read(2) (several calls might join halves of
 * two reports), and gets the new reports. If a program does nothing but report, the file is empty nearly all the time;
 * reports that the library drops between two readings are lost.
 * Thread: any, one at a time. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct metric_report;

enum {
	METRIC_FILE_BYTES_MAX = 1024 * 1024, /* if the file is longer, only its end is read */
	METRIC_FILE_LINES_MAX = 10000,       /* if there are more lines, only the last ones are read */
	METRIC_LINE_BYTES_MAX = 64 * 1024,   /* a longer line is ignored */
	METRIC_FILE_KNOWN_MAX =
		1024, /* number of reports that are remembered singly; ten times the library's */
};

/* A report that was read. */
struct metric_known {
	double time_s;
	int64_t step;
	unsigned metrics; /* one bit for each metric */
};

/* The state between readings. The caller zeroes it at first; it owns no memory. */
struct metric_file {
	struct metric_known known[METRIC_FILE_KNOWN_MAX]; /* sorted by step, then time */
	size_t known_count;
	/* Reports up to this one count as read; the list no longer contains them. */
	struct metric_known forgotten;
};

/* Adds to @report those reports in @text, the whole present file, that no earlier reading had. They are recognized by
 * timestamp, step and tag. A last line that is incomplete is left for the next reading. */
void metric_file_read(struct metric_file *file, struct metric_report *report, const char *text,
		      size_t length);
