/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/objects_clear.h: removes all objects and buckets of all projects, a part per call. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct objects;

/* Removes at most @most objects, and buckets that have none. Adds their number to *removed. *ret_more: some are left. */
enum status objects_clear(struct objects *objects, unsigned most, uint64_t *removed, bool *ret_more,
			  struct error *err);

/* Whether there is any bucket. */
enum status objects_are_any(struct objects *objects, bool *ret_any, struct error *err);
