/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/event.h: reads one TensorBoard event, a protobuf message, and the scalars in it.
 *
 * A summary's value is a scalar if it is a simple_value, or a tensor of one element with the plugin "scalars" or none:
 * writers name the plugin only with a tag's first value.
 * Source: tensorflow/core/util/event.proto, tensorflow/core/framework/{summary,tensor,tensor_shape,types}.proto and
 * tensorboard/{data_compat,dataclass_compat}.py in https://github.com/tensorflow (read 2026-11-22) */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct metric_report;

enum event_kind {
	EVENT_MALFORMED, /* the bytes are not a protobuf message */
	EVENT_VERSION,   /* "brain.Event:2": the first record of an event file */
	EVENT_OTHER,
};

enum event_kind event_kind(const uint8_t *data, size_t length);

/* Callbacks for the scalars of an event. */
struct event_taker {
	/* Called once, before the values. @time_s: seconds since 1970; any double. */
	void (*begin)(void *arg, int64_t step, double time_s);
	/* Called for each value of the event. @is_scalar: false: the value is no scalar, and @value has no meaning. */
	void (*value)(void *arg, const char *tag, size_t tag_length, bool is_scalar, double value);
};

/* Passes the scalars of a whole event to @taker. False: the event is malformed, and some of its values may have been
 * passed. */
bool event_read(const uint8_t *data, size_t length, const struct event_taker *taker, void *arg);

/* Adds the scalars of the wanted tags to @report, as one measurement; nothing of a malformed event. */
void event_take(struct metric_report *report, const uint8_t *data, size_t length);
