/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/base64.h: base64 by libsodium. @variant: sodium_base64_VARIANT_…. Pure. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/text.h"

void base64_append(struct text *text, const void *data, size_t length, int variant);

/* Text back to bytes, where it must be base64 and nothing else. libsodium's own reader takes bytes beyond ASCII for some
 * letter (seen with 1.0.18): a token or a checksum would have spellings that are none.
 * @ignored: characters that are passed over, or NULL.
 * False when it is no base64, is not whole, or has more than @size bytes. */
bool base64_decode(const char *text, size_t length, const char *ignored, int variant, void *bytes,
		   size_t size, size_t *ret_length);
