/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/pretty.h: compact JSON as the service shows it: two spaces a level, "key": value, one
 * element a line, {} and [] closed, a newline at the end. One pass over the text, no tree.
 * Pure. Thread: any. */
#include "daemon/base/text.h"

/* Appends @json, which must be JSON; white space between its tokens is dropped. Other texts give some
 * text and no harm; deeper than 128 levels the indent grows no more. */
void pretty_write(struct text *text, const char *json, size_t length);
