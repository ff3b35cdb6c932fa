/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/parity_warnings.h: warnings about jobs that the cloud might refuse, as deviations with the same texts in
 * both families.
 *
 * Each function adds to @list (scheduler/plan/deviation.h) if there is something to report. Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

/* Warns about an image that the cloud cannot pull, or that its machines must not pull. */
void registry_report(json_t *list, const char *image, const char *field);
/* Warns about a name that only lenient validation accepted: the service has no @noun ("region") @name. */
void unknown_report(json_t *list, const char *code, const char *field, const char *noun, const char *name);
