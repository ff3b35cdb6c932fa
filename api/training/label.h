/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/label.h: valid keys and values of labels. Pure. Thread: any.
 * Source: https://cloud.google.com/resource-manager/docs/labels-overview#requirements */
#include <stdbool.h>

enum { LABELS_MAX = 64, LABEL_CHARACTERS_MAX = 63 };

/* Lowercase letters of any alphabet, digits, _ and -; at most LABEL_CHARACTERS_MAX characters; may be empty. @text is
 * UTF-8. */
bool label_text_valid(const char *text);
/* False for the empty text. */
bool label_begins_with_letter(const char *text);
