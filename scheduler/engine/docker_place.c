/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_place.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/docker_reach.h"

enum { ANSWER_SECONDS = 1, CODE_OK = 200, ID_SIZE = 65, LINE_SIZE = 4096 };

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
	AUTO(string) char *path = found ? memory_strdup(found + strlen(unseen)) : NULL;

	if (path)
		snprintf(
			words, size,
			"the engine does not have %s, which this daemon has: it runs in a container, or the engine "
			"does. Give it its state directory, and what --adc and --wheels name, at the same paths as "
			"on the engine's machine (docker run -v DIR:DIR ... serve --state-dir DIR)",
			path);
}

/* ---- the daemon's own directory ---- */

/* The first name of @path that an engine gives to a container: 64 hexadecimal digits. */
static bool id_find(const char *path, char id[ID_SIZE])
{
	for (; *path; path += strcspn(path, "/"), path += *path == '/') {
		const size_t length = strspn(path, "0123456789abcdef");

		if (length != ID_SIZE - 1 || (path[length] && path[length] != '/'))
			continue;
		snprintf(id, ID_SIZE, "%.*s", ID_SIZE - 1, path);
		return true;
	}
	return false;
}

/* The container that this process is in; false: none. Its /etc/hostname is a file of the engine's, in a directory of the
 * container's name.
 * Source: /proc/self/mountinfo in containers of Docker 20.10 and Podman 4.3; its form is that of
 * https://docs.kernel.org/filesystems/proc.html (3.5) */
static bool own_container(char id[ID_SIZE])
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[LINE_SIZE], root[LINE_SIZE], place[LINE_SIZE];
	bool found = false;

	while (mounts && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*d %*d %*s %4095s %4095s", root, place) == 2 &&
		    strcmp(place, "/etc/hostname") == 0)
			found = id_find(root, id); /* the last one hides those before it */
	if (mounts)
		fclose(mounts);
	return found;
}

struct reply {
	bool came;
	unsigned code; /* 0: none */
	char text[DOCKER_TEXT_SIZE];
};

static void replied(void *arg, const struct http_answer *answer)
{
	struct reply *reply = arg;

	reply->came = true;
	reply->code = answer->status ? 0 : answer->code;
	docker_message(answer->body, answer->body_length, reply->text);
}

static struct reply ask(struct http *http, const char *method, const char *path, const char *body)
{
	struct reply reply = { 0 };

	http_start(http, &(struct http_request){ .method = method,
						 .path = path,
						 .body = body,
						 .without_version = true,
						 .timeout_s = ANSWER_SECONDS,
						 .done = replied,
						 .arg = &reply });
	for (http_move(http); !reply.came; http_move(http))
		http_wait(http, ANSWER_SECONDS * 1000);
	return reply;
}

/* Without a command no container is made, whatever else is right. */
static bool is_unseen(struct http *http, const char *path)
{
	AUTO(json)
	json_t *body = json_pack("{ss s{s[{ss ss ss}]}}", "Image", "", "HostConfig", "Mounts", "Type", "bind",
				 "Source", path, "Target", "/seen");
	AUTO(string) char *text = json_dump_compact(body);

	return strstr(ask(http, "POST", "/containers/create", text).text, unseen) != NULL;
}

/* The engine may have another directory of that name: it is asked for a file that was just made. */
static bool has_directory(struct http *http, const char *directory)
{
	AUTO(string) char *path = memory_printf("%s/seen-XXXXXX", directory);
	int file = mkstemp(path);
	bool missing;

	if (file < 0)
		return true;
	missing = is_unseen(http, path);
	close(file);
	unlink(path);
	return !missing;
}

enum status docker_place_check(const char *url, const char *directory, struct error *err)
{
	char id[ID_SIZE], path[DOCKER_PATH_SIZE];

	if (!own_container(id))
		return STATUS_OK;
	AUTO(http) struct http *http = NULL;
	enum status rc = http_new(docker_socket_path(url), &http, err);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/containers/%s/json", id);
	if (ask(http, "GET", path, NULL).code != CODE_OK || has_directory(http, directory))
		return STATUS_OK; /* it is in a container of another engine, which may well share our files */
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "the engine does not have the state directory %s of this daemon, which runs in a "
			 "container: jobs would be without their certificates, packages and metrics. Give it "
			 "a directory at the same path as on the engine's machine: "
			 "docker run -v DIR:DIR ... serve --state-dir DIR",
			 directory);
}
