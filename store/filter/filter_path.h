/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_path.h: which field a comparison is about. Pure. */
#include "store/filter/filter.h"

/* How many of the node's segments belong to the field @path ("resource.labels.job_id"; with ".*" at the end the
 * segments below it are not counted); 0: another field. Clients may also write names in snake_case. */
size_t filter_path_takes(const struct filter_node *node, const char *path);
/* True if the node compares the field @path itself, not a function of it. */
bool filter_names(const struct filter_node *node, const char *path);
