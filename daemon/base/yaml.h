/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/yaml.h: converts YAML to JSON. Thread: any. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"

enum { YAML_VALUES_MAX = 100000, YAML_DEPTH_MAX = 100 };

/* The document of @text. Plain words are null, true, false and numbers by YAML 1.1, because gcloud reads its --config
 * so: yes, on and y are true, 010 is 8, 1_000 is 1000, 1:30 is 90. Values that are not finite, dates and the names of
 * members stay text. An alias is replaced by a copy of its anchor; the key << merges mappings. INVALID_ARGUMENT: it is
 * not YAML (with the line), has no document or a second one, a key that is not text or is there twice, or more than
 * YAML_VALUES_MAX values, including copies. */
enum status yaml_read(const char *text, size_t length, json_t **ret_value, struct error *err);
