/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/request_guard.h: accepts or refuses a request by its origin, its credentials and the type of its body.
 *
 * For a request inside another one's body only the types are checked: the outer request has passed the other checks.
 * Thread: the connection's. */
#include "api/http/exchange.h"

/* Checks the peer's address, Host, Origin and Sec-Fetch-Site. Outcome: PERMISSION_DENIED. */
enum status request_guard_origin(const struct exchange *exchange, struct error *err);
/* Checks the credentials, before the answer reveals whether the route exists. Sets call.anonymous. Errors: those of the
 * rule for callers. */
enum status request_guard_caller(struct exchange *exchange, struct error *err);
/* Refuses a request with a type that a page can send without a preflight and, in browsers before 2020, without an
 * Origin. Sets exchange->refusal. INVALID_ARGUMENT. */
enum status request_guard_type(struct exchange *exchange, struct error *err);
/* Checks the type of a JSON row's body, which must exist. Sets the refusal. Outcome: INVALID_ARGUMENT. */
enum status request_guard_body(struct exchange *exchange, struct error *err);
/* Calls the gate, if there is one; it may wait (large_body_resume()). Sets exchange->cut. Outcomes: the gate's. */
enum status request_guard_pass_gate(struct exchange *exchange, struct error *err);
