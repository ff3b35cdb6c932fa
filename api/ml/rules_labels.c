/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: at most 64; a key begins with a lowercase letter; keys and values have lowercase letters,
 * digits, _ and - only, at most 63 of them. Letters may be of any alphabet.
 * Source: https://cloud.google.com/ai-platform/training/docs/resource-labels */
#include <string.h>

#include "api/ml/rules.h"
#include "api/training/label.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"

static void check_label(const char *key, const char *value, struct error *err)
{
	if (!label_begins_with_letter(key) || !label_text_valid(key))
		error_add(err, STATUS_INVALID_ARGUMENT, "labels",
			  "The key '%.*s' is not valid: keys have 1 to 63 characters, begin with a lowercase "
			  "letter and "
			  "contain only lowercase letters, digits, underscores and dashes.",
			  RULES_SHOWN_BYTES, key);
	if (!label_text_valid(value))
		error_add(err, STATUS_INVALID_ARGUMENT, "labels",
			  "The value '%.*s' is not valid: values have at most 63 characters and contain only "
			  "lowercase "
			  "letters, digits, underscores and dashes.",
			  RULES_SHOWN_BYTES, value);
}

enum status labels_check(const json_t *labels, struct error *err)
{
	struct error found = { 0 };
	enum status status;
	const char *key;
	json_t *value;

	if (json_object_size(labels) > LABELS_MAX) {
		error_set(&found, STATUS_INVALID_ARGUMENT, "labels", "A job has at most %d labels, not %zu.",
			  LABELS_MAX, json_object_size(labels));
	} else {
		json_object_foreach((json_t *)labels, key, value) {
			check_label(key, json_is_string(value) ? json_string_value(value) : "", &found);
		}
	}
	status = found.status;
	if (status)
		error_move(err, &found);
	return status;
}
