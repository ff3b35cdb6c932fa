/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/large_body.h"

#include <time.h>

#include "api/http/exchange.h"
#include "daemon/base/work.h"

enum { LOOK_NS = 50 * 1000000, NS_PER_S = 1000000000 };

/* Whether the body is parsed into a large JSON tree. A raw body is not parsed; the parts of a batch take turns of their
 * own. */
static bool is_tree(const struct exchange *exchange)
{
	const struct route *route = exchange->match.route;

	return exchange->body.bytes.length >= LARGE_BODY_BYTES && !(route && route->body == &raw_body);
}

/* Waits at most LOOK_NS for a turn. False: another body still has it. */
static bool turn_take(pthread_mutex_t *turns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_NS;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	return pthread_mutex_clocklock(turns, CLOCK_MONOTONIC, &until) == 0;
}

enum status large_body_enter(struct exchange *exchange, struct error *err)
{
	enum status rc = STATUS_OK;

	if (!is_tree(exchange) || (exchange->outer && exchange->outer->has_turn))
		return STATUS_OK;
	while (!rc && !turn_take(exchange->rules->large_bodies)) {
		rc = work_check(err);
		if (!rc && !exchange->inner && atomic_load(exchange->rules->closing))
			rc = error_set(err, STATUS_UNAVAILABLE, NULL, "trainyard is shutting down.");
	}
	exchange->has_turn = rc == STATUS_OK;
	return rc;
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

enum status large_body_resume(struct exchange *exchange, bool *ret_again, struct error *err)
{
	struct exchange *whole = exchange->gave_way;

	*ret_again = whole != NULL;
	exchange->gave_way = NULL;
	return whole ? large_body_enter(whole, err) : STATUS_OK;
}
