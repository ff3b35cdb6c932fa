/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_path.h: finds the field that a comparison is about. Pure. */
#include "store/filter/filter.h"

/* Returns the number of the node's segments that name the field @path ("resource.labels.job_id"; if it ends with
 * ".*", further segments are not counted); 0: the node names another field. Clients may also write names in
 * snake_case. */
size_t filter_path_takes(const struct filter_node *node, const char *path);
/* True if the node compares the field @path itself, not a function of it. */
bool filter_names(const struct filter_node *node, const char *path);
