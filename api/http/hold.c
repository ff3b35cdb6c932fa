/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/hold.h"

static size_t pooled(size_t bytes)
{
	return bytes > HOLD_OWN_BYTES ? bytes - HOLD_OWN_BYTES : 0;
}

void hold_change(struct hold *hold, size_t bytes)
{
	/* If the share shrinks, the unsigned difference wraps around, and adding it subtracts. */
	if (hold->pool)
		atomic_fetch_add(hold->pool, pooled(bytes) - pooled(hold->bytes));
	hold->bytes = bytes;
}

bool hold_is_crowded(const struct hold *hold, size_t pool_most)
{
	return hold->pool && hold->bytes > HOLD_OWN_BYTES && atomic_load(hold->pool) > pool_most;
}
