/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/regions.h: the regions of the training services, and the accelerators that they have there. Pure. Thread:
 * any. */
#include <stdbool.h>

struct text;

enum { REGION_ACCELERATORS_MAX = 10 };

struct region {
	const char *name;
	/* Names of AcceleratorConfig.Type of AI Platform in the order of their numbers; ends with NULL. */
	const char *accelerators[REGION_ACCELERATORS_MAX + 1];
	bool vertex_only; /* AI Platform Training was never available there */
	unsigned vertex;  /* the accelerators of Vertex AI: region_trains_with() */
};

/* Sorted by name; ends with a NULL name. */
extern const struct region regions[];

/* Finds a region. NULL: there is no region of that name. */
const struct region *region_find(const char *name);
/* True if Vertex AI trains with this accelerator in the region; false for an unknown region. @accelerator: an accelerator
 * type, or the beginning of the machine types of a TPU that has no such type ("ct6e"). */
bool region_trains_with(const char *name, const char *accelerator);
/* The functions below consider only regions of AI Platform Training. */
bool region_known(const char *name);
/* True if the region had this type of accelerator; false for an unknown region. */
bool region_has_accelerator(const char *name, const char *accelerator_type);
/* Appends "asia-east1, asia-east2, …". */
void regions_list(struct text *text);
