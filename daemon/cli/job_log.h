/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_log.h: `trainyard logs`: lines of a job's replicas on stdout, those of the service on stderr. */
#include <jansson.h>
#include <stdbool.h>

struct client;
struct invocation;

extern const char *const log_severities[]; /* ends with NULL */

/* What the options of `logs` say; of a verb without them: all lines. */
struct log_options {
	const struct invocation *invocation;
	bool follow;
};

/* Prints the log of a job as /_trainyard/v1/jobs/{job} tells it; EXIT_GOOD when all was printed. Ctrl-C while it follows ends
 * the process, and tells how to cancel the job, which goes on. */
int log_print(struct client *client, const json_t *job, const struct log_options *options);

int logs_main(struct invocation *invocation);
