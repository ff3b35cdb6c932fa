/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/observe_devices.h"

#include "daemon/base/log.h"
#include "scheduler/device_claims.h"
#include "scheduler/job_run.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "store/logs/logs.h"

enum { ASK_AGAIN_US = 1000000 };

void devices_await(struct scheduler *scheduler)
{
	if (!scheduler->claims_again_us)
		scheduler->claims_again_us = clock_mono_us(scheduler->reconciler.clock) + ASK_AGAIN_US;
}

void devices_retry(struct scheduler *scheduler, int64_t now_us)
{
	if (!scheduler->claims_again_us || scheduler->claims_again_us > now_us)
		return;
	scheduler->claims_again_us = 0;
	for (struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count; node++)
		device_claims_retry(node->claims);
	scheduler->queue_stirred = true;
}

/* Jobs that were admitted before this daemon started, or before a loss of the engine, may find their GPUs taken. */
static void jobs_touch(struct node *node, bool is_lost)
{
	for (struct job_run *run = node->scheduler->way_first; run; run = run->way_next) {
		if (!job_run_on(run, node))
			continue;
		if (is_lost && !room_devices_are_claimed(run))
			notes_say(&run->notes, SEVERITY_WARNING,
				  "The job waits for its GPUs: another trainyard on this engine has them.");
		job_run_touch(run);
	}
}

void devices_reported(struct node *node, const struct engine_event *event)
{
	struct scheduler *scheduler = node->scheduler;
	bool is_lost;

	if (event->status && node->state < ENGINE_ANSWERS) /* when the engine is back, the claims are ordered again */
		return;
	if (event->status) {
		if (device_claims_fail(node->claims, event->number, event->text)) {
			log_event(LOG_WARNING, "gpus-unclaimed", "error=\"%s\"", event->text);
			scheduler->queue_stirred = true;
		}
		devices_await(scheduler);
		return;
	}
	if (!device_claims_answer(node->claims, event->number, event->devices, &is_lost))
		return;
	if (is_lost)
		log_event(LOG_WARNING, "gpu-lost", "hint=\"%s\"",
			  "another trainyard on this engine has it, while a job of this one waits for it");
	/* Jobs without GPUs of their own try the node's other GPUs first: their turn in the queue shows whether any
	 * GPU is left. */
	if (device_claims_are_short(node->claims))
		devices_await(scheduler);
	jobs_touch(node, is_lost);
	scheduler->queue_stirred = true;
}
