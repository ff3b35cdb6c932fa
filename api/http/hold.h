/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/hold.h: counts the memory that a connection holds for unread requests or unsent answers. What exceeds a
 * fixed share per connection is taken from a common pool: many small holds cannot block each other, and many large ones
 * cannot fill the memory. Thread: a hold belongs to its connection's thread, a pool to any. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { HOLD_OWN_BYTES = 256 << 10, HOLD_POOL_BODY_BYTES = 96 << 20 };

struct hold {
	size_t bytes;
	atomic_size_t *pool; /* sum of all holds; NULL: not counted */
};

/* Sets the number of bytes that are held now. */
void hold_change(struct hold *hold, size_t bytes);
/* True if the hold takes memory from its pool and more than @pool_most bytes of the pool are taken. */
bool hold_is_crowded(const struct hold *hold, size_t pool_most);
