/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/bucket_rules.h: checks of a bucket's metadata, new or changed. Pure. Thread: any. */
#include <jansson.h>

#include "daemon/base/error.h"

/* Checks the metadata and normalizes the storage class. INVALID_ARGUMENT: too many labels, or an unknown storage
 * class. */
enum status bucket_rules_check(json_t *metadata, struct error *err);
