/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gcs_keep.h: Cloud Storage as files, for the jobs that ask for it. Thread: the scheduler's. */
struct job_run;
struct node;
struct reconciler;

/* Mounts Cloud Storage for the job, if it asks for it. Returns the directory to mount at /gcs of its replicas on the
 * node; NULL: none. If it cannot be mounted, the job's log and deviations say so, and GCS_PLACE is empty and read-only. */
const char *gcs_keep(struct reconciler *reconciler, struct job_run *run, const struct node *node);
