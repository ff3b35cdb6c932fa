/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/pretty.h: formats compact JSON like the service: two spaces a level, "key": value, one element a line, {}
 * and [] on one line, a newline at the end. One pass over the text, no tree. Pure. Thread: any. */
#include "daemon/base/text.h"

/* Appends @json, which must be JSON; white space between its tokens is dropped. Other texts do no harm, but the result
 * is undefined; beyond 128 levels the indent stays the same. */
void pretty_write(struct text *text, const char *json, size_t length);
