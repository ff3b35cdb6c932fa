/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_create.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_given.h"
#include "scheduler/engine/docker_make.h"
#include "scheduler/engine/docker_mounts.h"
#include "scheduler/engine/docker_replica.h"
#include "scheduler/engine/docker_reports.h"

enum { RETRY_US = 300 * MILLISECOND_US, CREATE_TRIES = 10 };

struct creation {
	struct docker *docker;
	struct replica_key key;
	json_t *body;
	struct text
		given; /* an archive of the files that are copied into the container; empty: none */
	bool is_new; /* the engine has made the container for this request */
	unsigned tries;
	struct timer again;
};

static void creation_end(struct creation *creation)
{
	json_decref(creation->body);
	text_deinit(&creation->given);
	free(creation);
}

static void creation_call(struct creation *creation, const char *suffix, struct http_request request)
{
	request.arg = creation;
	docker_container_call(creation->docker, &creation->key, suffix, request);
}

static void create_fail(struct creation *creation, const struct outcome *outcome)
{
	replica_refused(creation->docker, &creation->key, outcome);
	creation_end(creation);
}

static void create_send(void *arg);

static void create_succeed(struct creation *creation)
{
	reports_follow(creation->docker, json_object_get(creation->body, "Labels"), &creation->key);
	if (creation->is_new)
		replica_note_made(creation->docker, &creation->key);
	emit_key(creation->docker, ENGINE_REPLICA_CREATED, &creation->key);
	creation_end(creation);
}

static void create_given(void *arg, const struct http_answer *answer)
{
	struct creation *creation = arg;
	struct outcome outcome;

	docker_outcome(creation->docker, answer, &outcome);
	if (outcome.status)
		create_fail(creation, &outcome);
	else
		create_succeed(creation);
}

static void create_give(struct creation *creation)
{
	if (!creation->given.length) {
		create_succeed(creation);
		return;
	}
	creation_call(creation, "/archive?path=/",
		      (struct http_request){ .method = "PUT",
					     .body = creation->given.data,
					     .body_bytes = creation->given.length,
					     .body_header = "Content-Type: application/x-tar",
					     .timeout_s = START_TIMEOUT_S,
					     .done = create_given });
}

/* Replaces the mounts of the create request by copies of their files. False: the request has no mounts, or copies
 * cannot be made; the latter was reported. */
static bool create_copies(struct creation *creation)
{
	struct error err AUTO_ERROR = { 0 };
	struct outcome outcome;

	outcome.status = given_take(creation->body, creation->docker->reports_dir, &creation->given, &err);
	if (!outcome.status)
		return true;
	snprintf(outcome.text, sizeof(outcome.text), "%s", err.text ? err.text : "");
	create_fail(creation, &outcome);
	return false;
}

static void create_adopt(void *arg, const struct http_answer *answer)
{
	struct creation *creation = arg;
	struct outcome outcome;

	docker_outcome(creation->docker, answer, &outcome);
	/* The container's name is in use, but the inspection finds no container: the one with the name is being
	 * removed. */
	if (answer->code == 404 && ++creation->tries < CREATE_TRIES) {
		docker_after(creation->docker, &creation->again, RETRY_US, create_send, creation);
		return;
	}
	if (outcome.status) {
		create_fail(creation, &outcome);
		return;
	}
	AUTO(json) json_t *container = docker_parse(answer->body, answer->body_length, JSON_OBJECT);

	if (!docker_container_is_of(container, creation->body)) {
		outcome.status = STATUS_ALREADY_EXISTS;
		snprintf(outcome.text, sizeof(outcome.text),
			 "the container %.200s exists and is not of this job",
			 json_text_at(container, "Name") ? json_text_at(container, "Name") : "");
		create_fail(creation, &outcome);
		return;
	}
	if (given_is_put(container))
		create_give(creation);
	else
		create_succeed(creation);
}

static void create_done(void *arg, const struct http_answer *answer)
{
	struct creation *creation = arg;
	struct outcome outcome;

	docker_outcome(creation->docker, answer, &outcome);
	/* The container's name is in use: Docker answers 409, Podman 500. */
	if (answer->code == 409 || (answer->code == 500 && strstr(outcome.text, "already in use")))
		creation_call(creation, "/json",
			      (struct http_request){
				      .method = "GET", .timeout_s = CALL_TIMEOUT_S, .done = create_adopt });
	else if (docker_mount_is_missing(outcome.text) && given_is_wanted(creation->body)) {
		if (create_copies(creation))
			create_send(creation);
	} else if (outcome.status) {
		create_fail(creation, &outcome);
	} else {
		creation->is_new = true;
		create_give(creation);
	}
}

static void create_send(void *arg)
{
	struct creation *creation = arg;
	char name[DOCKER_NAME_SIZE], path[DOCKER_PATH_SIZE];
	AUTO(string) char *body = json_dump_compact(creation->body);

	docker_container_name(creation->docker->instance, &creation->key, name);
	snprintf(path, sizeof(path), "/containers/create?name=%s", name);
	http_start(creation->docker->http, &(struct http_request){ .method = "POST",
								   .path = path,
								   .body = body,
								   .timeout_s = START_TIMEOUT_S,
								   .done = create_done,
								   .arg = creation });
}

static bool gpus_are_wanted(const json_t *body)
{
	return json_array_size(json_object_get(json_object_get(body, "HostConfig"), "DeviceRequests")) > 0;
}

void replica_create_run(struct docker *docker, struct command *command)
{
	struct creation *creation;
	struct outcome outcome = { STATUS_OK, "" };

	if (!link_is_up(docker)) {
		outcome.status = STATUS_UNAVAILABLE;
		snprintf(outcome.text, sizeof(outcome.text), "%s", docker->link.reason);
	} else if (!command->body) {
		outcome.status = STATUS_INVALID_ARGUMENT;
		snprintf(outcome.text, sizeof(outcome.text),
			 "the container's description cannot be written as JSON");
	} else if (docker->link.make->ignores_gpus && gpus_are_wanted(command->body)) {
		outcome.status = STATUS_FAILED_PRECONDITION;
		snprintf(outcome.text, sizeof(outcome.text),
			 "%s gives containers no GPUs: run jobs with GPUs on Docker Engine, or start trainyard with --gpus none",
			 docker->link.make->name);
	}
	if (outcome.status) {
		replica_refused(docker, &command->key, &outcome);
		return;
	}
	creation = memory_calloc(1, sizeof(*creation));
	creation->docker = docker;
	creation->key = command->key;
	creation->body = TAKE(command->body);
	docker_container_clamp(creation->body, docker->link.host.cpus);
	if (!docker->link.is_apart || !given_is_wanted(creation->body) || create_copies(creation))
		create_send(creation);
}
