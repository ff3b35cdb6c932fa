/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/yaml.h: converts YAML to JSON. Thread: any. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"

enum { YAML_VALUES_MAX = 100000, YAML_DEPTH_MAX = 100 };

/* Converts the document in @text. A word without quotes becomes null, true, false or a number by the rules of YAML 1.1,
 * as when gcloud reads its --config: yes, on and y are true, 010 is 8, 1_000 is 1000, 1:30 is 90. Numbers that are not
 * finite, dates and the names of members stay text. An alias is replaced by a copy of its anchor; the key << merges
 * mappings.
 * INVALID_ARGUMENT: @text is not YAML (the error has the line), has no document or several, has a key that is not text
 * or occurs twice, or has more than YAML_VALUES_MAX values, copies included. */
enum status yaml_read(const char *text, size_t length, json_t **ret_value, struct error *err);
