/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/spec_defaults.h: what a CustomJobSpec says when its client says nothing. Pure. Thread: any.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/DiskSpec (read 2026-11-22) */
#include <jansson.h>

#include "daemon/base/error.h"

/* Adds to each pool of a canonical spec the boot disk that it gets by default, and to the place of the output the slash
 * at its end. */
void spec_defaults_fill(json_t *spec);
