/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/blob_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/work.h"

DEFINE_AUTO(directory, DIR *, closedir)

enum status file_error(struct error *err, int error_number, const char *doing)
{
	enum status status = STATUS_INTERNAL;

	switch (error_number) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		status = STATUS_RESOURCE_EXHAUSTED;
		break;
	case EIO:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EROFS:
	case EACCES:
	case EPERM:
		status = STATUS_UNAVAILABLE;
		break;
	default:
		break;
	}
	return error_set(err, status, NULL, "cannot %s: %s", doing, strerror(error_number));
}

static enum status directory_open(int parent_fd, const char *name, int *ret_fd, struct error *err)
{
	if (mkdirat(parent_fd, name, 0700) != 0 && errno != EEXIST)
		return file_error(err, errno, name);
	*ret_fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret_fd >= 0 ? STATUS_OK : file_error(err, errno, name);
}

enum status blob_files_open(struct blob_files *files, const char *state_dir, struct error *err)
{
	enum status rc;

	*files = (struct blob_files){ -1, -1, -1, -1, 0 };
	rc = directory_open(AT_FDCWD, state_dir, &files->state_fd, err);
	if (!rc)
		rc = directory_open(files->state_fd, "blobs", &files->blobs_fd, err);
	if (!rc)
		rc = directory_open(files->state_fd, "uploads", &files->uploads_fd, err);
	if (!rc)
		rc = directory_open(files->state_fd, "gs", &files->tree_fd, err);
	if (rc)
		blob_files_close(files);
	return rc;
}

static void directory_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void blob_files_close(struct blob_files *files)
{
	directory_close(&files->tree_fd);
	directory_close(&files->uploads_fd);
	directory_close(&files->blobs_fd);
	directory_close(&files->state_fd);
}

/* Writes the path of a blob below uploads/. */
static void upload_path(int64_t blob, char ret_path[BLOB_PATH_SIZE])
{
	snprintf(ret_path, BLOB_PATH_SIZE, "%016" PRIx64, (uint64_t)blob);
}

void blob_path(int64_t blob, char ret_path[BLOB_PATH_SIZE])
{
	snprintf(ret_path, BLOB_PATH_SIZE, "%02x/%016" PRIx64, (unsigned)(blob & 0xff), (uint64_t)blob);
}

/* Makes a number for a new blob. It grows with time, which keeps the index of blobs compact; its last bits are
 * random, because the clock may go back. */
int64_t blob_number_make(struct blob_files *files)
{
	int64_t now_us = clock_wall_us(&system_clock);
	int64_t last = __atomic_load_n(&files->last_number, __ATOMIC_RELAXED);
	int64_t number;

	do {
		number = (int64_t)(((uint64_t)now_us << 12 & INT64_MAX) | randombytes_uniform(1 << 12));
		number = number > last ? number : last + 1;
	} while (!__atomic_compare_exchange_n(&files->last_number, &last, number, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return number;
}

enum status blob_upload_open(const struct blob_files *files, int64_t blob, int *ret_fd, struct error *err)
{
	char path[BLOB_PATH_SIZE];

	upload_path(blob, path);
	*ret_fd = openat(files->uploads_fd, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *ret_fd >= 0 ? STATUS_OK : file_error(err, errno, "make a file for an upload");
}

enum status blob_upload_size(const struct blob_files *files, int64_t blob, int64_t *ret_bytes,
			     struct error *err)
{
	char path[BLOB_PATH_SIZE];
	struct stat info;

	upload_path(blob, path);
	if (fstatat(files->uploads_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0)
		*ret_bytes = info.st_size;
	else if (errno == ENOENT)
		*ret_bytes = 0;
	else
		return file_error(err, errno, "look at an upload");
	return STATUS_OK;
}

void blob_move_to_place(const struct blob_files *files, int64_t blob)
{
	char from[BLOB_PATH_SIZE], to[BLOB_PATH_SIZE], directory[3];

	upload_path(blob, from);
	blob_path(blob, to);
	/* The tree of files for users has hard links to this very file, so it is made read-only. */
	if (fchmodat(files->uploads_fd, from, 0444, 0) != 0 && errno == ENOENT)
		return; /* it was moved already */
	if (renameat(files->uploads_fd, from, files->blobs_fd, to) == 0 || errno != ENOENT)
		return;
	snprintf(directory, sizeof(directory), "%.2s", to);
	if (mkdirat(files->blobs_fd, directory, 0700) == 0 || errno == EEXIST)
		renameat(files->uploads_fd, from, files->blobs_fd, to);
}

bool blob_link(const struct blob_files *files, int64_t blob, int directory_fd, const char *name)
{
	char stored_path[BLOB_PATH_SIZE], arriving[BLOB_PATH_SIZE];

	blob_path(blob, stored_path);
	upload_path(blob, arriving);
	if (linkat(files->blobs_fd, stored_path, directory_fd, name, 0) == 0)
		return true;
	return errno == ENOENT && linkat(files->uploads_fd, arriving, directory_fd, name, 0) == 0;
}

int blob_open(const struct blob_files *files, int64_t blob)
{
	char stored_path[BLOB_PATH_SIZE], arriving[BLOB_PATH_SIZE];
	int fd;

	blob_path(blob, stored_path);
	upload_path(blob, arriving);
	fd = openat(files->blobs_fd, stored_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		fd = openat(files->uploads_fd, arriving, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) /* it was moved after uploads was searched */
		fd = openat(files->blobs_fd, stored_path, O_RDONLY | O_CLOEXEC);
	return fd;
}

static bool is_gone(int directory_fd, const char *path)
{
	return unlinkat(directory_fd, path, 0) == 0 || errno == ENOENT;
}

bool blob_remove(const struct blob_files *files, int64_t blob)
{
	char stored_path[BLOB_PATH_SIZE], arriving[BLOB_PATH_SIZE];

	blob_path(blob, stored_path);
	upload_path(blob, arriving);
	/* Tries both places in the order in which a blob moves, so that a blob that is moved meanwhile is
	 * found at the second one. */
	return is_gone(files->uploads_fd, arriving) && is_gone(files->blobs_fd, stored_path);
}

static bool blob_number_parse(const char *name, int64_t *ret_blob)
{
	if (strlen(name) != 16 || strspn(name, "0123456789abcdef") != 16)
		return false;
	*ret_blob = (int64_t)strtoull(name, NULL, 16);
	return true;
}

enum status blob_uploads_each(const struct blob_files *files,
			      enum status (*each)(void *arg, int64_t blob, struct error *err), void *arg,
			      struct error *err)
{
	int fd = openat(files->uploads_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO(directory) DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	enum status rc = STATUS_OK;
	int64_t blob;

	if (!listing) {
		rc = file_error(err, errno, "look through the uploads");
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (!rc && (entry = readdir(listing)))
		if (blob_number_parse(entry->d_name, &blob))
			rc = each(arg, blob, err);
	return rc;
}

/* COPY_BYTES: how much is copied between two checks that the copy is still wanted. */
enum { COPY_BYTES = 64 << 20, BUFFER_BYTES = 64 * 1024 };

/* Copies through a buffer, for file systems without copy_file_range(). */
static ssize_t copy_by_hand(int from_fd, off_t *offset, int to_fd, off_t *to_offset, size_t size)
{
	char buffer[BUFFER_BYTES];
	ssize_t length = pread(from_fd, buffer, size < sizeof(buffer) ? size : sizeof(buffer), *offset);
	ssize_t done = length > 0 ? pwrite(to_fd, buffer, (size_t)length, *to_offset) : length;

	if (done > 0) {
		*offset += done;
		*to_offset += done;
	}
	return done;
}

static bool copy_impossible(int error_number)
{
	return error_number == EXDEV || error_number == ENOSYS || error_number == EOPNOTSUPP ||
	       error_number == EINVAL || error_number == EPERM;
}

enum status file_join(int from_fd, int64_t size_bytes, int to_fd, int64_t to_offset, struct error *err)
{
	off_t offset = 0;
	off_t place = to_offset;
	bool by_hand = false;
	enum status rc = work_check(err);

	for (; !rc && offset < size_bytes; rc = work_check(err)) {
		size_t left = size_bytes - offset < COPY_BYTES ? (size_t)(size_bytes - offset) : COPY_BYTES;
		ssize_t done = by_hand ? copy_by_hand(from_fd, &offset, to_fd, &place, left)
				       : copy_file_range(from_fd, &offset, to_fd, &place, left, 0);

		if (done > 0 || (done < 0 && errno == EINTR))
			continue;
		if (done == 0 || by_hand || !copy_impossible(errno)) {
			if (done == 0)
				errno = EIO; /* it has become shorter */
			return file_error(err, errno, "join the bytes of objects");
		}
		by_hand = true;
	}
	return rc;
}
