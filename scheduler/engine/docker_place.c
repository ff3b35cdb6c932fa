/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_place.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/text.h"

enum { ANSWER_BYTES_MAX = 4096, ANSWER_SECONDS = 1 };

/* Source: answers of Docker 20.10, moby/moby, volume/mounts/validate.go */
static const char unseen[] = "bind source path does not exist: ";

static json_t *mount_make(const char *told)
{
	static const char only[] = ":ro";
	size_t length = strlen(told);
	const bool read_only = length > strlen(only) && strcmp(told + length - strlen(only), only) == 0;
	size_t at;

	if (read_only)
		length -= strlen(only);
	/* Places in containers are ours, without a colon; what is before may have some. */
	for (at = length; at > 0 && told[at - 1] != ':';)
		at--;
	return at == 0 ? NULL
		       : json_pack("{ss ss% ss% sb}", "Type", "bind", "Source", told, at - 1, "Target",
				   told + at, length - at, "ReadOnly", read_only);
}

json_t *docker_mounts_make(const json_t *mounts)
{
	AUTO(json) json_t *made = json_array();
	size_t index;
	json_t *told;

	json_array_foreach(mounts, index, told)
		if (!json_is_string(told) || json_array_append_new(made, mount_make(json_string_value(told))))
			return NULL;
	return TAKE(made);
}

void docker_place_explain(char *words, size_t size)
{
	const char *found = strstr(words, unseen);
	AUTO(string) char *path = found ? strdup(found + strlen(unseen)) : NULL;

	if (path)
		snprintf(
			words, size,
			"the engine does not have %s, which this daemon has: it runs in a container, or the engine "
			"does. Give it its state directory, and what --adc and --wheels name, at the same paths as "
			"on the engine's machine (docker run -v DIR:DIR ... serve --state-dir DIR)",
			path);
}

/* Without a command no container is made, whatever else is right. */
static char *question_make(const char *path)
{
	AUTO(json)
	json_t *body = json_pack("{ss s{s[{ss ss ss}]}}", "Image", "", "HostConfig", "Mounts", "Type", "bind",
				 "Source", path, "Target", "/seen");
	AUTO(string) char *text = body ? json_dump_compact(body) : NULL;
	struct text question AUTO_TEXT = { 0 };

	if (!text)
		return NULL;
	text_printf(&question,
		    "POST /containers/create HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n"
		    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		    strlen(text), text);
	return text_take(&question);
}

/* The words are looked for in all of the answer: how it is sent does not matter. It ends with its connection, or with our
 * patience. */
static bool is_unseen(int fd, const char *path)
{
	AUTO(string) char *question = question_make(path);
	char answer[ANSWER_BYTES_MAX];
	ssize_t got;

	if (!question || send(fd, question, strlen(question), MSG_NOSIGNAL) != (ssize_t)strlen(question))
		return false;
	got = recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL);
	answer[got > 0 ? got : 0] = '\0';
	return strstr(answer, unseen) != NULL;
}

/* -1: no engine is there, or it is too busy. */
static int engine_connect(const char *host)
{
	static const char scheme[] = "unix://";
	const char *path = strncmp(host, scheme, strlen(scheme)) == 0 ? host + strlen(scheme) : host;
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = -1;

	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

enum status docker_place_check(const char *host, const char *directory, struct error *err)
{
	struct text path AUTO_TEXT = { 0 };
	int fd = engine_connect(host), file = -1;
	bool missing = false;

	text_printf(&path, "%s/seen-XXXXXX", directory);
	if (fd >= 0 && !path.failed)
		file = mkstemp(path.data);
	if (file >= 0) {
		missing = is_unseen(fd, path.data);
		close(file);
		unlink(path.data);
	}
	if (fd >= 0)
		close(fd);
	return !missing
		       ? STATUS_OK
		       : error_set(
				 err, STATUS_FAILED_PRECONDITION, NULL,
				 "the engine does not have the state directory %s of this daemon, which runs in a "
				 "container: jobs would be without their certificates, packages and metrics. Give it "
				 "a directory at the same path as on the engine's machine: "
				 "docker run -v DIR:DIR ... serve --state-dir DIR",
				 directory);
}
