/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/reset.h: trainyard reset: all jobs are stopped and all state is removed. Thread: the first. */
struct invocation;

int reset_main(struct invocation *invocation);
