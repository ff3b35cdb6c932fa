/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/event.h: one event of TensorBoard's, a protobuf message, and the scalars in it.
 *
 * A summary's value is a scalar when it is a simple_value, or a tensor of one element with the plugin "scalars" or
 * none: writers name the plugin with a tag's first value only.
 * Source: tensorflow/core/util/event.proto, tensorflow/core/framework/{summary,tensor,tensor_shape,types}.proto and
 * tensorboard/{data_compat,dataclass_compat}.py in https://github.com/tensorflow (read 2026-11-22) */
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct metric_report;

enum event_kind {
	EVENT_MALFORMED, /* no message at all */
	EVENT_VERSION,   /* "brain.Event:2": an event file begins with one */
	EVENT_OTHER,
};

enum event_kind event_kind(const uint8_t *data, size_t length);

/* Adds the scalars of the wanted tags to @report, as one measurement; nothing of a malformed event. */
void event_take(struct metric_report *report, const uint8_t *data, size_t length);
