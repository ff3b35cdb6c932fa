/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"

struct removal {
	DIR *top;
	dev_t device;
	size_t steps_left;
	uint64_t serial; /* number for the next name at the top */
};

static bool step_take(struct removal *removal)
{
	if (!removal->steps_left) {
		errno = EFBIG;
		return false;
	}
	removal->steps_left--;
	return true;
}

/* Returns a handle of a directory, and gives this user all permissions for it if the user owns it. This uses the handle,
 * because the name may belong to another file by now. -1: failure, with errno. */
static int directory_take(int above, const char *name)
{
	const int handle = openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat facts;
	char path[32];

	if (handle < 0 || fstat(handle, &facts) != 0 || (facts.st_mode & 0700) == 0700)
		return handle;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	(void)!chmod(path, 0700);
	return handle;
}

static DIR *directory_open(int above, const char *name)
{
	const int handle = directory_take(above, name);
	const int fd = handle >= 0 ? openat(handle, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

	if (!directory)
		fd_drop(fd);
	fd_drop(handle);
	return directory;
}

/* Returns the name of the next entry; NULL: the end, with errno 0, or a failure, with errno. */
static const char *entry_next(DIR *directory)
{
	const struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(directory);
	} while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry ? entry->d_name : NULL;
}

static bool gone(int rc)
{
	return rc == 0 || errno == ENOENT;
}

/* Removes a file or an empty directory. Returns false on failure; ENOTEMPTY: the directory is not empty. */
static bool entry_remove(struct removal *removal, int above, const char *name)
{
	if (!step_take(removal))
		return false;
	if (gone(unlinkat(above, name, 0)))
		return true;
	if (errno != EISDIR && errno != EPERM)
		return false;
	if (gone(unlinkat(above, name, AT_REMOVEDIR)))
		return true;
	errno = errno == EEXIST ? ENOTEMPTY : errno;
	return false;
}

/* Moves a directory to the top, under a new name. Names are numbers that count up from a random one, so that it is
 * unlikely that many of them exist already, and that no program can make them in advance. */
static bool entry_lift(struct removal *removal, int above, const char *name)
{
	const int handle = directory_take(above, name);
	char to[32];
	int rc;

	if (handle >= 0)
		close(handle);
	do {
		if (!step_take(removal))
			return false;
		snprintf(to, sizeof(to), "%016" PRIx64, removal->serial++);
		rc = renameat2(above, name, dirfd(removal->top), to, RENAME_NOREPLACE);
	} while (rc != 0 && errno == EEXIST);
	return gone(rc);
}

static bool directory_clear(struct removal *removal, DIR *directory)
{
	const char *name;
	struct stat facts;

	if (fstat(dirfd(directory), &facts) != 0)
		return false;
	if (facts.st_dev != removal->device) {
		errno = EXDEV;
		return false;
	}
	while ((name = entry_next(directory)))
		if (!entry_remove(removal, dirfd(directory), name) &&
		    (errno != ENOTEMPTY || !entry_lift(removal, dirfd(directory), name)))
			return false;
	return errno == 0;
}

/* Removes a directory at the top that is not empty. */
static bool directory_remove(struct removal *removal, const char *name)
{
	DIR *directory = directory_open(dirfd(removal->top), name);
	int problem;
	bool clear;

	if (!directory)
		return errno == ENOENT;
	clear = directory_clear(removal, directory);
	problem = errno;
	closedir(directory);
	errno = problem;
	return clear && entry_remove(removal, dirfd(removal->top), name);
}

/* Removes the entries that the top has now. Entries moved to the top meanwhile may stay for the next pass. *ret_any:
 * false if the top was empty. */
static bool top_pass(struct removal *removal, bool *ret_any)
{
	const char *name;

	*ret_any = false;
	rewinddir(removal->top);
	while ((name = entry_next(removal->top))) {
		*ret_any = true;
		if (!entry_remove(removal, dirfd(removal->top), name) &&
		    (errno != ENOTEMPTY || !directory_remove(removal, name)))
			return false;
	}
	return errno == 0;
}

static bool top_clear(struct removal *removal)
{
	struct stat facts;
	bool any = true;

	if (fstat(dirfd(removal->top), &facts) != 0 ||
	    getrandom(&removal->serial, sizeof(removal->serial), 0) != sizeof(removal->serial))
		return false;
	removal->device = facts.st_dev;
	while (any)
		if (!top_pass(removal, &any))
			return false;
	return true;
}

bool tree_remove(const char *path, size_t steps_max)
{
	struct removal removal = { .top = directory_open(AT_FDCWD, path), .steps_left = steps_max };
	int problem;
	bool clear;

	if (!removal.top)
		return errno == ENOENT;
	clear = top_clear(&removal);
	problem = errno;
	closedir(removal.top);
	errno = problem;
	return clear && gone(rmdir(path));
}
