/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/checksum.c: checksums in the form of headers and resources.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/objects#resource (read 2026-11-22) */
#include <endian.h>
#include <sodium.h>
#include <string.h>

#include "api/storage/parts.h"
#include "daemon/base/base64.h"

static bool bytes_decode(const char *text, void *ret_bytes, size_t count)
{
	unsigned char bytes[16];
	size_t length = 0;

	if (!base64_decode(text, strlen(text), NULL, sodium_base64_VARIANT_ORIGINAL, bytes, count, &length) ||
	    length != count)
		return false;
	memcpy(ret_bytes, bytes, count);
	return true;
}

bool crc32c_decode(const char *text, uint32_t *ret_crc32c)
{
	uint32_t highest_first;

	if (!bytes_decode(text, &highest_first, sizeof(highest_first)))
		return false;
	*ret_crc32c = be32toh(highest_first);
	return true;
}

bool md5_decode(const char *text, unsigned char ret_md5[16])
{
	return bytes_decode(text, ret_md5, 16);
}

void crc32c_encode(uint32_t crc32c, char ret_text[CRC32C_TEXT_SIZE])
{
	const uint32_t highest_first = htobe32(crc32c);

	sodium_bin2base64(ret_text, CRC32C_TEXT_SIZE, (const unsigned char *)&highest_first,
			  sizeof(highest_first), sodium_base64_VARIANT_ORIGINAL);
}

void md5_encode(const unsigned char md5[16], char ret_text[MD5_TEXT_SIZE])
{
	sodium_bin2base64(ret_text, MD5_TEXT_SIZE, md5, 16, sodium_base64_VARIANT_ORIGINAL);
}
