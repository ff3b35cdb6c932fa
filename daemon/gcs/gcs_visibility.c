/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_visibility.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

/* Source: https://docs.kernel.org/filesystems/proc.html (3.5, mountinfo): "36 35 98:0 /root /mount …" */
static bool mounts_have(FILE *mounts, dev_t device)
{
	char *line = NULL;
	size_t size = 0;
	bool has = false;

	while (!has && getline(&line, &size, mounts) > 0) {
		unsigned most, least;

		has = sscanf(line, "%*d %*d %u:%u", &most, &least) == 2 && makedev(most, least) == device;
	}
	free(line);
	return has;
}

/* The process that listens at a socket; 0: it is none of ours. */
static enum status listener_find(const char *engine, pid_t *ret_pid, struct error *err)
{
	static const char scheme[] = "unix://";
	struct sockaddr_un place = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	bool is_known;
	int fd;

	if (strncmp(engine, scheme, strlen(scheme)) != 0 ||
	    strlen(engine) - strlen(scheme) >= sizeof(place.sun_path))
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "the engine is not at a socket of this machine");
	snprintf(place.sun_path, sizeof(place.sun_path), "%s", engine + strlen(scheme));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	is_known = fd >= 0 && connect(fd, (const struct sockaddr *)&place, sizeof(place)) == 0 &&
		   getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
	if (!is_known)
		error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", engine, strerror(errno));
	if (fd >= 0)
		close(fd);
	*ret_pid = peer.pid;
	return is_known ? STATUS_OK : STATUS_UNAVAILABLE;
}

enum status gcs_visibility_check(const char *engine, const char *directory, struct error *err)
{
	struct stat info;
	char path[48];
	pid_t pid = 0;
	FILE *mounts;
	bool has;
	enum status rc = listener_find(engine, &pid, err);

	if (rc)
		return rc;
	if (stat(directory, &info) != 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", directory, strerror(errno));
	if (pid <= 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "the engine runs apart from trainyard and does not see its files");
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	mounts = fopen(path, "re");
	if (!mounts)
		return STATUS_OK;
	has = mounts_have(mounts, info.st_dev);
	fclose(mounts);
	return has ? STATUS_OK
		   : error_set(err, STATUS_UNAVAILABLE, NULL,
			       "the engine has other mounts than trainyard and does not see its files");
}
