/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/large_body.h: one body of LARGE_BODY_BYTES or more at a time is a tree (rules->large_bodies).
 * Thread: the connection's. */
#include <stdbool.h>

struct exchange;

/* Around all that is done with the body: the first waits for its turn, if the body is large and becomes a tree. A
 * request inside another has the turn of that one, if it has one. */
void large_body_enter(struct exchange *exchange);
void large_body_leave(struct exchange *exchange);

/* After what may have waited. True: it has, and gave up its turn (call_wait_begin()); it has one again, and what was read
 * of the call is to be read anew. */
bool large_body_resume(struct exchange *exchange);
