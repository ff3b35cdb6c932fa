/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gcs_keep.h: Cloud Storage as files, for the jobs that ask for it. Thread: the scheduler's. */
struct job_run;
struct reconciler;

/* The directory that the job's replicas are to have at /gcs, there when this returns; NULL: none. One that asks for it and
 * cannot have it is told in the log and among its differences, and finds GCS_PLACE empty and read-only. */
const char *gcs_keep(struct reconciler *reconciler, struct job_run *run);
