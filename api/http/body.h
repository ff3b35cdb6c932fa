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
	bool too_large; /* the rest is read and dropped, so that the client reads the refusal */
	bool crowded;   /* refused: too many large bodies; the rest is read and dropped */
	struct hold hold;
};

/* Frees the bytes; the body can be used again with the same pool. */
void body_deinit(struct body *body);
/* Collects a piece of the body; a body beyond @limit_bytes becomes too_large. */
void body_receive(struct body *body, const char *data, size_t length, size_t limit_bytes);
/* Call once, at the end. Refuses a body that was too large; decompresses gzip, up to the same limit.
 * INVALID_ARGUMENT, with *ret_refusal if the body is too large; RESOURCE_EXHAUSTED: there are too many large bodies. */
enum status body_finish(struct body *body, bool gzip, size_t limit_bytes, enum refusal *ret_refusal,
			struct error *err);
