/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/base64.h"

#include <sodium.h>
#include <stdlib.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

void base64_append(struct text *text, const void *data, size_t length, int variant)
{
	const size_t size = sodium_base64_encoded_len(length, variant);
	AUTO(string) char *encoded = memory_alloc(size);

	text_puts(text, sodium_bin2base64(encoded, size, data, length, variant));
}

bool base64_decode(const char *text, size_t length, const char *ignored, int variant, void *bytes,
		   size_t size, size_t *ret_length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] > 0x7f)
			return false;
	return sodium_base642bin(bytes, size, text, length, ignored, ret_length, NULL, variant) == 0;
}
