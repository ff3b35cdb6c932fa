/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gateway_keep.h: when a job's gateway is opened and closed. Thread: the scheduler's. */
#include <stdbool.h>

struct decision;
struct job_run;
struct decision_context;
struct reconciler;

/* Pure: the job's gateway is opened when its network is there and replicas are to use it, and closed when that is gone. */
void gateway_decide(struct decision *decision, const struct job_run *run,
		    const struct decision_context *context);
/* Again after a restart, where the containers expect it. A gateway that cannot be opened does not hold the job up for long:
 * the log tells. */
void gateway_open(const struct reconciler *reconciler, struct job_run *run);
/* Whether it may yet be opened: no container is made before. */
bool gateway_is_awaited(const struct reconciler *reconciler, const struct job_run *run);
void gateway_leave(const struct reconciler *reconciler, struct job_run *run);
