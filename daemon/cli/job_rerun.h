/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_rerun.h: `trainyard rerun JOB [-- ARGS]`: creates a copy of an earlier job, with changes. */

struct invocation;

int rerun_main(struct invocation *invocation);
