/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/large_body.h: one body of LARGE_BODY_BYTES or more at a time is a tree (rules->large_bodies).
 * Thread: the connection's. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct exchange;

/* Around all that is done with the body: the first waits for its turn, if the body is large and becomes a tree. A
 * request inside another has the turn of that one, if it has one. The wait is for work that is not abandoned
 * (daemon/base/work.h). CANCELLED: the work was abandoned; UNAVAILABLE: the listener is about to close. */
enum status large_body_enter(struct exchange *exchange, struct error *err);
/* Harmless without a turn. */
void large_body_leave(struct exchange *exchange);

/* After what may have waited. *ret_again: the wait gave up the turn (call_wait_begin()), so what was read of the call is to be
 * read anew. Outcomes: as large_body_enter(); then there is no turn. */
enum status large_body_resume(struct exchange *exchange, bool *ret_again, struct error *err);
