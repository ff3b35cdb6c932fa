/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/limits.h: how the size of a machine type becomes the limits of a container. Pure. Thread: any. */
#include <stdint.h>

struct assignment;
struct capacity;
struct plan;

/* Sets the limits of each pool of @plan by capacity->fit, and adds deviations from the cloud. A machine type of unknown
 * size gets no limits. */
void limits_fit(const struct plan *plan, const struct capacity *capacity, struct assignment *assignment);

enum { GIB_TEXT_SIZE = 32 };
/* Writes a size in GiB, such as "14.4" or "15"; returns @ret_text. */
const char *gib_text(int64_t bytes, char ret_text[GIB_TEXT_SIZE]);
