/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/hold.h: how much memory a connection holds for what its client sends, or does not take. What it holds beyond a part
 * that each may have in any case comes out of a pool of all: so many small ones cannot keep each other out, and many large
 * ones not fill the memory. Thread: a hold is its connection's, a pool any's. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { HOLD_OWN_BYTES = 256 << 10, HOLD_POOL_BODY_BYTES = 96 << 20 };

struct hold {
	size_t bytes;
	atomic_size_t *pool; /* what all take out of it; NULL: nobody counts */
};

/* It holds @bytes from now on. */
void hold_change(struct hold *hold, size_t bytes);
/* Whether it takes out of a pool from which more than @pool_most is taken. */
bool hold_is_crowded(const struct hold *hold, size_t pool_most);
