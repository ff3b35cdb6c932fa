/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/image_map.h: which image runs here in the place of the one that a job names.
 *
 * A rule is FROM=TO. FROM is compared as it is written, byte by byte:
 *   gcr.io/p/train:1   that image alone
 *   gcr.io/p/train     that image with any tag or digest, or with none
 *   gcr.io/p-*         everything that begins with gcr.io/p-
 * A star in TO stands for what FROM's star has matched, and is possible at one place only; without it TO is the
 * image itself. The first rule that fits is the one that counts, and what it gives is not mapped again.
 *
 * Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct image_map {
	char *const *rules; /* each one that image_rule_valid() takes; borrowed */
	size_t count;
};

bool image_rule_valid(const char *rule);

/* *ret_mapped is NULL when no rule fits; otherwise the caller frees it. @map may be NULL.
 * FAILED_PRECONDITION: what the rule makes of @image is no reference of an image. */
enum status image_map_apply(const struct image_map *map, const char *image, char **ret_mapped,
			    struct error *err);
