/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine_events.h: brings what is known of the jobs up to what the engine said. Thread: the scheduler's. */
#include "scheduler/engine/engine.h"

struct scheduler;

void engine_event_apply(struct scheduler *scheduler, const struct engine_event *event);
