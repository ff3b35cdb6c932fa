/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/observe_devices.h: which GPUs this daemon has claimed, by the engine's events. Thread: the scheduler's. */
#include <stdint.h>

struct engine_event;
struct node;
struct scheduler;

/* Handles the engine's answer to an order for GPUs. */
void devices_reported(struct node *node, const struct engine_event *event);
/* To be called while a job waits for GPUs of another instance: the engine is asked again in a moment. */
void devices_await(struct scheduler *scheduler);
/* Asks the engine again, if it is time. */
void devices_retry(struct scheduler *scheduler, int64_t now_us);
