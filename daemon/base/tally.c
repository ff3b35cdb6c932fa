/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/tally.h"

#include <stdatomic.h>

static atomic_uint_fast64_t tallies[TALLY_COUNT];

void tally_add(enum tally which, uint64_t amount)
{
	atomic_fetch_add_explicit(&tallies[which], amount, memory_order_relaxed);
}

uint64_t tally_get(enum tally which)
{
	return atomic_load_explicit(&tallies[which], memory_order_relaxed);
}
