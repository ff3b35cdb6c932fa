/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/gunzip.h"

#include <stdbool.h>
#include <zlib.h>

#include "daemon/base/memory.h"

enum { PACKED_BYTES = 32 << 10, GZIP_WINDOW_BITS = 15 + 16 };

struct gunzip {
	packed_read read;
	void *arg;
	int64_t offset;
	z_stream zlib;
	bool member_ended; /* one gzip member is complete; another may follow */
	bool failed;
	char packed[PACKED_BYTES];
};

struct gunzip *gunzip_new(packed_read read, void *arg)
{
	struct gunzip *gunzip = memory_calloc(1, sizeof(*gunzip));

	gunzip->read = read;
	gunzip->arg = arg;
	if (inflateInit2(&gunzip->zlib, GZIP_WINDOW_BITS) != Z_OK) {
		free(gunzip);
		return NULL;
	}
	return gunzip;
}

void gunzip_free(struct gunzip *gunzip)
{
	if (!gunzip)
		return;
	inflateEnd(&gunzip->zlib);
	free(gunzip);
}

/* Reads more of the packed data. 1: there are bytes to unpack; 0: the end; -1: an error. */
static int packed_fill(struct gunzip *gunzip)
{
	ssize_t got;

	if (gunzip->zlib.avail_in)
		return 1;
	got = gunzip->read(gunzip->arg, gunzip->offset, gunzip->packed, sizeof(gunzip->packed));
	if (got <= 0)
		return (int)got;
	gunzip->offset += got;
	gunzip->zlib.next_in = (Bytef *)gunzip->packed;
	gunzip->zlib.avail_in = (uInt)got;
	return 1;
}

/* Unpacks a piece. False: the data are not valid gzip. */
static bool member_step(struct gunzip *gunzip)
{
	int rc;

	if (gunzip->member_ended && inflateReset(&gunzip->zlib) != Z_OK)
		return false;
	rc = inflate(&gunzip->zlib, Z_NO_FLUSH);
	gunzip->member_ended = rc == Z_STREAM_END;
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR;
}

ssize_t gunzip_read(struct gunzip *gunzip, char *buffer, size_t size)
{
	const uInt room = size < UINT32_MAX ? (uInt)size : UINT32_MAX;

	gunzip->zlib.next_out = (Bytef *)buffer;
	gunzip->zlib.avail_out = room;
	while (!gunzip->failed && gunzip->zlib.avail_out == room) {
		const int filled = packed_fill(gunzip);

		if (filled == 0 && gunzip->member_ended)
			return 0;
		gunzip->failed = filled <= 0 || !member_step(gunzip);
	}
	return gunzip->failed ? -1 : (ssize_t)(room - gunzip->zlib.avail_out);
}
