/* SPDX-License-Identifier: Apache-2.0 */
/* Archives as an engine sends them, in pieces of any size.
 *
 * A sink is given no more bytes than allowed, each file has the bytes that were announced, and names lead nowhere else. What
 * is written is read as it was. Fails with: a size of the attributes that is passed over; data_left that is not compared with
 * bytes_left; a name that is taken as it comes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/archive.h"

enum { BYTES_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	size_t files, announced, taken;
};

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void begun(void *arg, const char *name, size_t size)
{
	struct seen *seen = arg;

	expect(seen->taken == seen->announced); /* the file before is complete */
	expect(*name && *name != '/' && strncmp(name, "../", 3) != 0 && !strstr(name, "/../"));
	seen->files++;
	seen->announced += size;
}

static void piece(void *arg, const char *data, size_t length)
{
	struct seen *seen = arg;

	(void)data;
	seen->taken += length;
	expect(seen->taken <= seen->announced);
}

static bool read_whole(const char *data, size_t size, size_t step, struct seen *seen)
{
	const struct file_sink sink = { begun, piece, seen };
	struct archive archive = { .sink = &sink, .bytes_left = BYTES_MAX };

	for (size_t at = 0; at < size; at += step)
		if (!archive_take(&archive, data + at, size - at < step ? size - at : step))
			break;
	if (!archive_end(&archive)) {
		expect(archive.problem &&
		       (archive.status == STATUS_INTERNAL || archive.status == STATUS_RESOURCE_EXHAUSTED));
		return false;
	}
	expect(seen->taken == seen->announced);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct archive_entry file = { .name = "a/b", .type = '0', .size = (int64_t)size };
	struct text written AUTO_TEXT = { 0 };
	struct seen seen = { 0 }, other = { 0 }, own = { 0 };
	const bool whole = read_whole((const char *)data, size, size + 1, &seen);

	expect(seen.announced <= BYTES_MAX);
	expect(read_whole((const char *)data, size, size ? data[0] + 1U : 1, &other) == whole);
	expect(other.files == seen.files && other.taken == seen.taken);
	archive_entry_add(&written, &file);
	text_append(&written, data, size);
	archive_padding_add(&written, file.size);
	archive_entry_add(&written, &(struct archive_entry){ .name = "c", .type = '0' });
	archive_finish(&written);
	expect(read_whole(written.data, written.length, 700, &own) == (size <= BYTES_MAX));
	expect(size > BYTES_MAX || (own.files == 2 && own.taken == size));
	return 0;
}
