/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/request_guard.h: accepts or refuses a request by its origin, its credentials and the type of its body.
 *
 * For a request inside another one's body only the types are checked: the outer request has passed the other checks.
 * Thread: the connection's. */
#include "api/http/exchange.h"

/* Checks the peer's address, Host, Origin and Sec-Fetch-Site. Outcome: PERMISSION_DENIED. */
enum status request_guard_origin(const struct exchange *exchange, struct error *err);
/* Checks the credentials, before the answer reveals whether the route exists. Sets call.anonymous. Errors: those of
 * caller_rule.check() (http.h). */
enum status request_guard_caller(struct exchange *exchange, struct error *err);
/* Refuses a request with a type that a page can send without a preflight and, in browsers before 2020, without an
 * Origin. Sets exchange->refusal. INVALID_ARGUMENT. */
enum status request_guard_type(struct exchange *exchange, struct error *err);
/* Checks the content type of a body that the row reads as JSON; a request without a type or without a body passes. Sets
 * exchange->refusal. Outcome: INVALID_ARGUMENT. */
enum status request_guard_body(struct exchange *exchange, struct error *err);
/* Calls the listener's struct call_gate, if there is one. It may wait: if the body was read already, call
 * large_body_resume() afterwards. Sets exchange->cut. Outcomes: those of call_gate.pass(). */
enum status request_guard_pass_gate(struct exchange *exchange, struct error *err);
