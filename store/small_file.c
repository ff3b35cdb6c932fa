/* SPDX-License-Identifier: Apache-2.0 */
#include "store/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"

static void descriptor_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define AUTO_DESCRIPTOR __attribute__((cleanup(descriptor_close)))

/* False with errno. */
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
	if (!content.failed)
		text_append(ret_content, content.data ? content.data : "", content.length);
	return content.failed || ret_content->failed ? error_no_memory(err) : STATUS_OK;
}

static bool file_fill(const char *path, const struct text *content, mode_t mode)
{
	int fd AUTO_DESCRIPTOR = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 && write(fd, content->data, content->length) == (ssize_t)content->length &&
	       fchmod(fd, mode) == 0 && fsync(fd) == 0;
}

/* A link is never made over another's. */
static bool file_name(const char *own, const char *path, enum placing placing)
{
	return placing == PLACE_NEW ? rename(own, path) == 0 : link(own, path) == 0 || errno == EEXIST;
}

enum status small_file_place(const char *path, const struct text *content, mode_t mode, enum placing placing,
			     struct error *err)
{
	struct text own AUTO_TEXT = { 0 };
	int fault = 0;

	text_printf(&own, "%s.%08x%08x", path, (unsigned)randombytes_random(),
		    (unsigned)randombytes_random());
	if (own.failed)
		return error_no_memory(err);
	if (!file_fill(own.data, content, mode) || !file_name(own.data, path, placing))
		fault = errno;
	unlink(own.data);
	return fault ? error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot make %s: %s", path,
				 strerror(fault))
		     : STATUS_OK;
}
