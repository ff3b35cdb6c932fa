/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/parity_warnings.h: what the cloud would think of a job, told as differences in the same words by both families.
 *
 * Each adds to @list (scheduler/plan/deviation.h), or finds nothing to tell. Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

/* Of an image that the cloud cannot pull, or may not. */
void registry_report(json_t *list, const char *image, const char *field);
/* The @noun ("region") @name is none that the service has: lenient validation took it. */
void unknown_report(json_t *list, const char *code, const char *field, const char *noun, const char *name);
