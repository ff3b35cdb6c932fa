/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_file.h: `trainyard submit`: a job that a file describes. */

struct invocation;

int submit_main(struct invocation *invocation);
