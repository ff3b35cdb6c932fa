/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_metrics.h: the reports of a running trial so far, read repeatedly: from the file that
 * cloudml-hypertune writes, and from TensorBoard's event files (trial_events.h) as long as that file has no reports.
 * Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/text.h"
#include "scheduler/tuning/study.h"

struct measurements;
struct objects;
struct trial_metrics;

/* Where a trial reports; strings are copied. */
struct trial_source {
	const char *directory;   /* on this machine, the directory of its metric file */
	struct objects *objects; /* borrowed; NULL: this daemon has no storage */
	const char *job_dir;     /* the tuning job's own: gs://BUCKET/…; NULL: it has none */
	unsigned number;         /* the trial's number; the directory of its event files has this name */
	int64_t since;           /* plan.objects_since */
};

/* Makes the reader of a trial's reports. @started_s: when the trial started, in seconds since 1970. */
struct trial_metrics *trial_metrics_new(const struct study *study, const struct trial_source *place,
					double started_s);
void trial_metrics_free(struct trial_metrics *metrics);

/* Restores the measurements from a text of trial_metrics_text(). To be called before the first reading.
 * INVALID_ARGUMENT, INTERNAL: @text was not written by trial_metrics_text(). */
enum status trial_metrics_resume(struct trial_metrics *metrics, const char *text, struct error *err);

/* To be called when the trial has ended: frees what only readings need. Later readings change nothing. */
void trial_metrics_finish(struct trial_metrics *metrics);

/* Reads new reports. A missing or broken file is noted for trial_metrics_absence(). */
void trial_metrics_read(struct trial_metrics *metrics);
/* Returns all measurements, borrowed until the next reading. */
const struct measurements *trial_metrics_all(const struct trial_metrics *metrics);
/* Whether the measurements come from event files. */
bool trial_metrics_from_events(const struct trial_metrics *metrics);
/* The measurements as a text for the store. The caller frees it. */
char *trial_metrics_text(const struct trial_metrics *metrics);
/* Notes that the last text of trial_metrics_text() is stored. */
void trial_metrics_stored(struct trial_metrics *metrics);
/* Whether anything has changed since trial_metrics_stored(). */
bool trial_metrics_changed(const struct trial_metrics *metrics);
/* Appends why the trial never reported the study's first metric. To be called before trial_metrics_finish(). */
void trial_metrics_absence(const struct trial_metrics *metrics, struct text *text);
/* Appends remarks on the values that came; nothing if all is in order. To be called before trial_metrics_finish(). */
void trial_metrics_caveat(const struct trial_metrics *metrics, struct text *text);
