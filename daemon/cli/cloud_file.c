/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/cloud_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

enum { MODE_FILE = 0666, MODE_DIRECTORY = 0777, MODE_PERMISSIONS = 07777, SIGNALLED = 128 };

/* The path that the signal handler removes; "": no file is unfinished. */
static char unfinished[PATH_MAX];

static void on_end(int number)
{
	if (*unfinished)
		unlink(unfinished);
	_exit(SIGNALLED + number);
}

void cloud_file_guard(void)
{
	struct sigaction action = { .sa_handler = on_end };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static enum status path_failure(const char *path, const char *done, struct error *err)
{
	return error_set(err, STATUS_ABORTED, NULL, "%s cannot be %s: %s", path, done, strerror(errno));
}

enum status cloud_directory_make(const char *path, struct error *err)
{
	AUTO(string) char *made = memory_strdup(path);

	for (char *slash = made + 1; *made && (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		struct stat status;

		*slash = '\0';
		if (mkdir(made, MODE_DIRECTORY) != 0 &&
		    !(errno == EEXIST && stat(made, &status) == 0 && S_ISDIR(status.st_mode)))
			return path_failure(made, "made a directory", err);
	}
	return STATUS_OK;
}

enum status cloud_file_open(struct cloud_file *file, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	AUTO(string) char *real = NULL;
	struct stat status;
	enum status rc = cloud_directory_make(path, err);

	if (rc)
		return rc;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return error_set(err, STATUS_ABORTED, NULL, "%s is a directory", path);
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		file->fd = open(path, O_WRONLY | O_CLOEXEC);
		return file->fd < 0 ? path_failure(path, "written", err) : STATUS_OK;
	}
	real = realpath(path, NULL); /* the target of a link */
	if (real)
		slash = strrchr(real, '/');
	file->path = memory_strdup(real ? real : path);
	file->written =
		memory_printf("%.*s.trainyard-%d", slash ? (int)(slash + 1 - (real ? real : path)) : 0,
			      real ? real : path, (int)getpid());
	file->fd = open(file->written, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_FILE);
	if (file->fd < 0)
		return path_failure(file->written, "written", err);
	snprintf(unfinished, sizeof(unfinished), "%s", file->written);
	return STATUS_OK;
}

enum status cloud_file_keep(struct cloud_file *file, struct error *err)
{
	struct stat status;

	if (!file->written)
		return STATUS_OK;
	if (stat(file->path, &status) == 0 && fchmod(file->fd, status.st_mode & MODE_PERMISSIONS) != 0)
		return path_failure(file->path, "given its permissions", err);
	if (rename(file->written, file->path) != 0)
		return path_failure(file->path, "written", err);
	*unfinished = '\0';
	free(TAKE(file->written));
	return STATUS_OK;
}

void cloud_file_drop(struct cloud_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->fd >= 0 && file->written)
		unlink(file->written);
	*unfinished = '\0';
	free(file->path);
	free(file->written);
	*file = (struct cloud_file){ .fd = -1 };
}
