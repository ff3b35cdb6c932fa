/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/answer.h: what an exchange answers: its status, its type and its bytes.
 * Thread: the connection's. */
#include "api/http/exchange.h"

/* What the handler has made; nothing more where the answer is a stream. Outcomes: INVALID_ARGUMENT (the mask of
 * fields); UNAVAILABLE (no memory for the answer). */
enum status answer_success(struct exchange *exchange, struct error *err);
/* The error that @exchange failed with, in the place of what was written. */
void answer_refusal(struct exchange *exchange);
