/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_rerun.h: `trainyard rerun JOB [-- ARGS]`: a new job as an earlier one, with changes. */

struct invocation;

int rerun_main(struct invocation *invocation);
