/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/body.h: collects a request's body while it arrives. The memory is counted by a hold. Thread: the
 * connection's. */
#include <stdbool.h>
#include <stddef.h>

#include "api/http/hold.h"
#include "api/http/request.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct body {
	struct text bytes;
	size_t received_bytes;
	bool too_large; /* the rest is read and dropped, so that the client gets to read the refusal */
	bool crowded;   /* likewise: there were too many large bodies */
	struct hold hold;
};

/* Frees all; the body is as new, but keeps the pool of its hold. */
void body_deinit(struct body *body);
/* Collects a piece, up to @limit_bytes in all. */
void body_receive(struct body *body, const char *data, size_t length, size_t limit_bytes);
/* Refuses a body that was too large; decompresses gzip, up to the same limit. To be called once, at the end.
 * Outcomes: INVALID_ARGUMENT, with *ret_refusal for a body too large; RESOURCE_EXHAUSTED: there are too many large
 * bodies. */
enum status body_finish(struct body *body, bool gzip, size_t limit_bytes, enum refusal *ret_refusal,
			struct error *err);
