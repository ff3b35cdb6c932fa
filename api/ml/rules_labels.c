/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: at most 64; a key begins with a lowercase letter; keys and values have lowercase letters,
 * digits, _ and - only, at most 63 of them. Letters may be of any alphabet.
 * Source: https://cloud.google.com/ai-platform/training/docs/resource-labels */
#include <string.h>

#include "api/ml/rules.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"

enum { LABELS_MAX = 64, LABEL_CHARACTERS_MAX = 63 };

/* Capitals of the alphabets that have them at even distances: Latin-1, Greek, Cyrillic; others have
 * no case, or are taken as they are. */
static bool is_foreign_capital(const unsigned char *c)
{
	unsigned code = c[0] >= 0xc3 && c[0] <= 0xd0 ? (unsigned)((c[0] & 0x1f) << 6 | (c[1] & 0x3f)) : 0;

	return (code >= 0xc0 && code <= 0xde && code != 0xd7) || (code >= 0x391 && code <= 0x3a9) ||
	       (code >= 0x400 && code <= 0x42f);
}

/* Punctuation and blanks of Latin-1 and of the general block U+2000 are no letters. */
static bool is_foreign_letter(const unsigned char *c)
{
	if (c[0] == 0xc2)
		return c[1] == 0xaa || c[1] == 0xb5 || c[1] == 0xba;
	if (c[0] == 0xc3 && (c[1] == 0x97 || c[1] == 0xb7))
		return false;
	if (c[0] == 0xe2 && c[1] < 0xb0)
		return false;
	if (c[0] == 0xef && c[1] >= 0xbf)
		return false;
	return !is_foreign_capital(c);
}

static bool is_letter(const unsigned char *c)
{
	return (*c >= 'a' && *c <= 'z') || (*c >= 0x80 && is_foreign_letter(c));
}

/* Lowercase letters, digits, _ and -, each character counted once. @text is UTF-8. */
static bool is_label_text(const char *text)
{
	size_t characters = 0;

	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		if (!is_letter(c) && !strchr("0123456789_-", *c))
			return false;
		if (++characters > LABEL_CHARACTERS_MAX)
			return false;
		for (c++; (*c & 0xc0) == 0x80; c++)
			continue;
	}
	return true;
}

static void check_label(const char *key, const char *value, struct error *err)
{
	if (!is_letter((const unsigned char *)key) || !is_label_text(key))
		error_add(err, STATUS_INVALID_ARGUMENT, "labels",
			  "The key '%.*s' is not valid: keys have 1 to 63 characters, begin with a lowercase "
			  "letter and "
			  "contain only lowercase letters, digits, underscores and dashes.",
			  RULES_SHOWN_BYTES, key);
	if (!is_label_text(value))
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
