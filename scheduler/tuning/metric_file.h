/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/metric_file.h: the file in which training code reports metrics by way of cloudml-hypertune.
 *
 * Lines of JSON: {"checkpoint_path": "", "global_step": "1000", "timestamp": 1546300800.123, "TAG": "0.93", "trial":
 * "1"}. The library truncates the file and writes it again with its last 100 reports, at each report: a reader that comes
 * meanwhile finds it empty, or cut in the middle of a line. Other programs append, or write numbers instead of strings.
 * Source: https://github.com/GoogleCloudPlatform/cloudml-hypertune/blob/master/hypertune/hypertune.py (read 2026-11-22)
 *
 * Pure: the caller reads the file, again and again, each time with one call of read(2) (what is put together from
 * several may join halves of two reports), and gets what is new. A program that does nothing but report leaves the
 * file empty nearly all the time; what the library has dropped before any reading saw it is lost.
 * Thread: any, one at a time. */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct metric_report;

enum {
	METRIC_FILE_BYTES_MAX = 1024 * 1024, /* of a longer file its end is read */
	METRIC_FILE_LINES_MAX = 10000,       /* likewise */
	METRIC_LINE_BYTES_MAX = 64 * 1024,   /* a longer line is none of the format's */
	METRIC_FILE_KNOWN_MAX = 1024, /* reports that are remembered one by one; ten times the library's */
};

/* A report that was taken. */
struct metric_known {
	double time_s;
	int64_t step;
	unsigned metrics; /* one bit for each */
};

/* What earlier readings had. Start zeroed; there is nothing to release. */
struct metric_file {
	struct metric_known known[METRIC_FILE_KNOWN_MAX]; /* by step, then time */
	size_t known_count;
	/* All until here was taken, or counts as taken: what no longer has a place in the list. */
	struct metric_known forgotten;
};

/* Adds to @report the reports in @text, the whole file as it is now, that no earlier reading had: known by their
 * timestamp, step and tag. A last line that is cut is left for the next reading. */
void metric_file_read(struct metric_file *file, struct metric_report *report, const char *text,
		      size_t length);
