/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of uploads and downloads: the first byte is the exponent of an object's size, the rest a header's value.
 *
 * Besides not crashing: the range to send lies within the object, and a received range is in order and within its
 * total. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/storage/http_date.h"
#include "api/storage/parts.h"
#include "api/storage/range.h"
#include "daemon/base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void range_try(const char *value, int64_t size_bytes)
{
	struct byte_range range = { 0 };
	const enum range_outcome outcome = range_choose(value, size_bytes, &range);

	if (outcome == RANGE_UNSATISFIABLE)
		return;
	expect(range.first >= 0 && range.length >= 0 && range.first <= size_bytes - range.length);
	expect(outcome == RANGE_PART ? range.length > 0 : range.first == 0 && range.length == size_bytes);
}

static void content_range_try(const char *value)
{
	struct content_range range;

	if (!content_range_parse(value, &range))
		return;
	expect(range.first >= 0 && range.first < INT64_MAX);
	expect(range.last >= -1 && range.last < INT64_MAX);
	expect(range.total >= -1 && range.total < INT64_MAX);
	expect(range.brings_bytes || (range.first == 0 && range.last == -1));
	expect(range.last < 0 || range.first <= range.last);
	expect(range.total < 0 ||
	       (range.first <= range.total && range.last < (range.total ? range.total : 1)));
}

static void date_try(const char *value)
{
	char again[HTTP_DATE_SIZE];
	int64_t wall_s, read_s;

	if (!http_date_read(value, &wall_s))
		return;
	http_date_write(wall_s * 1000000, again);
	expect(*again == '\0' || (http_date_read(again, &read_s) && read_s == wall_s));
}

static void checksum_try(const char *value)
{
	char crc32c_text[CRC32C_TEXT_SIZE], md5_text[MD5_TEXT_SIZE];
	unsigned char md5[16];
	uint32_t crc32c;

	if (crc32c_decode(value, &crc32c)) {
		crc32c_encode(crc32c, crc32c_text);
		expect(strcmp(crc32c_text, value) == 0);
	}
	if (md5_decode(value, md5)) {
		md5_encode(md5, md5_text);
		expect(strcmp(md5_text, value) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *value = NULL;

	if (!size)
		return 0;
	value = strndup((const char *)data + 1, size - 1);
	if (!value)
		return 0;
	range_try(value, (INT64_C(1) << (data[0] % 63)) - 1);
	range_try(value, 0);
	content_range_try(value);
	date_try(value);
	checksum_try(value);
	return 0;
}
