/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_claims_seen.h: finds claims of GPUs (docker_claims.h) in an engine's lists of volumes and
 * containers. Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

/* The name of the volume by which @instance claims @device. It has a hash of the GPU's id, because an id may be too
 * long for a volume's name, or have characters that such a name must not have. The caller frees it. */
json_t *claim_name(const char *instance, const char *device);
/* The value of the label @name; NULL: the object does not have the label. */
const char *claim_label(const json_t *object, const char *name);
/* The instance that has the object; NULL: it is @own, or the object has no instance. */
const char *claim_stranger(const json_t *object, const char *own);
/* Whether the volume is the claim of @device by @instance. */
bool claim_is_of(const json_t *volume, const char *instance, const char *device);
bool claim_is_listed(const json_t *volumes, const char *instance, const char *device);
/* Whether one of the running @containers is another instance's and has the device. */
bool claim_runs_elsewhere(const json_t *containers, const char *own, const char *device);
