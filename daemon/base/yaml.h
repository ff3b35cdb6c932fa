/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/yaml.h: YAML as JSON. Thread: any. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"

enum { YAML_VALUES_MAX = 100000, YAML_DEPTH_MAX = 100 };

/* The first document of @text. Plain words are null, true, false and numbers as YAML's core schema has it; an alias is what
 * its anchor is. INVALID_ARGUMENT: it is no YAML, which is told with its line; no document; a key that is no text; more than
 * YAML_VALUES_MAX values, aliases written out. */
enum status yaml_read(const char *text, size_t length, json_t **ret_value, struct error *err);
