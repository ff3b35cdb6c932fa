/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/body.h: a request's body while it arrives. What is kept of it is held. Thread: the connection's. */
#include <stdbool.h>
#include <stddef.h>

#include "api/http/hold.h"
#include "api/http/request.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct body {
	struct text bytes;
	size_t received_bytes;
	bool too_large; /* what follows is swallowed, so that the client lives to read the refusal */
	bool crowded;   /* likewise: there were too many large ones */
	struct hold hold;
};

/* It holds nothing any more, and is as new but for its hold's pool. */
void body_deinit(struct body *body);
/* Keeps what arrives, up to @limit_bytes in all. */
void body_receive(struct body *body, const char *data, size_t length, size_t limit_bytes);
/* Refuses what was too large; unpacks gzip, up to the same limit. Call it once, at the end.
 * Outcomes: INVALID_ARGUMENT, with *ret_refusal for a body too large; RESOURCE_EXHAUSTED: there are too many large ones. */
enum status body_finish(struct body *body, bool gzip, size_t limit_bytes, enum refusal *ret_refusal,
			struct error *err);
