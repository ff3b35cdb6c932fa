/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_metrics.h: what a trial under way has reported so far, read again and again: in the file that
 * cloudml-hypertune writes, and in TensorBoard's event files (trial_events.h) as long as that one has no reports.
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
	const char *directory;   /* of this machine, where its metric file is or will be */
	struct objects *objects; /* borrowed; NULL: storage is not ours */
	const char *job_dir;     /* the tuning job's own: gs://BUCKET/…; NULL: it has none */
	unsigned number;         /* of the trial: its event files are in the directory of that name */
	int64_t since;           /* plan.objects_since */
};

/* @started_s: since 1970. */
struct trial_metrics *trial_metrics_new(const struct study *study, const struct trial_source *place,
					double started_s);
void trial_metrics_free(struct trial_metrics *metrics);

/* For new ones: goes on from what trial_metrics_text() gave. INVALID_ARGUMENT, INTERNAL: not ours. */
enum status trial_metrics_resume(struct trial_metrics *metrics, const char *text, struct error *err);

/* Nothing more will come: lets go of what only readings need. Later ones change nothing. */
void trial_metrics_finish(struct trial_metrics *metrics);

/* Reads what is new. A file that is not there, or not in order, is remembered for the absence's sentence. */
void trial_metrics_read(struct trial_metrics *metrics);
/* Borrowed until the next reading. */
const struct measurements *trial_metrics_all(const struct trial_metrics *metrics);
/* Whether these are of event files. */
bool trial_metrics_from_events(const struct trial_metrics *metrics);
/* All of them for the store. The caller frees. */
char *trial_metrics_text(const struct trial_metrics *metrics);
/* That text is stored. */
void trial_metrics_stored(struct trial_metrics *metrics);
/* Whether there is something new since. */
bool trial_metrics_changed(const struct trial_metrics *metrics);
/* Why the first metric never came. Before it is settled. */
void trial_metrics_absence(const struct trial_metrics *metrics, struct text *text);
/* What is to be known of those that came; nothing where all is in order. Before it is settled. */
void trial_metrics_caveat(const struct trial_metrics *metrics, struct text *text);
