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
/* Opens the job's gateway; after a restart of the daemon, at the port that the containers know. After a few failed tries
 * the log says so and the job goes on without a gateway. */
void gateway_open(const struct reconciler *reconciler, struct job_run *run);
/* Whether the gateway may still be opened: no container is made before it is open or given up. */
bool gateway_is_awaited(const struct reconciler *reconciler, const struct job_run *run);
void gateway_leave(const struct reconciler *reconciler, struct job_run *run);
