/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/base64.h: base64 by libsodium. @variant: sodium_base64_VARIANT_…. Pure. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/text.h"

void base64_append(struct text *text, const void *data, size_t length, int variant);

/* Decodes a text that must be base64 and nothing else. libsodium's own decoder accepts some bytes beyond ASCII as
 * letters (observed with 1.0.18), so invalid spellings of tokens and checksums would pass. @ignored: characters to skip,
 * or NULL. Returns false if the text is not base64, is incomplete, or decodes to more than @size bytes. */
bool base64_decode(const char *text, size_t length, const char *ignored, int variant, void *bytes,
		   size_t size, size_t *ret_length);
