/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_reach.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/text.h"

static const char scheme[] = "unix://";

bool docker_url_valid(const char *url)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX };

	return strncmp(url, scheme, strlen(scheme)) == 0 && *docker_socket_path(url) == '/' &&
	       strlen(docker_socket_path(url)) < sizeof(address.sun_path);
}

const char *docker_socket_path(const char *url)
{
	return url + strlen(scheme);
}

static int socket_call(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int problem = ENAMETOOLONG, fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return problem;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	problem = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
	close(fd);
	return problem == EAGAIN ? 0 : problem; /* it is there, and busy */
}

/* Where Docker puts the socket of an engine that is not root's.
 * Source: https://docs.docker.com/engine/security/rootless/ and https://docs.docker.com/desktop/ (read 2026-11-25) */
static void others_write(struct text *text, const char *path)
{
	const struct {
		const char *variable, *below;
	} places[] = { { NULL, "/var/run/docker.sock" },
		       { "XDG_RUNTIME_DIR", "/docker.sock" },
		       { "HOME", "/.docker/run/docker.sock" },
		       { "HOME", "/.docker/desktop/docker.sock" } };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *above = places[i].variable ? getenv(places[i].variable) : "";
		struct text other AUTO_TEXT = { 0 };

		if (!above)
			continue;
		text_printf(&other, "%s%s", above, places[i].below);
		if (strcmp(other.data, path) != 0 && socket_call(other.data) == 0)
			text_printf(text, "; one answers at --engine unix://%s", other.data);
	}
}

/* The group is the socket's own; the engine gives it to root where it finds no group docker. */
static void permission_write(struct text *text, const char *path)
{
	const struct passwd *user = getpwuid(geteuid());
	struct stat about;
	const bool is_roots = stat(path, &about) == 0 && about.st_gid == 0;
	const struct group *group = is_roots || stat(path, &about) != 0 ? NULL : getgrgid(about.st_gid);
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	text_printf(
		text,
		": user %s may not use it%s; as root, `usermod -aG %s %s` lets that user in from the next login on",
		user ? user->pw_name : number,
		is_roots ? ", it is root's alone (`dockerd --group docker` makes it the group's)" : "",
		group ? group->gr_name : "docker", user ? user->pw_name : number);
}

static void help_write(struct text *text, const char *path, int problem)
{
	switch (problem) {
	case EACCES:
	case EPERM:
		permission_write(text, path);
		break;
	case ENOENT:
	case ENOTDIR:
		text_puts(text, ": is Docker Engine installed, and does it run (systemctl start docker)? "
				"--engine or DOCKER_HOST names another socket");
		others_write(text, path);
		break;
	case ECONNREFUSED:
		text_puts(text, ": no engine runs there; systemctl start docker starts it");
		others_write(text, path);
		break;
	default:
		break;
	}
}

enum status docker_reach(const char *url, struct error *err)
{
	const char *path = docker_socket_path(url);
	const int problem = socket_call(path);
	struct text help AUTO_TEXT = { 0 };

	if (!problem)
		return STATUS_OK;
	help_write(&help, path, problem);
	return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot reach the engine at unix://%s: %s%s", path,
			 strerrordesc_np(problem), help.length ? help.data : "");
}
