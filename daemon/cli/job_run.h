/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_run.h: `trainyard run IMAGE [-- ARGS]`: creates a job and prints its log to the end. */

struct invocation;

extern const char *const run_apis[]; /* ends with NULL */

int run_main(struct invocation *invocation);
