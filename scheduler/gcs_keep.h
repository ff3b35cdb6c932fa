/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gcs_keep.h: Cloud Storage as files, for the jobs that ask for it. Thread: the scheduler's. */
struct job_run;
struct node;
struct reconciler;

/* Returns the directory to mount at /gcs of the job's replicas on the node, which exists now; NULL: none. If the job asks for it
 * and it cannot be mounted, the job's log and deviations say so, and GCS_PLACE is empty and read-only. */
const char *gcs_keep(struct reconciler *reconciler, struct job_run *run, const struct node *node);
