/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/answer.h: makes the answer of an exchange: its status, its type and its bytes.
 * Thread: the connection's. */
#include "api/http/exchange.h"

/* Makes the answer from the handler's output; for a stream, only its head. INVALID_ARGUMENT: bad mask of fields;
 * UNAVAILABLE: no memory for the answer. */
enum status answer_success(struct exchange *exchange, struct error *err);
/* Replaces the answer by the error with which @exchange failed. */
void answer_refusal(struct exchange *exchange);
