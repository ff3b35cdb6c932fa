/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/parity_warnings.h: warnings about jobs that the cloud might refuse. Each is a deviation
 * (scheduler/plan/deviation.h), with the same text for AI Platform and Vertex AI.
 *
 * Each function adds to @list if there is something to report. Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

/* Warns about an image that the cloud cannot pull, or that its machines must not pull. */
void registry_report(json_t *list, const char *image, const char *field);
/* Warns about a name that only lenient validation accepted: the service has no @noun ("region") @name. */
void unknown_report(json_t *list, const char *code, const char *field, const char *noun, const char *name);
