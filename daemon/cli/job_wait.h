/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_wait.h: `trainyard wait`: waits until jobs have ended, or are in a state. */
#include <jansson.h>

#include "daemon/base/text.h"

struct invocation;

/* Runs `trainyard wait`. Returns EXIT_GOOD: all jobs reached the state; EXIT_FAILED or EXIT_CANCELLED: one of them can
 * no longer reach it; EXIT_TIMED_OUT. */
int wait_main(struct invocation *invocation);
/* Appends how a job ended: "train (123) FAILED after 12s: the reason". */
void ending_write(struct text *text, const json_t *job);
