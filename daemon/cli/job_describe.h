/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_describe.h: `trainyard describe` and `trainyard why`: details of one job, and a summary. */

struct invocation;

int describe_main(struct invocation *invocation);
int why_main(struct invocation *invocation);
