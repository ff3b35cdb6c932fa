/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gateway_keep.h: when a job's gateway is opened and closed. Thread: the scheduler's. */
#include <stdbool.h>

struct job_run;
struct reconciler;

/* Opens the job's gateway when its network is there and somebody is to use it; again after a restart, where the
 * containers expect it. One that cannot be opened does not hold the job up for long: the log tells. */
void gateway_keep(struct reconciler *reconciler, struct job_run *run);
/* Whether it may yet be opened: no container is made before. */
bool gateway_is_awaited(const struct reconciler *reconciler, const struct job_run *run);
void gateway_leave(struct reconciler *reconciler, struct job_run *run);
