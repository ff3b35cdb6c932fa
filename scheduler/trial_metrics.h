/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/trial_metrics.h: what a trial under way has reported so far, read from its file again and again.
 * Thread: one at a time. */
#include <stdbool.h>

#include "daemon/base/text.h"
#include "scheduler/tuning/study.h"

struct trial_metrics;

/* @directory: of this machine, where the trial's file is or will be; copied. @started_s: since 1970. */
struct trial_metrics *trial_metrics_new(const struct study *study, const char *directory, double started_s);
void trial_metrics_free(struct trial_metrics *metrics);

/* Nothing more will come: lets go of what only readings need. Later ones change nothing. */
void trial_metrics_settle(struct trial_metrics *metrics);

/* Reads what is new. A file that is not there, or not in order, is remembered for the absence's sentence. */
void trial_metrics_read(struct trial_metrics *metrics);
/* All measurements, by step; borrowed until the next reading. */
const struct measurement *trial_metrics_all(const struct trial_metrics *metrics, size_t *ret_count);
/* Why the first metric never came. */
void trial_metrics_absence(const struct trial_metrics *metrics, struct text *text);
