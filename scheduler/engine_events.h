/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine_events.h: updates the observed state of the jobs by the engine's events. Thread: the scheduler's. */
#include "scheduler/engine/engine.h"

struct scheduler;

void engine_event_apply(struct scheduler *scheduler, const struct engine_event *event);
