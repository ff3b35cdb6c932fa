/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies in gzip: a request's, and the same bytes as an object that is served unpacked.
 *
 * What must hold beside not crashing: no more comes out than the limit; what one way unpacks the other does, too. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/body.h"
#include "api/storage/gunzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT_BYTES = 1 << 16 };

struct packed {
	const uint8_t *data;
	size_t size;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static ssize_t packed_bytes(void *arg, int64_t offset, char *buffer, size_t size)
{
	const struct packed *packed = arg;
	const size_t left = packed->size - (size_t)offset, got = left < size ? left : size;

	memcpy(buffer, packed->data + offset, got);
	return (ssize_t)got;
}

/* Fails with: member_step() without inflateReset(): a second member is read for ever. */
static void object_check(const uint8_t *data, size_t size, const struct text *unpacked)
{
	struct packed packed = { data, size };
	AUTO(gunzip) struct gunzip *gunzip = gunzip_new(packed_bytes, &packed);
	size_t at = 0;
	char piece[1000];
	ssize_t got;

	require(gunzip != NULL);
	while ((got = gunzip_read(gunzip, piece, sizeof(piece))) > 0) {
		require(at + (size_t)got <= unpacked->length &&
			memcmp(unpacked->data + at, piece, (size_t)got) == 0);
		at += (size_t)got;
	}
	require(got == 0 && at == unpacked->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err AUTO_ERROR = { 0 };
	enum refusal refusal = 0;
	struct body body = { 0 };

	if (size == 0)
		return 0;
	for (size_t at = 0; at < size; at += 100)
		body_receive(&body, (const char *)data + at, size - at < 100 ? size - at : 100, LIMIT_BYTES);
	if (body_finish(&body, true, LIMIT_BYTES, &refusal, &err)) {
		require(err.status == STATUS_INVALID_ARGUMENT && err.text);
	} else {
		require(body.bytes.length <= LIMIT_BYTES);
		object_check(data, size, &body.bytes);
	}
	body_deinit(&body);
	return 0;
}
