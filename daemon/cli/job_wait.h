/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_wait.h: `trainyard wait`: waits until jobs have ended, or are in a state. */
#include <jansson.h>

#include "daemon/base/text.h"

struct invocation;

/* EXIT_GOOD: all reached it; EXIT_FAILED, EXIT_CANCELLED: one can no longer reach it; EXIT_TIMED_OUT. */
int wait_main(struct invocation *invocation);
/* Appends how a job ended: "train (123) FAILED after 12s: the reason". */
void ending_write(struct text *text, const json_t *job);
