/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/regions.h: where the training services run, and which accelerators AI Platform had there. Pure.
 * Thread: any. */
#include <stdbool.h>

struct text;

enum { REGION_ACCELERATORS_MAX = 10 };

struct region {
	const char *name;
	/* Names of AcceleratorConfig.Type in the order of their numbers; ends with NULL. */
	const char *accelerators[REGION_ACCELERATORS_MAX + 1];
	bool vertex_only; /* AI Platform Training was never there */
};

/* In rising order; ends with a NULL name. */
extern const struct region regions[];

/* NULL when there is none of that name. */
const struct region *region_find(const char *name);
/* The other functions are about those of AI Platform Training alone. */
bool region_known(const char *name);
/* False too for a region that the table does not know. */
bool region_has_accelerator(const char *name, const char *accelerator_type);
/* Appends "asia-east1, asia-east2, …". */
void regions_list(struct text *text);
