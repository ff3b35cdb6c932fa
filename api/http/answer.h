/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/answer.h: makes the answer of an exchange: its status, its type and its bytes.
 * Thread: the connection's. */
#include "api/http/exchange.h"

/* Makes the answer from what the handler wrote; for a stream, only its head. INVALID_ARGUMENT: bad mask of fields;
 * UNAVAILABLE: no memory for the answer. */
enum status answer_success(struct exchange *exchange, struct error *err);
/* Replaces what was written by the error with which @exchange failed. */
void answer_refusal(struct exchange *exchange);
