/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/regions.h: where AI Platform Training ran, and which accelerators it had there. Pure. Thread: any. */
#include <stdbool.h>

struct text;

enum { REGION_ACCELERATORS_MAX = 10 };

struct region {
	const char *name;
	/* Names of AcceleratorConfig.Type in the order of their numbers; ends with NULL. */
	const char *accelerators[REGION_ACCELERATORS_MAX + 1];
};

/* In rising order; ends with a NULL name. */
extern const struct region ml_regions[];

/* NULL when there is none of that name. */
const struct region *region_find(const char *name);
bool region_known(const char *name);
/* False too for a region that the table does not know. */
bool region_has_accelerator(const char *name, const char *accelerator_type);
/* Appends "asia-east1, asia-east2, …". */
void regions_list(struct text *text);
