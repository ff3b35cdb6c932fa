/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/request_guard.h: whether a request is let in: by its origin, its credentials and the type of its body.
 *
 * Of a request inside another one's body only the types are asked: the rest was said to the outer one.
 * Thread: the connection's. */
#include "api/http/exchange.h"

/* The peer's address, Host, Origin and Sec-Fetch-Site. Outcome: PERMISSION_DENIED. */
enum status request_guard_origin(const struct exchange *exchange, struct error *err);
/* Checks the credentials, before the answer shows whether there is such a row: a client that is refused does not learn that.
 * Sets call.anonymous. Errors: the caller rule's. */
enum status request_guard_caller(struct exchange *exchange, struct error *err);
/* Refuses what a page can have sent without anybody being asked, and without an Origin by a browser of before 2020.
 * Sets the refusal. Outcome: INVALID_ARGUMENT. */
enum status request_guard_type(struct exchange *exchange, struct error *err);
/* The type of a JSON row's body, which is there. Sets the refusal. Outcome: INVALID_ARGUMENT. */
enum status request_guard_body(struct exchange *exchange, struct error *err);
/* The gate, if there is one, which may wait (large_body_resume()). Sets the cut. Outcome: what the gate says. */
enum status request_guard_pass_gate(struct exchange *exchange, struct error *err);
