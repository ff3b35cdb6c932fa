/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_events.h: what a trial has reported in TensorBoard's event files below its job directory, read again
 * and again.
 *
 * They are objects of our storage with "tfevents" in the last part of their names, at any depth. A writer that goes on
 * replaces the object by a longer one: it is read on from where the last reading ended if it is the same there, else from
 * its beginning. So what is found follows from what the objects are, not from when they were looked at.
 *
 * The tag of a summary is the metric's name, to the letter. The same tag may come from several files (TensorFlow's
 * estimators and Keras have one for training and one for evaluation): of one step the value that was written last counts.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-hyperparameter-tuning (read 2026-11-22)
 * Choice: objects that are older than the job are another one's, which had the same directory.
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
	EVENT_FILES_MAX = 64, /* of one trial; further ones, by name, are not read */
	EVENT_PAGES_MAX = 8,  /* of so many names each that are gone through */
};
/* Of all files of one trial, those included that are read again. */
#define EVENT_READ_BYTES_MAX (INT64_C(1) << 30)

/* @objects is borrowed. @directory: gs://BUCKET/…, the trial's own; copied. Objects of a generation
 * before @since are none of the trial's. */
struct trial_events *trial_events_new(struct objects *objects, const char *directory, int64_t since);
void trial_events_free(struct trial_events *events);
DEFINE_AUTO(trial_events, struct trial_events *, trial_events_free)

/* Reads what is new; costs nothing when no object was made since. @report says which tags are wanted, and learns which
 * ones came; its measurements are left alone. What cannot be had is tried again the next time. Whether there is anything
 * new. */
bool trial_events_read(struct trial_events *events, struct metric_report *report);
/* All measurements, by step; borrowed until the next reading. */
const struct measurement_list *trial_events_all(const struct trial_events *events);
/* Whether there is more than what was read. */
bool trial_events_is_partial(const struct trial_events *events);
/* One sentence, with a blank before it, on what was found, for a report that no value was. */
void trial_events_remark(const struct trial_events *events, struct text *text);
