/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/reset.h: `trainyard reset`: stops all jobs and removes all state. Thread: the first. */
struct invocation;

int reset_main(struct invocation *invocation);
