/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/trial_directory.h: the directory on this machine to which a trial's first replica reports its
 * metrics: one per job that runs a trial, below the state directory. Thread: the scheduler's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct job_run;
struct reconciler;
struct scheduler;

/* Returns the path of the directory of the job @run, which the caller frees. */
char *trial_directory_path(const struct reconciler *reconciler, int64_t run);
/* As trial_directory_path(), but makes the directory, writable for any program. NULL with *err: it cannot be made. */
char *trial_directory_make(const struct reconciler *reconciler, const struct job_run *run, struct error *err);
/* Removes the directory with everything that the program put there; follows no link. Harmless if there is none. */
void trial_directory_remove(const struct reconciler *reconciler, int64_t run);
/* Removes the directories of ended tuning jobs, which a killed daemon left. To be called before the thread runs, when
 * all unfinished jobs are known. */
void trial_directories_sweep(struct scheduler *scheduler);
