/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_log.h: `trainyard logs`: prints lines of a job's replicas on stdout, and those of the service on
 * stderr. */
#include <jansson.h>
#include <stdbool.h>

struct client;
struct invocation;

extern const char *const log_severities[], *const log_outputs[]; /* end with NULL */

/* The options of `logs`. A verb that has no such options prints all lines. */
struct log_options {
	const struct invocation *invocation;
	bool follow;
	bool json; /* lines as JSON */
};

/* Prints the log of a job from /_trainyard/v1/jobs. Returns EXIT_GOOD if all of it was printed. While it follows the
 * log, Ctrl-C prints how to cancel the job and ends the process; the job continues. */
int log_print(struct client *client, const json_t *job, const struct log_options *options);

int logs_main(struct invocation *invocation);
