/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/regions.h: where AI Platform Training ran. Pure. Thread: any. */
#include <stdbool.h>

struct text;

/* In rising order; ends with NULL. */
extern const char *const ml_regions[];

bool region_known(const char *region);
/* Appends "asia-east1, asia-east2, …". */
void regions_list(struct text *text);
