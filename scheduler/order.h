/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/order.h: requests to the engine and to other parts outside of the scheduler.
 *
 * For each order the epoch is kept in which it was given; an order is pending while that is the current epoch. Orders
 * are never taken back. A new epoch begins when an answer failed or may be lost; what is still needed is then ordered
 * again. That is harmless, because the engine reports success for what is done already. */
#include <stdbool.h>
#include <stdint.h>

enum order_verb {
	/* Orders for one replica. For orders before ORDERS_KEPT the epochs are kept. */
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
	ORDER_LEAVE, /* its network and the network's gateway */
	ORDER_GATEWAY_OPEN,
	ORDER_GATEWAY_CLOSE,
	ORDER_LAST_WORDS, /* report when its last service lines can be read */
};

struct order {
	enum order_verb verb;
	unsigned of;  /* index of the replica, or the role */
	/* STOP: the grace in seconds; LINK: enum link_request (cut, restored, slowed …); IMAGE: index of the node that
	 * needs the image. */
	unsigned how;
	int64_t bytes_per_s; /* LINK: of a slow one */
};

struct orders {
	unsigned epoch;              /* from 0 */
	unsigned given[ORDERS_KEPT]; /* epoch of the last time + 1; 0: never given */
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
