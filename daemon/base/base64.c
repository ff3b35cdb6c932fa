/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/base64.h"

#include <sodium.h>

bool base64_decode(const char *text, size_t length, const char *ignored, int variant, void *bytes,
		   size_t size, size_t *ret_length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] > 0x7f)
			return false;
	return sodium_base642bin(bytes, size, text, length, ignored, ret_length, NULL, variant) == 0;
}
