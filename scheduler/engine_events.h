/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine_events.h: updates the observed state of the jobs by the engine's events. Thread: the scheduler's. */
#include "scheduler/engine/engine.h"

struct node;

/* Updates the jobs by an event that the engine of @node has reported. */
void engine_event_apply(struct node *node, const struct engine_event *event);
