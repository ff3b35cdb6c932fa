/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/spec_defaults.h: the default values of a CustomJobSpec. Pure. Thread: any.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/DiskSpec (read 2026-11-22) */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"

/* Adds the default boot disk to each pool of a canonical spec, and a slash to the end of the output's path. */
void spec_defaults_fill(json_t *spec);
/* Whether the boot disk of a pool is the one that spec_defaults_fill() adds. */
bool spec_disk_is_default(const json_t *pool);
