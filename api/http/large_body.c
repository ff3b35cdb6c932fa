/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/large_body.h"

#include "api/http/exchange.h"

/* A raw body of an open row, such as input for a terminal, stays text; that of a batch has parts that do not. */
static bool stays_text(const struct route *route)
{
	return route && route->body == &raw_body && route->open;
}

void large_body_enter(struct exchange *exchange)
{
	if (exchange->body.bytes.length < LARGE_BODY_BYTES || exchange->outer ||
	    stays_text(exchange->match.route))
		return;
	pthread_mutex_lock(exchange->rules->large_bodies);
	exchange->has_turn = true;
}

void large_body_leave(struct exchange *exchange)
{
	if (exchange->has_turn)
		pthread_mutex_unlock(exchange->rules->large_bodies);
	exchange->has_turn = false;
}

/* Whose turn it is: the exchange's own, or that of what it is a part of. NULL: nobody's. */
static struct exchange *turn_of(struct exchange *exchange)
{
	struct exchange *whole = exchange->outer ? exchange->outer : exchange;

	return whole->has_turn ? whole : NULL;
}

bool call_wait_begin(struct call *call)
{
	struct exchange *exchange = call->exchange;

	if (atomic_fetch_add(exchange->rules->waiting, 1) >= exchange->rules->waiting_max) {
		call_wait_end(call);
		return false;
	}
	exchange->gave_way = turn_of(exchange);
	if (!exchange->gave_way)
		return true;
	json_decref(call->query);
	json_decref(call->body);
	call->query = call->body = NULL;
	large_body_leave(exchange->gave_way);
	return true;
}

void call_wait_end(struct call *call)
{
	atomic_fetch_sub(call->exchange->rules->waiting, 1);
}

bool large_body_resume(struct exchange *exchange)
{
	struct exchange *whole = exchange->gave_way;

	if (!whole)
		return false;
	exchange->gave_way = NULL;
	large_body_enter(whole);
	return true;
}
