/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/queue.h: `trainyard queue` and `trainyard gpus`: what queued jobs wait for, and which replicas hold the
 * GPUs. */
struct invocation;

int queue_main(struct invocation *invocation);
int gpus_main(struct invocation *invocation);
