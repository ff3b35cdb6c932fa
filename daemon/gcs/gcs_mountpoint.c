/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_mountpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

/* Without root, fusermount3 unmounts. */
void gcs_mountpoint_leave(const char *place)
{
	const char *const arguments[] = { "fusermount3", "-u", "-z", "-q", place, NULL };
	pid_t helper;

	if (umount2(place, MNT_DETACH) == 0 || errno != EPERM)
		return;
	if (posix_spawnp(&helper, arguments[0], NULL, NULL, (char *const *)arguments, environ) == 0)
		waitpid(helper, NULL, 0);
}

static bool place_is_dead(const char *place)
{
	struct statvfs facts;

	return statvfs(place, &facts) != 0 && errno == ENOTCONN;
}

bool gcs_mountpoint_clear(const char *place)
{
	while (umount2(place, MNT_DETACH) == 0)
		;
	if (place_is_dead(place))
		gcs_mountpoint_leave(place);
	return !place_is_dead(place);
}

void gcs_mountpoint_remove(const char *place)
{
	AUTO(string) char *above = memory_strdup(place);
	char *slash = strrchr(above, '/');

	rmdir(place);
	if (!slash)
		return;
	*slash = '\0';
	rmdir(above);
}

static char *place_of(const char *state_dir)
{
	return memory_printf("%s/" GCS_MOUNT, state_dir);
}

/* A mounted directory has another device number than its parent; if its server has ended, stat() fails with
 * ENOTCONN. */
bool gcs_mountpoint_is_mounted(const char *state_dir)
{
	AUTO(string) char *place = place_of(state_dir);
	struct stat above, here;

	if (!place || stat(state_dir, &above) != 0)
		return false;
	if (stat(place, &here) != 0)
		return errno == ENOTCONN;
	return here.st_dev != above.st_dev;
}

/* Returns the locked descriptor; -1: a running process holds the lock, or the lock file does not exist. */
static int lock_try(const char *state_dir)
{
	AUTO(string) char *path = memory_printf("%s/" GCS_LOCK, state_dir);
	const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool gcs_mountpoint_sweep(const char *state_dir)
{
	AUTO(string) char *place = place_of(state_dir);
	int lock = place ? lock_try(state_dir) : -1;

	if (lock >= 0) {
		gcs_mountpoint_clear(place);
		gcs_mountpoint_remove(place);
		close(lock);
	}
	return !gcs_mountpoint_is_mounted(state_dir);
}
