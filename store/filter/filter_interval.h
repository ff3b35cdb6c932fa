/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_interval.h: when that can have happened which a filter wants. Pure. */
#include <stdint.h>

#include "store/filter/filter.h"

/* Both ends belong to it; INT64_MIN and INT64_MAX: any. */
struct filter_interval {
	int64_t from_ns, to_ns;
};

/* The least that holds all times at which the tree can be true, as far as comparisons of the field @path say. NULL: always. */
struct filter_interval filter_interval_of(const struct filter_node *root, const char *path);
