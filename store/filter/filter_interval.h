/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_interval.h: the interval of times that a filter can match. Pure. */
#include <stdint.h>

#include "store/filter/filter_sql.h"

/* An interval with both ends; INT64_MIN and INT64_MAX mean no limit. */
struct filter_interval {
	int64_t from_ns, to_ns;
};

/* Returns the smallest interval that contains all times at which the tree can be true, from its comparisons of the
 * field @path. @root NULL (an empty filter): no limits. */
struct filter_interval filter_interval_of(const struct filter_node *root, const char *path);
/* Makes the condition of a filter's text over the fields of @schema, and the interval in which matching rows can
 * have been created (field createTime). INVALID_ARGUMENT, of the field filter. */
enum status filter_created_make(const struct filter_schema *schema, const char *filter,
				struct filter_sql *ret_sql, struct filter_interval *ret_created,
				struct error *err);
