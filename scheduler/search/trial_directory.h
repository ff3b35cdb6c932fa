/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_directory.h: where on this machine a trial's first replica reports its metrics: a directory for each
 * job that runs a trial, below the state directory. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct job_run;
struct reconciler;
struct scheduler;

/* The caller frees. */
char *trial_directory_path(const struct reconciler *reconciler, int64_t run);
/* The same, made, for any program to write to. NULL with *err. */
char *trial_directory_make(const struct reconciler *reconciler, const struct job_run *run, struct error *err);
/* With whatever the program put there; no link is followed. Harmless when there is none. */
void trial_directory_remove(const struct reconciler *reconciler, int64_t run);
/* Removes the directories of tuning jobs that have ended: a daemon that was killed left them. Before the thread runs, and once all
 * unfinished jobs are known. */
void trial_directories_sweep(struct scheduler *scheduler);
