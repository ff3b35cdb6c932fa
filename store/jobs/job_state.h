/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_state.h: the states of a job and which may follow which.
 *
 *   QUEUED ──> PREPARING <──> RUNNING ──> SUCCEEDED
 *      │           │             ├──────> FAILED      (also from QUEUED and PREPARING)
 *      └───────────┴─────────────┴──> CANCELLING ──> CANCELLED
 *
 * RUNNING goes back to PREPARING when the whole job is tried again. The store refuses other steps.
 * Source: https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#State */
#include <stdbool.h>

/* The numbers are those of the wire format. */
enum job_state {
	JOB_STATE_UNSPECIFIED = 0,
	JOB_QUEUED = 1,
	JOB_PREPARING = 2,
	JOB_RUNNING = 3,
	JOB_SUCCEEDED = 4,
	JOB_FAILED = 5,
	JOB_CANCELLING = 6,
	JOB_CANCELLED = 7,
	JOB_STATE_COUNT
};

/* "QUEUED"; never NULL. */
const char *job_state_name(enum job_state state);
bool job_state_may_follow(enum job_state from, enum job_state to);
bool job_state_is_final(enum job_state state);
