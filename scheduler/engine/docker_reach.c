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

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_hijack.h"
#include "scheduler/engine/docker_mounts.h"
#include "scheduler/engine/docker_route.h"

enum { PING_PATIENCE_MS = 5000, PATH_PATIENCE_MS = 5000 };

#define OLDEST_VERSION "1.40"

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
	return problem == EAGAIN ? 0 : problem; /* EAGAIN: the engine exists, and is only busy */
}

/* Appends the other usual sockets at which an engine answers: those of rootless engines of Docker, and of Podman.
 * Source: https://docs.docker.com/engine/security/rootless/, https://docs.docker.com/desktop/ (read 2026-11-25) and
 * podman-system-service(1) (read 2026-11-27) */
static void others_write(struct text *text, const char *path)
{
	const struct {
		const char *variable, *below;
	} places[] = { { NULL, "/var/run/docker.sock" },
		       { "XDG_RUNTIME_DIR", "/docker.sock" },
		       { "HOME", "/.docker/run/docker.sock" },
		       { "HOME", "/.docker/desktop/docker.sock" },
		       { NULL, "/run/podman/podman.sock" },
		       { "XDG_RUNTIME_DIR", "/podman/podman.sock" } };

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

/* Appends how the user gets permission to use the socket. The group is the socket's; it is root's if the engine
 * found no group "docker". */
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

static enum status socket_reach(const char *path, struct error *err)
{
	const int problem = socket_call(path);
	struct text help AUTO_TEXT = { 0 };

	if (!problem)
		return STATUS_OK;
	help_write(&help, path, problem);
	return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot reach the engine at unix://%s: %s%s", path,
			 strerrordesc_np(problem), help.length ? help.data : "");
}

/* Asks an engine over a network one short question: only an answer proves that ssh or TLS reached the engine. */
static enum status far_reach(struct endpoint *endpoint, struct error *err)
{
	const struct hijack_request request = {
		.endpoint = endpoint, .method = "GET", .path = "/_ping", .patience_ms = PING_PATIENCE_MS
	};
	const bool is_plain = endpoint_address(endpoint)->kind == ENDPOINT_TCP;
	struct text body AUTO_TEXT = { 0 };
	unsigned code = 0;
	char words[DOCKER_TEXT_SIZE];
	enum status rc = hijack_ask(&request, &code, &body, err);

	if (rc || code == 200)
		return rc;
	docker_message(body.length ? body.data : "", body.length, words);
	return error_set(err, STATUS_UNAVAILABLE, NULL, "the engine at %s refuses the connection: HTTP %u: %s%s",
			 endpoint_name(endpoint), code, words,
			 is_plain && code == 400
				 ? "; for TLS set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the directory of "
				   "ca.pem, cert.pem and key.pem"
				 : "");
}

static enum status endpoint_reach(struct endpoint *endpoint, struct error *err)
{
	const struct endpoint_address *place = endpoint_address(endpoint);

	return place->kind == ENDPOINT_UNIX ? socket_reach(place->path, err) : far_reach(endpoint, err);
}

enum status docker_reach(const char *url, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	enum status rc = route_endpoint_open(url, &endpoint, err);

	return rc ? rc : endpoint_reach(endpoint, err);
}

enum status docker_connect(const char *url, struct endpoint **ret_endpoint, struct http **ret_http,
			   struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	enum status rc = route_endpoint_open(url, &endpoint, err);

	if (!rc)
		rc = endpoint_reach(endpoint, err);
	if (!rc)
		rc = http_new(endpoint, ret_http, err);
	if (rc)
		return rc;
	http_set_version(*ret_http, OLDEST_VERSION);
	*ret_endpoint = TAKE(endpoint);
	return STATUS_OK;
}

enum status docker_describe(const char *url, json_t **ret_facts, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	enum status rc = docker_connect(url, &endpoint, &http, err);

	if (rc)
		return rc;
	struct reply info AUTO_REPLY = docker_ask(http, "GET", "/info", NULL);

	if (info.status || info.code != 200 || !info.value)
		return reply_failure(&info, err);
	struct reply version AUTO_REPLY = docker_ask(http, "GET", "/version", NULL);

	json_object_update_missing(info.value, version.value);
	json_object_set_new(info.value, "Place", json_string(endpoint_name(endpoint)));
	*ret_facts = TAKE(info.value);
	return STATUS_OK;
}

enum status docker_has_path(const char *url, const char *path, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(string) char *question = docker_mount_question(path);
	struct hijack_request request = { .method = "POST",
					  .path = "/containers/create",
					  .body = question,
					  .patience_ms = PATH_PATIENCE_MS };
	struct text answer AUTO_TEXT = { 0 };
	char words[DOCKER_TEXT_SIZE];
	unsigned code = 0;
	enum status rc = route_endpoint_open(url, &endpoint, err);

	if (rc)
		return rc;
	request.endpoint = endpoint;
	rc = hijack_ask(&request, &code, &answer, err);
	if (rc)
		return rc == STATUS_UNAVAILABLE ? rc : error_wrap(err, "the engine's answer");
	docker_message(answer.length ? answer.data : "", answer.length, words);
	return docker_mount_is_missing(words) ? error_set(err, STATUS_NOT_FOUND, NULL, "%s", words) : STATUS_OK;
}
