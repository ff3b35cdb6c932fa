/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/slow_disk.c: preloaded, makes each write to the file of log entries (and to its journal) take
 * TRAINYARD_TEST_WRITE_US microseconds longer, and each of its syncs a hundred times that; and none is done as long as there
 * is a file TRAINYARD_TEST_STILL. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_US = 1000 };

static void wait_if_logs(int fd, unsigned times)
{
	const char *us = getenv("TRAINYARD_TEST_WRITE_US"), *still = getenv("TRAINYARD_TEST_STILL");
	char link[64], path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (!us || length < 0)
		return;
	path[length] = '\0';
	if (!strstr(path, "/logs.db"))
		return;
	usleep((useconds_t)atoi(us) * times);
	while (still && access(still, F_OK) == 0)
		usleep(LOOK_US);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset)
{
	ssize_t (*next)(int, const void *, size_t, off64_t) =
		(ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");

	wait_if_logs(fd, 1);
	return next(fd, data, length, offset);
}

int fdatasync(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");

	wait_if_logs(fd, 100);
	return next(fd);
}
