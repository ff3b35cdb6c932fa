/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gateway_keep.h: when a job's gateway is opened and closed. Thread: the scheduler's. */
#include <stdbool.h>

struct decision;
struct job_run;
struct decision_context;
struct reconciler;

/* Pure: the gateway is opened when the network exists and replicas are going to use it, and closed when the network is
 * gone. */
void gateway_decide(struct decision *decision, const struct job_run *run,
		    const struct decision_context *context);
/* Also reopens it after a restart, at the port that the containers know. If it cannot be opened, the log says so and
 * the job goes on after a few tries. */
void gateway_open(const struct reconciler *reconciler, struct job_run *run);
/* Whether it may still be opened: until then no container is made. */
bool gateway_is_awaited(const struct reconciler *reconciler, const struct job_run *run);
void gateway_leave(const struct reconciler *reconciler, struct job_run *run);
