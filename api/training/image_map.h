/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/image_map.h: replaces the image that a job names by another one.
 *
 * A rule is FROM=TO. FROM is compared byte by byte:
 *   gcr.io/p/train:1   that image alone
 *   gcr.io/p/train     that image with any tag or digest, or with none
 *   gcr.io/p-*         everything that begins with gcr.io/p-
 * A star in TO, at most one, stands for the text that FROM's star matched; without a star TO is the image itself.
 * The first matching rule counts, and its result is not mapped again.
 *
 * Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct image_map {
	char *const *rules; /* each accepted by image_rule_valid(); borrowed */
	size_t count;
};

bool image_rule_valid(const char *rule);

/* Maps an image. *ret_mapped is NULL if no rule matches; otherwise the caller frees it. @map may be NULL.
 * FAILED_PRECONDITION: the rule does not turn @image into a valid image reference. */
enum status image_map_apply(const struct image_map *map, const char *image, char **ret_mapped,
			    struct error *err);
