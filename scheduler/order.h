/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/order.h: what was asked of the engine for one thing. An order is pending while it is of the present epoch. No order
 * is ever taken back: a new epoch begins when an answer may be lost, or was a failure, and what is still needed is asked for
 * again then. That is harmless: what is already so is success for the engine. */
#include <stdbool.h>

enum { ORDERS_MAX = 4 };

struct orders {
	unsigned epoch;             /* from 0 */
	unsigned given[ORDERS_MAX]; /* one more than the epoch in which it was given last; 0: never */
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
