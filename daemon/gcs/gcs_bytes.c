/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_bytes.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/gcs/gcs_wait.h"

/* A copy checks after this many bytes that its calling process still waits. */
enum { STEP_BYTES = 16 << 20, BUFFER_BYTES = 64 << 10 };

/* Copies through a buffer, on file systems that do not support copy_file_range(). Returns the bytes copied, or -1. */
static ssize_t copy_by_hand(int from_fd, off_t *from, int to_fd, off_t *to, size_t size)
{
	char buffer[BUFFER_BYTES];
	const ssize_t length = pread(from_fd, buffer, size < sizeof(buffer) ? size : sizeof(buffer), *from);
	const ssize_t done = length > 0 ? pwrite(to_fd, buffer, (size_t)length, *to) : length;

	if (done > 0) {
		*from += done;
		*to += done;
	}
	return done;
}

static int step_copy(int from_fd, int64_t from_bytes, int64_t until_bytes, int to_fd)
{
	off_t from = from_bytes, to = from_bytes;
	bool by_hand = false;

	while (from < until_bytes) {
		const size_t left = (size_t)(until_bytes - from);
		const ssize_t done = by_hand ? copy_by_hand(from_fd, &from, to_fd, &to, left)
					     : copy_file_range(from_fd, &from, to_fd, &to, left, 0);

		if (done > 0 || (done < 0 && errno == EINTR))
			continue;
		if (done == 0)
			return -EIO; /* it has become shorter */
		if (by_hand || errno == ENOSPC || errno == EIO || errno == EDQUOT)
			return -errno;
		by_hand = true;
	}
	return 0;
}

int gcs_bytes_copy(int from_fd, int64_t size_bytes, int to_fd, const struct gcs_call *call)
{
	int64_t at = 0, hole = 0;
	int problem = 0;

	if (ftruncate(to_fd, size_bytes) != 0)
		return -errno;
	if (ioctl(to_fd, FICLONE, from_fd) == 0)
		return 0;
	while (!problem && at < size_bytes) {
		int64_t until;

		if (at == hole) {
			const off_t data = lseek(from_fd, at, SEEK_DATA);

			if (data < 0 && errno == ENXIO)
				return 0; /* a hole until the end */
			at = data < 0 ? at : data;
			hole = lseek(from_fd, at, SEEK_HOLE);
			hole = hole < 0 ? size_bytes : hole;
		}
		until = hole - at < STEP_BYTES ? hole : at + STEP_BYTES;
		problem = gcs_call_given_up(call);
		if (!problem)
			problem = step_copy(from_fd, at, until, to_fd);
		at = until;
	}
	return problem;
}
