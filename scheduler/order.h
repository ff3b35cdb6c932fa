/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/order.h: orders: requests of the scheduler to the engine, the log pump, the gateway and so on.
 *
 * A replica keeps, for each kind of order, the epoch in which it was last given. The order is pending (given, and not
 * to be repeated) while that epoch is the current one. A new epoch begins when an order failed, or its answer may be
 * lost: no order is pending then, and the next decision gives those again that are still needed. Repeating an order is
 * harmless: the engine reports success for work that is already done. An order is never withdrawn. */
#include <stdbool.h>
#include <stdint.h>

enum order_verb {
	/* Orders for one replica. struct orders keeps epochs only for those before ORDERS_KEPT. */
	ORDER_STOP,
	ORDER_REMOVE,
	ORDER_FOLLOW, /* read its output as it is written */
	ORDER_LINK,   /* change its connection to the job's network: enum link_request */
	ORDERS_KEPT,
	ORDER_CREATE = ORDERS_KEPT,
	ORDER_START,
	/* For the pool of one role. */
	ORDER_IMAGE, /* pull its image, if the engine does not have it */
	/* For the job. */
	ORDER_NETWORK, /* create its network */
	ORDER_LEAVE,   /* give its network and the network's gateway back */
	ORDER_GATEWAY_OPEN,
	ORDER_GATEWAY_CLOSE,
	ORDER_LAST_WORDS, /* report when the service's last lines in its log are stored */
};

struct order {
	enum order_verb verb;
	unsigned of;  /* index of the replica in the run; for ORDER_IMAGE: the role; for orders for the job: 0 */
	/* The parameter of ORDER_STOP: seconds from SIGTERM to SIGKILL; of ORDER_LINK: enum link_request; of
	 * ORDER_IMAGE: index of the node that needs the image. */
	unsigned how;
	int64_t bytes_per_s; /* ORDER_LINK with LINK_SLOWED: the limit */
};

struct orders {
	unsigned epoch;              /* the current one, from 0 */
	unsigned given[ORDERS_KEPT]; /* the epoch in which each order was last given, plus 1; 0: never given */
};

static inline void order_give(struct orders *orders, unsigned order)
{
	orders->given[order] = orders->epoch + 1;
}

static inline bool order_is_pending(const struct orders *orders, unsigned order)
{
	return orders->given[order] == orders->epoch + 1;
}

/* Whether the order is pending, or was given in an earlier epoch. */
static inline bool order_was_given(const struct orders *orders, unsigned order)
{
	return orders->given[order] != 0;
}
