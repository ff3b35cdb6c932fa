/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_end.h: `trainyard cancel` and `trainyard delete`. Both try all jobs of the command line, and return
 * EXIT_FAILED if one failed. */

struct invocation;

int cancel_main(struct invocation *invocation);
int delete_main(struct invocation *invocation);
