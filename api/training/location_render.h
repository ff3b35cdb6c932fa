/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/location_render.h: a region as clients see it. Pure. Thread: any. */
#include "daemon/base/text.h"

struct region;

/* Appends the Location with the members of both families' schemas; @project as the caller named it. */
void location_render(struct text *text, const char *project, const struct region *region);
