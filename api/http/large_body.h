/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/large_body.h: lets only one body of LARGE_BODY_BYTES or more be a JSON tree at a time (rules->large_bodies).
 * Thread: the connection's. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct exchange;

/* Call these around all use of the body. The first waits for a turn if the body is large and parsed as JSON; a part of a
 * batch uses the turn of the batch. CANCELLED: the work was abandoned (daemon/base/work.h); UNAVAILABLE: the listener is
 * closing. */
enum status large_body_enter(struct exchange *exchange, struct error *err);
/* Gives the turn back. Harmless without a turn. */
void large_body_leave(struct exchange *exchange);

/* Call after something that may have waited. *ret_again: the wait gave up the turn (call_wait_begin()), so read data
 * from the call again. Outcomes: as large_body_enter(); after a failure the exchange has no turn. */
enum status large_body_resume(struct exchange *exchange, bool *ret_again, struct error *err);
