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
	atomic_size_t *pool; /* what all holds take from it; NULL: not counted */
};

/* Sets that @bytes are held now. */
void hold_change(struct hold *hold, size_t bytes);
/* Whether it takes from a pool of which more than @pool_most is taken. */
bool hold_is_crowded(const struct hold *hold, size_t pool_most);
