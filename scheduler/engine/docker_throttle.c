/* SPDX-License-Identifier: Apache-2.0 */
/* Limits a replica's network, and lifts the limit.
 *
 * Choice: the engine does it for us, by a container that shares the replica's network alone and has the right to set up
 * that network; its only program is throttle/throttle.c. A program that is run in the replica's own container may have
 * been replaced by the job. The helper container is made of the replica's image, because the engine has that image
 * already; no program of the image is run.
 *
 * Choice: not `nsenter -t PID -n tc` (iproute2) from the daemon. Tried on 2026-11-25: that requires root in the
 * process namespace of the engine. A user of the group docker, as deploy/trainyard.service runs the daemon, is refused
 * ("/proc/PID/ns/net: Permission denied"), and a daemon in a container of its own, as deploy/Dockerfile makes it, finds
 * no such process. Nor is tc in the image: few have iproute2, and busybox's tc only lists queues.
 *
 * The container lives for a moment. One that a killed daemon has left is found in a listing and removed. */
#include "scheduler/engine/docker_throttle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/embedded_file.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_archive.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/throttle/throttle.h"

#define LABEL_THROTTLE "trainyard.throttle" /* its value is the container's name */
#define PROGRAM        "trainyard-throttle"

enum { CREATE_TRIES = 3 };

extern const struct embedded_file throttle_files[];

/* A change of a replica's limit that is under way; there is one at a time for each replica. */
struct throttle {
	struct throttle *next;
	struct docker *docker;
	struct replica_key key;
	unsigned bytes_per_s;
	bool again; /* another limit was ordered during this change; it is: */
	unsigned bytes_per_s_again;
	char *image;
	unsigned tries;
	struct outcome outcome; /* the error of the first step that failed */
};

static const struct {
	enum throttle_end end;
	const char *words;
} ends[] = {
	{ THROTTLE_NO_NETLINK, "the kernel has no sockets for it" },
	{ THROTTLE_NO_INTERFACE, "the container has no interface eth0" },
	{ THROTTLE_FORBIDDEN, "the engine gives no right to set it up" },
	{ THROTTLE_NO_BUCKET, "the kernel has no queues of kind tbf" },
	{ THROTTLE_NO_DEVICE, "the kernel has no devices of kind ifb" },
	{ THROTTLE_NO_REDIRECT, "the kernel has no filters of kind u32 with actions of kind mirred" },
	{ THROTTLE_STAYS, "the kernel does not take back what was set before" },
};

static void throttle_name(const struct docker *docker, const struct replica_key *key,
			  char name[DOCKER_NAME_SIZE])
{
	char replica[DOCKER_NAME_SIZE];

	docker_container_name(docker->instance, key, replica);
	snprintf(name, DOCKER_NAME_SIZE, "%.100s-throttle", replica);
}

static struct throttle *under_way(const struct docker *docker, const struct replica_key *key)
{
	struct throttle *throttle = docker->throttles;

	while (throttle && !docker_key_equal(&throttle->key, key))
		throttle = throttle->next;
	return throttle;
}

static void throttle_free(struct throttle *throttle)
{
	struct throttle **at = &throttle->docker->throttles;

	while (*at != throttle)
		at = &(*at)->next;
	*at = throttle->next;
	free(throttle->image);
	free(throttle);
}

static void throttle_begin(struct throttle *throttle);

/* Ends the change: starts the next one if another limit was ordered during it, otherwise reports a failure. */
static void throttle_end(struct throttle *throttle)
{
	if (throttle->again && !throttle->docker->closing) {
		throttle->again = false;
		throttle->bytes_per_s = throttle->bytes_per_s_again;
		throttle_begin(throttle);
		return;
	}
	if (throttle->outcome.status)
		emit_replica_failed(throttle->docker, ENGINE_THROTTLE_FAILED, &throttle->key,
				    throttle->outcome.status, throttle->outcome.text);
	throttle_free(throttle);
}

static void throttle_note(struct throttle *throttle, enum status status, const char *text)
{
	if (throttle->outcome.status)
		return;
	throttle->outcome.status = status;
	snprintf(throttle->outcome.text, sizeof(throttle->outcome.text), "%s", text);
}

/* Whether the step succeeded; otherwise keeps the first failure. A refusal of the engine never becomes
 * FAILED_PRECONDITION, because the next try may succeed; that status is kept for failures of the throttle program. */
static bool step_is_done(struct throttle *throttle, const struct http_answer *answer)
{
	struct outcome outcome;

	docker_outcome(throttle->docker, answer, &outcome);
	if (outcome.status)
		throttle_note(throttle,
			      outcome.status == STATUS_UNAVAILABLE ? STATUS_UNAVAILABLE : STATUS_INTERNAL,
			      outcome.text);
	return !outcome.status;
}

static void step_send(struct throttle *throttle, const char *suffix, struct http_request request)
{
	char name[DOCKER_NAME_SIZE], path[DOCKER_PATH_SIZE];

	throttle_name(throttle->docker, &throttle->key, name);
	snprintf(path, sizeof(path), "/containers/%s%s", name, suffix);
	request.path = path;
	request.timeout_s = START_TIMEOUT_S;
	request.arg = throttle;
	http_start(throttle->docker->http, &request);
}

/* ---- the end: the helper container is removed ---- */

static void dropped(void *arg, const struct http_answer *answer)
{
	link_watch(((struct throttle *)arg)->docker, answer);
	throttle_end(arg);
}

static void drop(struct throttle *throttle)
{
	step_send(throttle, "?force=1&v=1", (struct http_request){ .method = "DELETE", .done = dropped });
}

/* ---- running the helper container ---- */

static void result_read(struct throttle *throttle, const struct http_answer *answer)
{
	AUTO(json) json_t *result = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	const int64_t code = json_int_at(result, "StatusCode", -1);
	char text[64];

	if (code == THROTTLE_DONE)
		return;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (code == (int64_t)ends[i].end) {
			throttle_note(throttle, STATUS_FAILED_PRECONDITION, ends[i].words);
			return;
		}
	snprintf(text, sizeof(text), "its program ended with %" PRId64, code);
	throttle_note(throttle, STATUS_INTERNAL, text);
}

static void waited(void *arg, const struct http_answer *answer)
{
	if (step_is_done(arg, answer))
		result_read(arg, answer);
	drop(arg);
}

static void started(void *arg, const struct http_answer *answer)
{
	if (step_is_done(arg, answer))
		step_send(arg, "/wait",
			  (struct http_request){ .method = "POST", .lane = LANE_STOP, .done = waited });
	else
		drop(arg);
}

static void filled(void *arg, const struct http_answer *answer)
{
	if (step_is_done(arg, answer))
		step_send(arg, "/start",
			  (struct http_request){ .method = "POST", .lane = LANE_START, .done = started });
	else
		drop(arg);
}

static void fill(struct throttle *throttle)
{
	struct text archive AUTO_TEXT = { 0 };

	archive_add(&archive, &(struct engine_file){ "/" PROGRAM, (const char *)throttle_files[0].data,
						     throttle_files[0].bytes, 0555 });
	archive_finish(&archive);
	step_send(throttle, "/archive?path=/",
		  (struct http_request){ .method = "PUT",
					 .body = archive.data,
					 .body_bytes = archive.length,
					 .body_header = "Content-Type: application/x-tar",
					 .done = filled });
}

static void create(struct throttle *throttle);

static void replaced(void *arg, const struct http_answer *answer)
{
	struct throttle *throttle = arg;

	link_watch(throttle->docker, answer);
	create(throttle);
}

static void created(void *arg, const struct http_answer *answer)
{
	struct throttle *throttle = arg;

	/* 409: the helper container of a daemon that was killed still has the name, so it is removed. */
	if (answer->code == 409 && ++throttle->tries < CREATE_TRIES)
		step_send(throttle, "?force=1&v=1",
			  (struct http_request){ .method = "DELETE", .done = replaced });
	else if (step_is_done(throttle, answer))
		fill(throttle);
	else
		throttle_end(throttle);
}

/* Labels of the image that would make its containers look like replicas are cleared. */
static json_t *body_make(const struct throttle *throttle, const char *name)
{
	char replica[DOCKER_NAME_SIZE];

	docker_container_name(throttle->docker->instance, &throttle->key, replica);
	/* clang-format off */
	return json_pack("{ss s[s] s[o] ss ss s{s[s]} s{ss ss ss} s{so s[s] s[s] s[s] s{ss} s{ss}}}",
			 "Image", throttle->image,
			 "Entrypoint", "/" PROGRAM,
			 "Cmd", json_sprintf("%u", throttle->bytes_per_s),
			 "User", "0",
			 "WorkingDir", "/",
			 "Healthcheck", "Test", "NONE",
			 "Labels",
				"trainyard.instance", throttle->docker->instance,
				"trainyard.pool", "",
				LABEL_THROTTLE, name,
			 "HostConfig",
				"NetworkMode", json_sprintf("container:%s", replica),
				"CapDrop", "ALL",
				"CapAdd", "NET_ADMIN",
				"SecurityOpt", "no-new-privileges:true",
				"RestartPolicy", "Name", "no",
				"LogConfig", "Type", "none");
	/* clang-format on */
}

static void create(struct throttle *throttle)
{
	char name[DOCKER_NAME_SIZE], path[DOCKER_PATH_SIZE];

	throttle_name(throttle->docker, &throttle->key, name);
	snprintf(path, sizeof(path), "/containers/create?name=%s", name);
	AUTO(json) json_t *object = body_make(throttle, name);
	AUTO(string) char *body = json_dump_compact(object);

	http_start(throttle->docker->http, &(struct http_request){ .method = "POST",
								   .path = path,
								   .body = body,
								   .timeout_s = START_TIMEOUT_S,
								   .done = created,
								   .arg = throttle });
}

/* Makes the helper container if the replica runs. Otherwise nothing is done: events report the replica's end, and
 * its network is gone. */
static void looked(void *arg, const struct http_answer *answer)
{
	struct throttle *throttle = arg;
	AUTO(json) json_t *container = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	const char *image = json_text_at(container, "Image");

	if (answer->code == 404 || !step_is_done(throttle, answer) ||
	    !json_true_at(json_object_get(container, "State"), "Running")) {
		throttle_end(throttle);
	} else {
		free(throttle->image);
		throttle->image = memory_strdup(image ? image : "");
		create(throttle);
	}
}

static void throttle_begin(struct throttle *throttle)
{
	throttle->tries = 0;
	throttle->outcome.status = STATUS_OK;
	if (!link_is_up(throttle->docker)) {
		throttle_note(throttle, STATUS_UNAVAILABLE, throttle->docker->link.reason);
		throttle_end(throttle);
		return;
	}
	docker_container_call(
		throttle->docker, &throttle->key, "/json",
		(struct http_request){
			.method = "GET", .timeout_s = CALL_TIMEOUT_S, .done = looked, .arg = throttle });
}

void throttle_run(struct docker *docker, struct command *command)
{
	struct throttle *throttle = under_way(docker, &command->key);

	if (throttle) {
		throttle->again = true;
		throttle->bytes_per_s_again = command->number;
		return;
	}
	throttle = memory_calloc(1, sizeof(*throttle));
	throttle->docker = docker;
	throttle->key = command->key;
	throttle->bytes_per_s = command->number;
	throttle->next = docker->throttles;
	docker->throttles = throttle;
	throttle_begin(throttle);
}

/* ---- helper containers of killed daemons ---- */

static bool is_under_way(const struct docker *docker, const char *name)
{
	char own[DOCKER_NAME_SIZE];

	for (const struct throttle *throttle = docker->throttles; throttle; throttle = throttle->next) {
		throttle_name(docker, &throttle->key, own);
		if (strcmp(own, name) == 0)
			return true;
	}
	return false;
}

static void left_removed(void *arg, const struct http_answer *answer)
{
	struct outcome outcome;

	docker_outcome(arg, answer, &outcome);
	log_event(LOG_INFO, "throttle-left", "error=\"%s\"", outcome.text);
}

void throttle_sweep(struct docker *docker, const json_t *container)
{
	const char *label = json_text_at(json_object_get(container, "Labels"), LABEL_THROTTLE);
	const char *name = json_string_value(json_array_get(json_object_get(container, "Names"), 0));
	const char *id = json_text_at(container, "Id");
	char path[DOCKER_PATH_SIZE];

	/* A container counts as a helper only if its name is the label's value: a user's container may have our
	 * labels from its image. */
	if (!label || !name || !id || strcmp(name + (name[0] == '/'), label) != 0 ||
	    is_under_way(docker, label))
		return;
	snprintf(path, sizeof(path), "/containers/%.128s?force=1&v=1", id);
	http_start(docker->http, &(struct http_request){ .method = "DELETE",
							 .path = path,
							 .timeout_s = START_TIMEOUT_S,
							 .done = left_removed,
							 .arg = docker });
}
