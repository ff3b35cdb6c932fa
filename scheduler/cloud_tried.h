/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/cloud_tried.h: calls of jobs to hosts of the cloud. Thread: the scheduler's. */
#include <stdbool.h>

struct job_run;

/* A program of the job called @host of the cloud. Reports it in the job's log and report, once for each host. @cut_off:
 * whether the host is unreachable. */
void cloud_tried(struct job_run *run, const char *host, bool cut_off);
/* As cloud_tried(), for a call that failed. @text ends the sentence "The program called @host, which". */
void call_failed(struct job_run *run, const char *host, const char *text);
