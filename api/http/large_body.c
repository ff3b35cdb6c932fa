/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/large_body.h"

#include "api/http/exchange.h"

/* A raw body stays text. The parts of a batch are requests of their own, which each have their turn. */
static bool is_tree(const struct exchange *exchange)
{
	const struct route *route = exchange->match.route;

	return exchange->body.bytes.length >= LARGE_BODY_BYTES && !(route && route->body == &raw_body);
}

void large_body_enter(struct exchange *exchange)
{
	if (!is_tree(exchange) || (exchange->outer && exchange->outer->has_turn))
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

/* The exchange that has the turn: this one, or the request that it is a part of. NULL: neither. */
static struct exchange *turn_of(struct exchange *exchange)
{
	if (exchange->has_turn)
		return exchange;
	return exchange->outer && exchange->outer->has_turn ? exchange->outer : NULL;
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
