/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_file.h: `trainyard submit`: creates a job described in a file. */

struct invocation;

int submit_main(struct invocation *invocation);
