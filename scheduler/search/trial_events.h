/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_events.h: the reports of a trial in TensorBoard's event files below its job directory, read
 * repeatedly.
 *
 * They are objects of our storage with "tfevents" in the last part of their names, at any depth. While a program
 * writes, its object is replaced by longer ones: reading continues where it ended if the beginning is unchanged,
 * otherwise it starts again. So the result depends on the objects, not on the time of reading.
 *
 * The tag of a summary must equal the metric's name exactly. If the same tag comes from several files (TensorFlow's
 * estimators and Keras have one for training and one for evaluation), the value of a step that was written last counts.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-hyperparameter-tuning (read 2026-11-22)
 * Choice: objects that are older than the job belong to another job with the same directory.
 * Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/text.h"
#include "scheduler/tuning/measurement_list.h"

struct metric_report;
struct objects;
struct trial_events;

enum {
	EVENT_FILES_MAX = 64, /* per trial; further files, by name, are not read */
	EVENT_PAGES_MAX = 8,  /* listing stops after this many pages of EVENT_FILES_MAX names each */
};
/* The limit of bytes read for one trial, over all files and including repeated reads. */
#define EVENT_READ_BYTES_MAX (INT64_C(1) << 30)

/* Prepares reading. @objects is borrowed. @directory: gs://BUCKET/…, the trial's own; copied. Objects of a generation
 * before @since do not belong to the trial. */
struct trial_events *trial_events_new(struct objects *objects, const char *directory, int64_t since);
void trial_events_free(struct trial_events *events);
DEFINE_AUTO(trial_events, struct trial_events *, trial_events_free)

/* Reads new events; costs nothing if no object was made since the last call. @report has the wanted tags and notes the
 * tags that came; its measurements are not changed. An object that cannot be read is tried again at the next call. True:
 * there are new measurements. */
bool trial_events_read(struct trial_events *events, struct metric_report *report);
/* All measurements, by step; borrowed until the next reading. */
const struct measurement_list *trial_events_all(const struct trial_events *events);
/* Whether some events were left out because of the limits. */
bool trial_events_is_partial(const struct trial_events *events);
/* Appends a blank and one sentence about the files that were found, for a trial without a value. */
void trial_events_remark(const struct trial_events *events, struct text *text);
