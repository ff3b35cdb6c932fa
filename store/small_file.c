/* SPDX-License-Identifier: Apache-2.0 */
#include "store/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"

DEFINE_AUTO(directory, DIR *, closedir)

static void descriptor_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define AUTO_DESCRIPTOR __attribute__((cleanup(descriptor_close)))

/* Appends the contents. False: errno has the reason. */
static bool content_read(int fd, size_t bytes_max, struct text *content)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
		text_append(content, bytes, (size_t)got);
		if (content->length > bytes_max) {
			errno = EFBIG;
			return false;
		}
	}
	return got == 0;
}

enum status small_file_read(const char *path, size_t bytes_max, struct text *ret_content, struct error *err)
{
	int fd AUTO_DESCRIPTOR = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct text content AUTO_TEXT = { 0 };

	if (fd < 0 || !content_read(fd, bytes_max, &content))
		return error_set(err,
				 fd < 0 && errno == ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED_PRECONDITION,
				 NULL, "cannot read %s: %s", path, strerror(errno));
	text_append(ret_content, content.data ? content.data : "", content.length);
	return STATUS_OK;
}

/* Locks and fills the file; the lock keeps small_files_sweep() of another process from removing it. */
static bool file_fill(int fd, const struct text *content, mode_t mode)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	       write(fd, content->data, content->length) == (ssize_t)content->length &&
	       fchmod(fd, mode) == 0 && fsync(fd) == 0;
}

/* Gives the file its name. With PLACE_FIRST, an existing file of that name stays. */
static bool file_name(const char *own, const char *path, enum placing placing)
{
	return placing == PLACE_NEW ? rename(own, path) == 0 : link(own, path) == 0 || errno == EEXIST;
}

/* Syncs the directory, which stores the file's name. Some file systems return EINVAL for a directory, and keep names
 * without a sync. */
static bool name_keep(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct text directory AUTO_TEXT = { 0 };

	text_append(&directory, slash ? path : ".", slash && slash != path ? (size_t)(slash - path) : 1);
	int fd AUTO_DESCRIPTOR = open(directory.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
}

void small_file_suffix(char ret_suffix[SMALL_FILE_SUFFIX_SIZE])
{
	snprintf(ret_suffix, SMALL_FILE_SUFFIX_SIZE, ".%08x%08x", (unsigned)randombytes_random(),
		 (unsigned)randombytes_random());
}

/* Makes the file. Returns 0, or an error number. */
static int file_make(const char *path, const struct text *content, mode_t mode, enum placing placing)
{
	char suffix[SMALL_FILE_SUFFIX_SIZE];
	struct text own AUTO_TEXT = { 0 };
	int fault = 0;

	small_file_suffix(suffix);
	text_printf(&own, "%s%s", path, suffix);
	int fd AUTO_DESCRIPTOR = open(own.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	errno = 0; /* because a short write does not set it */
	if (!file_fill(fd, content, mode) || !file_name(own.data, path, placing) || !name_keep(path))
		fault = errno ? errno : ENOSPC;
	unlink(own.data);
	return fault;
}

enum status small_file_place(const char *path, const struct text *content, mode_t mode, enum placing placing,
			     struct error *err)
{
	int fault = file_make(path, content, mode, placing);

	if (fault == ENOENT || fault == EWOULDBLOCK) /* a daemon that starts removed it before it was locked */
		fault = file_make(path, content, mode, placing);
	return fault ? error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot make %s: %s", path,
				 strerror(fault))
		     : STATUS_OK;
}

static bool name_is_in_the_making(const char *name)
{
	size_t length = strlen(name);
	const char *suffix = name + length - (SMALL_FILE_SUFFIX_SIZE - 1);

	return length >= SMALL_FILE_SUFFIX_SIZE && *suffix == '.' &&
	       strspn(suffix + 1, "0123456789abcdef") == SMALL_FILE_SUFFIX_SIZE - 2;
}

void small_files_sweep(const char *directory)
{
	AUTO(directory) DIR *listing = opendir(directory);
	const struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		if (!name_is_in_the_making(entry->d_name))
			continue;
		int fd AUTO_DESCRIPTOR =
			openat(dirfd(listing), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(listing), entry->d_name, 0);
	}
}
