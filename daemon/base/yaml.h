/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/yaml.h: converts YAML to JSON. Thread: any. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"

enum { YAML_VALUES_MAX = 100000, YAML_DEPTH_MAX = 100 };

/* The first document of @text. Plain words are null, true, false and numbers by YAML's core schema; an alias is
 * replaced by a copy of its anchor. INVALID_ARGUMENT: it is not YAML (with the line), has no document, a key that is
 * not text, or more than YAML_VALUES_MAX values, including copies. */
enum status yaml_read(const char *text, size_t length, json_t **ret_value, struct error *err);
