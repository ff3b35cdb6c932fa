/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_path.h: which field a comparison is about. Pure. */
#include "store/filter/filter.h"

/* How many of the node's segments the field @path takes ("resource.labels.job_id"; one that ends with ".*" leaves what is
 * below it to others); 0: it is another field. Clients may write names in snake_case, too. */
size_t filter_path_takes(const struct filter_node *node, const char *path);
/* True when the node compares the field @path itself, and no function of it. */
bool filter_names(const struct filter_node *node, const char *path);
