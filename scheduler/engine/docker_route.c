/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_route.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_hijack.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/docker_tunnel_carry.h"
#include "scheduler/engine/docker_wire.h"
#include "scheduler/engine/swarm_agents.h"

enum { START_PATIENCE_MS = 10 * 1000, EXEC_ID_SIZE = 65 };

#define OLDEST_VERSION "1.40"

struct route {
	char *manager, *node;
	pthread_mutex_t lock; /* guards all members below that are not atomic; the route's thread sets is_over */
	bool is_open, is_stale;
	bool lacks_agent; /* no agent runs on the node, as the manager says */
	atomic_bool is_over;
	/* Monotonic: when no connection could be made although the node may be well, and when the manager last said
	 * where the node's agent is, or that there is none; 0: never */
	_Atomic int64_t closed_us, open_us;
	pthread_t thread;
	int wake, requests[2];
	struct hijack *stream;
	struct tunnel_carry *carry;
	struct agents_found {
		char container[SWARM_CONTAINER_SIZE]; /* of the manager's own agent */
		uint32_t address;                     /* of the node's agent */
	} found;
	struct wire_keys keys;
};

/* ---- the route's thread ---- */

static void *route_main(void *arg)
{
	struct route *route = arg;

	tunnel_carry_run(route->carry, NULL);
	atomic_store(&route->is_over, true);
	return NULL;
}

/* ---- opening and closing: to be called with the lock held ---- */

static void stream_close(struct route *route)
{
	hijack_close(route->stream);
	route->stream = NULL;
	wire_keys_deinit(&route->keys);
}

static void route_close(struct route *route)
{
	struct tunnel_request request;

	if (!route->is_open)
		return;
	eventfd_write(route->wake, 1);
	pthread_join(route->thread, NULL);
	tunnel_carry_close(route->carry);
	while (read(route->requests[0], &request, sizeof(request)) == sizeof(request))
		close(request.fd);
	close(route->requests[0]);
	close(route->requests[1]);
	close(route->wake);
	stream_close(route);
	route->is_open = false;
}

static enum status agents_find(struct route *route, struct http *http, struct agents_found *ret_found,
			       struct error *err)
{
	struct swarm_agents agents AUTO_AGENTS = { 0 };
	struct reply info AUTO_REPLY = docker_ask(http, "GET", "/info", NULL);
	const char *manager = json_text_at(json_object_get(info.value, "Swarm"), "NodeID");
	const struct swarm_agent *own, *agent;
	enum status rc;

	if (info.status || info.code != 200)
		return reply_failure(&info, err);
	rc = swarm_agents_ask(http, NULL, &agents, err);
	if (rc)
		return rc;
	own = manager ? swarm_agent_of(&agents, manager) : NULL;
	agent = swarm_agent_of(&agents, route->node);
	if (!own || own->state != AGENT_RUNS)
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "no agent runs on the manager's own node, by which the others are reached; "
				 "`trainyard swarm status` shows why");
	route->lacks_agent = !agent || agent->state != AGENT_RUNS;
	atomic_store(&route->open_us, clock_mono_us(&system_clock));
	if (route->lacks_agent)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no agent runs on the node%s%s",
				 agent && agent->problem[0] ? ": " : "", agent ? agent->problem : "");
	memcpy(ret_found->container, own->container, sizeof(ret_found->container));
	ret_found->address = agent->address;
	return STATUS_OK;
}

static enum status exec_make(struct http *http, const char *container, char id[EXEC_ID_SIZE],
			     struct error *err)
{
	AUTO(json)
	json_t *body = json_pack("{sb sb s[s s s]}", "AttachStdin", 1, "AttachStdout", 1, "Cmd",
				 SWARM_AGENT_PROGRAM, SWARM_AGENT_VERB, "dial");
	AUTO(string) char *text = json_dump_compact(body);
	char path[DOCKER_PATH_SIZE];
	const char *made;

	snprintf(path, sizeof(path), "/containers/%s/exec", container);
	struct reply reply AUTO_REPLY = docker_ask(http, "POST", path, text);

	made = json_text_at(reply.value, "Id");
	if (reply.status || reply.code >= 300)
		return reply_failure(&reply, err);
	if (!made || !*made || strlen(made) >= EXEC_ID_SIZE || made[strspn(made, "0123456789abcdef")])
		return error_set(err, STATUS_INTERNAL, NULL, "the engine's answer to an exec cannot be understood");
	snprintf(id, EXEC_ID_SIZE, "%s", made);
	return STATUS_OK;
}

static enum status exec_start(struct endpoint *manager, const char *id, struct hijack **ret_stream,
			      struct error *err)
{
	char path[DOCKER_PATH_SIZE], words[DOCKER_TEXT_SIZE];
	struct text answer AUTO_TEXT = { 0 };
	unsigned code = 0;
	enum status rc;

	snprintf(path, sizeof(path), "/v" OLDEST_VERSION "/exec/%s/start", id);
	rc = hijack_open(&(struct hijack_request){ .endpoint = manager,
						   .method = "POST",
						   .path = path,
						   .body = "{\"Detach\":false,\"Tty\":false}",
						   .patience_ms = START_PATIENCE_MS },
			 ret_stream, &code, &answer, err);
	if (rc || *ret_stream)
		return rc;
	docker_message(answer.length ? answer.data : "", answer.length, words);
	return error_set(err, docker_code_status(code), NULL, "%s", words);
}

static enum status stream_open(struct route *route, struct endpoint *manager, struct http *http,
			       struct error *err)
{
	char id[EXEC_ID_SIZE];
	enum status rc = swarm_keys_ask(http, &route->keys, err);

	if (!rc)
		rc = exec_make(http, route->found.container, id, err);
	return rc ? rc : exec_start(manager, id, &route->stream, err);
}

static enum status thread_start(struct route *route, struct error *err)
{
	struct tunnel_carry_options options = { .stream = route->stream, .requests = true };
	enum status rc;

	route->wake = options.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (route->wake < 0 || pipe2(route->requests, O_CLOEXEC | O_NONBLOCK) != 0) {
		rc = error_set(err, STATUS_UNAVAILABLE, NULL, "no file descriptor is left: %s",
			       strerrordesc_np(errno));
		if (route->wake >= 0)
			close(route->wake);
		return rc;
	}
	options.requests_fd = route->requests[0];
	route->carry = NULL;
	atomic_store(&route->is_over, false);
	rc = tunnel_carry_open(&options, &route->carry, err);
	if (!rc)
		rc = small_thread_start(&route->thread, route_main, route, err);
	if (!rc)
		return rc;
	tunnel_carry_close(route->carry);
	close(route->requests[0]);
	close(route->requests[1]);
	close(route->wake);
	return rc;
}

static enum status route_open(struct route *route, struct error *err)
{
	AUTO(endpoint) struct endpoint *manager = NULL;
	AUTO(http) struct http *http = NULL;
	struct agents_found found = { 0 };
	const bool is_whole = route->is_open && !atomic_load(&route->is_over);
	enum status rc;

	route->lacks_agent = false;
	if (is_whole && !route->is_stale)
		return STATUS_OK;
	rc = endpoint_open(route->manager, &manager, err);
	if (!rc)
		rc = http_new(manager, &http, err);
	if (rc)
		return rc;
	http_set_version(http, OLDEST_VERSION);
	rc = agents_find(route, http, &found, err);
	if (rc)
		return rc;
	route->is_stale = false;
	/* Nothing has changed, so the open route is kept: closing it would cut its other connections. */
	if (is_whole && memcmp(&found, &route->found, sizeof(found)) == 0)
		return STATUS_OK;
	route_close(route);
	route->found = found;
	rc = stream_open(route, manager, http, err);
	if (!rc)
		rc = thread_start(route, err);
	route->is_open = !rc;
	if (rc)
		stream_close(route);
	return rc;
}

/* ---- the functions of struct endpoint_dialer ---- */

/* Hands one end of a new pair of sockets to the route's thread by its pipe and returns the other. -1: the pipe is
 * full, because the thread has stopped. */
static int route_request(const struct route *route, struct error *err)
{
	struct tunnel_request request = { .address = route->found.address, .port = SWARM_AGENT_PORT };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
		error_set(err, STATUS_UNAVAILABLE, NULL, "%s", strerrordesc_np(errno));
		return -1;
	}
	request.fd = ends[1];
	if (write(route->requests[1], &request, sizeof(request)) == sizeof(request))
		return ends[0];
	error_set(err, STATUS_UNAVAILABLE, NULL, "too many connections are waiting");
	close(ends[0]);
	close(ends[1]);
	return -1;
}

static int route_dial(void *arg, struct wire_keys *ret_keys, char *problem, size_t problem_size)
{
	struct route *route = arg;
	struct error err AUTO_ERROR = { 0 };
	int fd = -1;

	pthread_mutex_lock(&route->lock);
	if (route_open(route, &err) == STATUS_OK)
		fd = route_request(route, &err);
	if (fd >= 0)
		*ret_keys = (struct wire_keys){ .trusted = memory_strdup(route->keys.trusted),
						.certificate = memory_strdup(route->keys.certificate),
						.key = memory_strdup(route->keys.key) };
	else if (!route->lacks_agent)
		atomic_store(&route->closed_us, clock_mono_us(&system_clock));
	if (fd < 0)
		snprintf(problem, problem_size, "%s", err.text ? err.text : status_name(err.status));
	pthread_mutex_unlock(&route->lock);
	return fd;
}

static void route_failed(void *arg)
{
	struct route *route = arg;

	pthread_mutex_lock(&route->lock);
	route->is_stale = true;
	pthread_mutex_unlock(&route->lock);
}

static void route_way(void *arg, int64_t *ret_closed_us, int64_t *ret_open_us)
{
	const struct route *route = arg;

	*ret_closed_us = atomic_load(&route->closed_us);
	*ret_open_us = atomic_load(&route->open_us);
}

static void route_free(void *arg)
{
	struct route *route = arg;

	route_close(route);
	pthread_mutex_destroy(&route->lock);
	free(route->manager);
	free(route->node);
	free(route);
}

enum status route_endpoint_open(const char *url, struct endpoint **ret_endpoint, struct error *err)
{
	const struct endpoint_address *place;
	struct route *route;
	enum status rc = endpoint_open(url, ret_endpoint, err);

	place = rc ? NULL : endpoint_address(*ret_endpoint);
	if (rc || place->kind != ENDPOINT_AGENT)
		return rc;
	route = memory_calloc(1, sizeof(*route));
	route->manager = memory_strdup(place->path);
	route->node = memory_strdup(place->host);
	pthread_mutex_init(&route->lock, NULL);
	endpoint_set_dialer(*ret_endpoint, &(struct endpoint_dialer){ .dial = route_dial,
								      .failed = route_failed,
								      .way = route_way,
								      .free = route_free,
								      .arg = route });
	return STATUS_OK;
}
