/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_inspection.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_credentials.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"

enum { PLACES_MOST = 32, RUN_BYTES = 4 };
#define LABEL_LOOK "trainyard.look"

/* Where a shell searches if the image does not say. Source: docker's default of PATH */
static const char usual_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* ---- finding the program ---- */

static const char *first_of(const json_t *words)
{
	return json_string_value(json_array_get(words, 0));
}

/* The program that the container would run; "": none. If the job replaces the image's ENTRYPOINT, the image's CMD is
 * ignored.
 * Source: https://docs.docker.com/reference/dockerfile/#understand-how-cmd-and-entrypoint-interact */
static const char *program_of(const struct inspection *inspection, const json_t *config)
{
	const char *entry = first_of(json_object_get(config, "Entrypoint"));
	const char *word = inspection->command ? first_of(inspection->command) : entry;

	if (!word)
		word = first_of(inspection->args);
	if (!word && !inspection->command)
		word = first_of(json_object_get(config, "Cmd"));
	return word ? word : "";
}

static const char *search_path(const json_t *config)
{
	const json_t *variable;
	size_t index;

	json_array_foreach(json_object_get(config, "Env"), index, variable)
		if (json_is_string(variable) && strncmp(json_string_value(variable), "PATH=", 5) == 0)
			return json_string_value(variable) + 5;
	return usual_path;
}

/* Whether the container's file system has @path. Also true if the engine cannot answer, so that the image is not
 * refused without proof. */
static bool has_path(struct http *http, const char *container, const char *path)
{
	char encoded[DOCKER_PATH_SIZE], whole[2 * DOCKER_PATH_SIZE];

	docker_query_encode(path, encoded, sizeof(encoded));
	snprintf(whole, sizeof(whole), "/containers/%.64s/archive?path=%s", container, encoded);
	struct reply reply AUTO_REPLY = docker_ask(http, "HEAD", whole, NULL);

	return reply.status || reply.code != 404;
}

/* Whether the container has @program. A name without a slash is searched in PATH; a path that is not absolute is
 * below the working directory. */
static bool has_program(struct http *http, const char *container, const json_t *config, const char *program)
{
	const char *directory = json_text_at(config, "WorkingDir");
	const char *part = strchr(program, '/') ? NULL : search_path(config);

	if (!part) {
		AUTO(string)
		char *path = memory_printf("%s/%s", *program == '/' || !directory ? "" : directory, program);

		return has_path(http, container, path);
	}
	for (unsigned i = 0; *part && i < PLACES_MOST; i++) {
		const size_t length = strcspn(part, ":");
		AUTO(string) char *path = memory_printf("%.*s/%s", (int)length, part, program);

		if (has_path(http, container, path))
			return true;
		part += length + (part[length] == ':');
	}
	return *part != '\0'; /* true if PATH has more directories than were searched */
}

/* ---- the container ---- */

static char run[2 * RUN_BYTES + 1]; /* differs from one run of the daemon to the next */

static void run_draw(void)
{
	unsigned char random[RUN_BYTES];

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(run, sizeof(run), random, sizeof(random));
}

static const char *run_of_daemon(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, run_draw);
	return run;
}

/* The name, "ty-INSTANCE-look-RUN-NUMBER", is also the value of a label: a user's container may have our labels from its
 * image, but not this name as well. */
static void look_name(const char *instance, char name[DOCKER_NAME_SIZE])
{
	static atomic_uint number;

	snprintf(name, DOCKER_NAME_SIZE, "ty-%s-look-%s-%u", instance, run_of_daemon(),
		 atomic_fetch_add(&number, 1));
}

bool docker_inspection_is_left(const json_t *container)
{
	const char *label = json_text_at(json_object_get(container, "Labels"), LABEL_LOOK);
	const char *name = json_string_value(json_array_get(json_object_get(container, "Names"), 0));

	return label && name && strcmp(name + (name[0] == '/'), label) == 0 && !strstr(label, run_of_daemon());
}

/* Checks whether the image has the program. For this, a container is made, which never runs: the engine only answers
 * questions about the files of a container. */
static enum status program_look(const struct inspection *inspection, struct http *http, const json_t *config,
				struct image_facts *facts, struct error *err)
{
	char name[DOCKER_NAME_SIZE], path[DOCKER_PATH_SIZE];

	look_name(inspection->instance, name);
	snprintf(path, sizeof(path), "/containers/create?name=%s", name);

	AUTO(json)
	json_t *body = json_pack("{s:s, s:[s], s:[], s:b, s:{s:s, s:s}}", "Image", inspection->image,
				 "Entrypoint", "/", "Cmd", "NetworkDisabled", 1, "Labels",
				 "trainyard.instance", inspection->instance, LABEL_LOOK, name);
	AUTO(string) char *text = body ? json_dump_compact(body) : NULL;
	struct reply made AUTO_REPLY = text ? docker_ask(http, "POST", path, text)
					    : (struct reply){ .status = STATUS_INVALID_ARGUMENT };
	const char *id = json_text_at(made.value, "Id");

	if (made.status || made.code >= 300 || !id)
		return reply_failure(&made, err);
	facts->lacks_program = !has_program(http, id, config, facts->program);
	snprintf(path, sizeof(path), "/containers/%.64s?v=1&force=1", id);
	struct reply removed AUTO_REPLY = docker_ask(http, "DELETE", path, NULL);

	return removed.status ? reply_failure(&removed, err) : STATUS_OK;
}

static void facts_read(const struct inspection *inspection, const json_t *image, struct image_facts *facts)
{
	const char *os = json_text_at(image, "Os"), *machine = json_text_at(image, "Architecture");

	if (os && machine)
		snprintf(facts->platform, sizeof(facts->platform), "%s/%s", os, machine);
	facts->is_local = !json_array_size(json_object_get(image, "RepoDigests"));
	snprintf(facts->program, sizeof(facts->program), "%s",
		 program_of(inspection, json_object_get(image, "Config")));
}

enum status docker_inspect_image(const struct inspection *inspection, struct image_facts *ret_facts,
				 struct error *err)
{
	char name[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 32];
	struct image_reference reference;
	AUTO(http) struct http *http = NULL;
	enum status rc = image_reference_parse(inspection->image, &reference, err);

	*ret_facts = (struct image_facts){ 0 };
	if (!rc)
		rc = http_new(inspection->endpoint, &http, err);
	if (rc)
		return rc;
	http_set_version(http, inspection->api_version);
	docker_query_encode(inspection->image, name, sizeof(name));
	snprintf(path, sizeof(path), "/images/%s/json", name);
	struct reply image AUTO_REPLY = docker_ask(http, "GET", path, NULL);

	if (image.status || image.code != 200 || !image.value)
		return reply_failure(&image, err);
	facts_read(inspection, image.value, ret_facts);
	return inspection->with_program && ret_facts->program[0]
		       ? program_look(inspection, http, json_object_get(image.value, "Config"), ret_facts,
				      err)
		       : STATUS_OK;
}
