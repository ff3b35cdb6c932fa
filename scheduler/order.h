/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/order.h: what is asked of the engine, and of others outside of the scheduler.
 *
 * What was asked for one thing is kept by epoch: an order is pending while it is of the present one. No order
 * is ever taken back: a new epoch begins when an answer may be lost, or was a failure, and what is still needed is asked for
 * again then. That is harmless: what is already so is success for the engine. */
#include <stdbool.h>
#include <stdint.h>

enum order_verb {
	/* Of a replica. The first ones are kept by epoch. */
	ORDER_STOP,
	ORDER_REMOVE,
	ORDER_FOLLOW, /* its output */
	ORDER_LINK,
	ORDERS_KEPT,
	ORDER_CREATE = ORDERS_KEPT,
	ORDER_START,
	/* Of a role. */
	ORDER_IMAGE, /* to be fetched */
	/* Of the job. */
	ORDER_NETWORK,
	ORDER_LEAVE, /* its network, and the gateway on it */
	ORDER_GATEWAY_OPEN,
	ORDER_GATEWAY_CLOSE,
	ORDER_LAST_WORDS, /* to be told when its last service lines can be read */
};

struct order {
	enum order_verb verb;
	unsigned of;         /* index of the replica, or the role */
	unsigned how;        /* STOP: grace in seconds; LINK: enum link_request */
	int64_t bytes_per_s; /* LINK: of a slow one */
};

struct orders {
	unsigned epoch;              /* from 0 */
	unsigned given[ORDERS_KEPT]; /* one more than the epoch in which it was given last; 0: never */
};

static inline void order_give(struct orders *orders, unsigned order)
{
	orders->given[order] = orders->epoch + 1;
}

static inline bool order_is_pending(const struct orders *orders, unsigned order)
{
	return orders->given[order] == orders->epoch + 1;
}

/* Pending, or given in an earlier epoch. */
static inline bool order_was_given(const struct orders *orders, unsigned order)
{
	return orders->given[order] != 0;
}
