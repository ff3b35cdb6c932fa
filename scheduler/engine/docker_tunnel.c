/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_tunnel.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/device_socket.h"
#include "daemon/base/embedded_file.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "scheduler/engine/docker_archive.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_hijack.h"
#include "scheduler/engine/docker_network.h"
#include "scheduler/engine/docker_tunnel_carry.h"

#define PROGRAM      "tunnel"
#define LABEL_TUNNEL "trainyard.tunnel" /* its value is the network's job */

enum { REMOVE_TRIES = 30, REMOVE_PAUSE_MS = 300 };
enum { CLOSE_WAIT_US = 10 * SECOND_US, CLOSE_LOOK_MS = 5 };
enum { ATTACH_PATIENCE_MS = 10 * 1000, VERSION_SIZE = 16, HARDWARE_SIZE = 32, PORT_TEXT_SIZE = 8 };

extern const struct embedded_file tunnel_files[];

/* The tunnel of a network. It is freed when it has left the engine's list, its thread has ended and no call uses it. */
struct tunnel {
	struct tunnel *next; /* guarded by docker->lock */
	int64_t job;
	char network[80], address[SUBNET_TEXT_SIZE], container[DOCKER_NAME_SIZE], image[DOCKER_NAME_SIZE];
	char hardware[HARDWARE_SIZE]; /* the hardware (MAC) address */
	char version[VERSION_SIZE], *instance;
	uint16_t ports[ENGINE_CARRIED_PORTS_MAX];
	struct endpoint *endpoint;
	int wake; /* readable: the tunnel has to end */
	atomic_uint holders;
	atomic_bool is_over; /* the thread has ended, and does not use the engine any more */
	atomic_bool stopped; /* it is to end; it stays in the list until is_over */
	pthread_mutex_t
		lock; /* guards the rest; docker->lock is taken inside of it, not the other way round */
	struct docker *docker; /* NULL: the tunnel has to end */
	bool was_tried, has_sink;
	struct connection_sink sink;
	char problem[DOCKER_TEXT_SIZE]; /* why the tunnel does not work; "": it works, or was not tried yet */
};

static void tunnel_free(struct tunnel *tunnel)
{
	endpoint_close(tunnel->endpoint);
	close(tunnel->wake);
	pthread_mutex_destroy(&tunnel->lock);
	free(tunnel->instance);
	free(tunnel);
}

static void tunnel_leave(struct tunnel *tunnel)
{
	if (atomic_fetch_sub(&tunnel->holders, 1) == 1)
		tunnel_free(tunnel);
}

void tunnel_container_name(const char *instance, int64_t job, char name[DOCKER_NAME_SIZE])
{
	snprintf(name, DOCKER_NAME_SIZE, "ty-%.32s-%" PRId64 "-tunnel", instance, job);
}

/* ---- the tunnel's container; thread: the tunnel's ---- */

static bool is_to_end(struct tunnel *tunnel)
{
	bool ends;

	pthread_mutex_lock(&tunnel->lock);
	ends = !tunnel->docker;
	pthread_mutex_unlock(&tunnel->lock);
	return ends;
}

/* OK if the code is below 300, or is @but; otherwise sets *err. */
static enum status reply_check(const struct reply *reply, unsigned but, struct error *err)
{
	return !reply->status && (reply->code < 300 || reply->code == but) ? STATUS_OK
									   : reply_failure(reply, err);
}

/* Removes a container with the tunnel's name, most likely that of the daemon before this one. The container
 * ends by itself. While an engine is already removing it, the answer is 409, or 500 from Podman ("container state
 * improper"), so the call is repeated. */
static enum status container_remove(const struct tunnel *tunnel, struct http *http, struct error *err)
{
	struct pollfd wake = { .fd = tunnel->wake, .events = POLLIN };
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", tunnel->container);
	for (unsigned tries = 1;; tries++) {
		struct reply reply AUTO_REPLY =
			docker_ask_for(http, (struct http_request){ .method = "DELETE",
								    .path = path,
								    .timeout_s = START_TIMEOUT_S });

		if (reply.status || (reply.code != 409 && reply.code != 500) || tries == REMOVE_TRIES ||
		    poll(&wake, 1, REMOVE_PAUSE_MS) != 0)
			return reply_check(&reply, 404, err);
	}
}

static json_t *ports_make(const struct tunnel *tunnel)
{
	json_t *ports = json_array();

	for (size_t i = 0; i < ENGINE_CARRIED_PORTS_MAX && tunnel->ports[i]; i++)
		json_array_append_new(ports, json_sprintf("%u", (unsigned)tunnel->ports[i]));
	return ports;
}

/* The body of the create request. The hardware address is derived from the IP address, so that a container that
 * replaces an earlier one has the same, which replicas have in their caches: newer engines choose a random one,
 * older ones derive it in the same way. With StdinOnce the engine closes the container's input when the daemon is
 * gone. */
static char *container_body(const struct tunnel *tunnel)
{
	/* clang-format off */
	AUTO(json) json_t *body =
		json_pack("{ss s[s] so ss ss sb sb sb sb s{ss ss so} s{ss s[s] s[s] s[s] sb s{ss} s{ss}} s{s{s{ss s{ss}}}}}",
			  "Image", tunnel->image,
			  "Entrypoint", "/" PROGRAM,
			  "Cmd", ports_make(tunnel),
			  "User", "0",
			  "WorkingDir", "/",
			  "OpenStdin", 1,
			  "StdinOnce", 1,
			  "AttachStdin", 1,
			  "AttachStdout", 1,
			  "Labels",
				"trainyard.instance", tunnel->instance,
				"trainyard.pool", "",
				LABEL_TUNNEL, json_sprintf("%" PRId64, tunnel->job),
			  "HostConfig",
				"NetworkMode", tunnel->network,
				"CapDrop", "ALL",
				"CapAdd", "NET_BIND_SERVICE",
				"SecurityOpt", "no-new-privileges:true",
				"ReadonlyRootfs", 1,
				"RestartPolicy", "Name", "no",
				"LogConfig", "Type", "none",
			  "NetworkingConfig", "EndpointsConfig", tunnel->network,
				"MacAddress", tunnel->hardware,
				"IPAMConfig", "IPv4Address", tunnel->address);
	/* clang-format on */

	return json_dump_compact(body);
}

static enum status container_create(const struct tunnel *tunnel, struct http *http, unsigned *ret_code,
				    struct error *err)
{
	AUTO(string) char *body = container_body(tunnel);
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/containers/create?name=%s", tunnel->container);
	struct reply reply AUTO_REPLY = docker_ask_for(
		http, (struct http_request){
			      .method = "POST", .path = path, .body = body, .timeout_s = START_TIMEOUT_S });

	*ret_code = reply.code;
	return reply_check(&reply, 0, err);
}

static enum status image_make(const struct tunnel *tunnel, struct http *http, struct error *err)
{
	struct text archive AUTO_TEXT = { 0 };
	char path[DOCKER_PATH_SIZE];

	if (!tunnel_files[0].data)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"this trainyard was built without the program that runs in the tunnel's container");
	archive_add(&archive, &(struct engine_file){ "/" PROGRAM, (const char *)tunnel_files[0].data,
						     tunnel_files[0].bytes, 0555 });
	archive_finish(&archive);
	/* The name has no tag, because Podman 4.3 accepts no tag in this request. */
	snprintf(path, sizeof(path), "/images/create?fromSrc=-&repo=%s", tunnel->image);
	struct reply reply AUTO_REPLY =
		docker_ask_for(http, (struct http_request){ .method = "POST",
							    .path = path,
							    .body = archive.data,
							    .body_bytes = archive.length,
							    .body_header = "Content-Type: application/x-tar",
							    .timeout_s = START_TIMEOUT_S });

	return reply_check(&reply, 0, err);
}

static enum status container_start(const struct tunnel *tunnel, struct http *http, struct error *err)
{
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/containers/%s/start", tunnel->container);
	struct reply reply AUTO_REPLY = docker_ask_for(
		http, (struct http_request){ .method = "POST", .path = path, .timeout_s = START_TIMEOUT_S });

	return reply_check(&reply, 304, err);
}

static enum status container_attach(const struct tunnel *tunnel, struct hijack **ret_hijack,
				    struct error *err)
{
	char path[DOCKER_PATH_SIZE], words[DOCKER_TEXT_SIZE];
	struct text answer AUTO_TEXT = { 0 };
	unsigned code = 0;
	enum status rc;

	snprintf(path, sizeof(path), "/v%s/containers/%s/attach?stream=1&stdin=1&stdout=1", tunnel->version,
		 tunnel->container);
	rc = hijack_open(&(struct hijack_request){ .endpoint = tunnel->endpoint,
						   .method = "POST",
						   .path = path,
						   .patience_ms = ATTACH_PATIENCE_MS },
			 ret_hijack, &code, &answer, err);
	if (rc || *ret_hijack)
		return rc;
	docker_message(answer.length ? answer.data : "", answer.length, words);
	return error_set(err, docker_code_status(code), NULL, "%s", words);
}

static enum status container_make(const struct tunnel *tunnel, struct http *http, struct error *err)
{
	unsigned code = 0;
	enum status rc = container_remove(tunnel, http, err);

	if (!rc)
		rc = container_create(tunnel, http, &code, err);
	if (code != 404)
		return rc;
	/* 404: the image or the network does not exist; the image is made, and the create repeated. */
	error_deinit(err);
	rc = image_make(tunnel, http, err);
	return rc ? rc : container_create(tunnel, http, &code, err);
}

/* Attaches to the container before starting it: otherwise the program's greeting would be lost. A container that does
 * not start is removed here, because nothing else may remove it: its network may be gone, if a listing that was made
 * during the network's removal still had that network. */
static enum status container_run(const struct tunnel *tunnel, struct hijack **ret_hijack, struct error *err)
{
	AUTO(http) struct http *http = NULL;
	enum status rc = http_new(tunnel->endpoint, &http, err);

	if (rc)
		return rc;
	http_set_version(http, tunnel->version);
	rc = container_make(tunnel, http, err);
	if (!rc)
		rc = container_attach(tunnel, ret_hijack, err);
	if (!rc)
		rc = container_start(tunnel, http, err);
	if (rc)
		container_remove(tunnel, http, NULL);
	return rc;
}

/* ---- the tunnel's thread ---- */

static void connection_take(void *arg, uint16_t port, const struct sockaddr_in *peer, int fd)
{
	struct tunnel *tunnel = arg;

	pthread_mutex_lock(&tunnel->lock);
	if (tunnel->has_sink)
		tunnel->sink.take(tunnel->sink.arg, tunnel->sink.key, port, peer, fd);
	else
		close(fd);
	pthread_mutex_unlock(&tunnel->lock);
}

/* Records and logs the result of a try. @problem "": the tunnel works. */
static void tried(struct tunnel *tunnel, const char *problem)
{
	const bool is_news = strcmp(tunnel->problem, problem) != 0 || !tunnel->was_tried;

	if (is_news)
		log_event(*problem ? LOG_WARNING : LOG_INFO, *problem ? "tunnel-broken" : "tunnel-open",
			  "container=%s error=\"%s\"", tunnel->container, problem);
	pthread_mutex_lock(&tunnel->lock);
	snprintf(tunnel->problem, sizeof(tunnel->problem), "%s", problem);
	if (tunnel->docker && !tunnel->was_tried)
		docker_post(tunnel->docker,
			    &(struct command){ .run = network_tunnel_tried, .job = tunnel->job });
	tunnel->was_tried = true;
	pthread_mutex_unlock(&tunnel->lock);
}

/* Runs the tunnel until it breaks or is to end. *ret_worked: it was connected for a while. */
static enum status tunnel_serve(struct tunnel *tunnel, bool *ret_worked, struct error *err)
{
	struct tunnel_carry_options options = { .wake = tunnel->wake,
						.take = connection_take,
						.arg = tunnel };
	struct tunnel_carry *carry = NULL;
	enum status rc = container_run(tunnel, &options.stream, err);

	if (!rc)
		rc = tunnel_carry_open(&options, &carry, err);
	*ret_worked = !rc;
	if (!rc) {
		tried(tunnel, "");
		rc = tunnel_carry_run(carry, err);
	}
	tunnel_carry_close(carry);
	hijack_close(options.stream);
	return rc;
}

static void *tunnel_main(void *arg)
{
	struct tunnel *tunnel = arg;
	int64_t pause_us = BACKOFF_FIRST_US;

	pthread_detach(pthread_self());
	while (!is_to_end(tunnel)) {
		struct pollfd wake = { .fd = tunnel->wake, .events = POLLIN };
		struct error err AUTO_ERROR = { 0 };
		bool worked = false;

		if (tunnel_serve(tunnel, &worked, &err) == STATUS_OK)
			continue;
		tried(tunnel, err.text ? err.text : status_name(err.status));
		if (worked)
			pause_us = BACKOFF_FIRST_US;
		poll(&wake, 1, (int)(pause_us / MILLISECOND_US));
		pause_us = pause_us * 2 < BACKOFF_MOST_US ? pause_us * 2 : BACKOFF_MOST_US;
	}
	atomic_store(&tunnel->is_over, true);
	tunnel_leave(tunnel);
	return NULL;
}

/* ---- the engine's tunnels ---- */

static struct tunnel *tunnel_find(struct docker *docker, int64_t job)
{
	struct tunnel *tunnel = docker->tunnels;

	while (tunnel && (tunnel->job != job || tunnel->stopped))
		tunnel = tunnel->next;
	return tunnel;
}

static struct tunnel *tunnel_new(struct docker *docker, const struct network_status *network)
{
	struct tunnel *tunnel = memory_calloc(1, sizeof(*tunnel));

	tunnel->job = network->job;
	tunnel->docker = docker;
	tunnel->instance = memory_strdup(docker->instance);
	tunnel->endpoint = endpoint_hold(docker->endpoint);
	tunnel->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&tunnel->lock, NULL);
	memcpy(tunnel->ports, docker->carried_ports, sizeof(tunnel->ports));
	snprintf(tunnel->network, sizeof(tunnel->network), "%s", network->id);
	snprintf(tunnel->version, sizeof(tunnel->version), "%s", docker->link.version);
	snprintf(tunnel->image, sizeof(tunnel->image), TUNNEL_IMAGE "%.32s", docker->instance);
	subnet_print_address(network->reach.address, tunnel->address);
	snprintf(tunnel->hardware, sizeof(tunnel->hardware), "02:42:%02x:%02x:%02x:%02x",
		 network->reach.address >> 24, network->reach.address >> 16 & 255,
		 network->reach.address >> 8 & 255, network->reach.address & 255);
	tunnel_container_name(docker->instance, network->job, tunnel->container);
	return tunnel;
}

void tunnel_keep(struct docker *docker, const struct network_status *network)
{
	struct error err AUTO_ERROR = { 0 };
	struct tunnel *tunnel;
	pthread_t thread;
	bool is_there;

	pthread_mutex_lock(&docker->lock);
	tunnel = tunnel_find(docker, network->job);
	is_there = tunnel && strcmp(tunnel->network, network->id) == 0;
	pthread_mutex_unlock(&docker->lock);
	if (is_there)
		return;
	tunnel_drop(docker, network->job);
	tunnel = tunnel_new(docker, network);
	atomic_init(&tunnel->holders, 2);
	if (tunnel->wake < 0 || small_thread_start(&thread, tunnel_main, tunnel, &err)) {
		atomic_init(&tunnel->holders, 1);
		atomic_store(&tunnel->is_over, true);
		tunnel->was_tried = true;
		snprintf(tunnel->problem, sizeof(tunnel->problem), "%s",
			 err.text ? err.text : "no file descriptor is left");
	}
	pthread_mutex_lock(&docker->lock);
	tunnel->next = docker->tunnels;
	docker->tunnels = tunnel;
	pthread_mutex_unlock(&docker->lock);
}

bool tunnel_was_tried(struct docker *docker, int64_t job)
{
	struct tunnel *tunnel = tunnel_find(docker, job); /* without a lock: only this thread changes the list */
	bool was_tried = true;

	if (tunnel) {
		pthread_mutex_lock(&tunnel->lock);
		was_tried = tunnel->was_tried;
		pthread_mutex_unlock(&tunnel->lock);
	}
	return was_tried;
}

static void tunnel_stop(struct tunnel *tunnel)
{
	atomic_store(&tunnel->stopped, true);
	pthread_mutex_lock(&tunnel->lock);
	tunnel->docker = NULL;
	tunnel->has_sink = false;
	pthread_mutex_unlock(&tunnel->lock);
	eventfd_write(tunnel->wake, 1);
}

/* Removes a tunnel from the list. Only the engine's thread changes the list. */
static void tunnel_unlink(struct docker *docker, struct tunnel **at)
{
	struct tunnel *tunnel = *at;

	pthread_mutex_lock(&docker->lock);
	*at = tunnel->next;
	pthread_mutex_unlock(&docker->lock);
	tunnel_leave(tunnel);
}

bool tunnel_drop(struct docker *docker, int64_t job)
{
	struct tunnel **at = &docker->tunnels;
	bool is_gone = true;

	while (*at) {
		const bool is_meant = (*at)->job == job;

		if (is_meant)
			tunnel_stop(*at);
		if (is_meant && atomic_load(&(*at)->is_over)) {
			tunnel_unlink(docker, at);
			continue;
		}
		is_gone &= !is_meant;
		at = &(*at)->next;
	}
	return is_gone;
}

void tunnels_compare(struct docker *docker, const struct network_status *listed, size_t count)
{
	struct tunnel *tunnel = docker->tunnels;

	while (tunnel) {
		const int64_t job = tunnel->job;

		tunnel = tunnel->next;
		while (tunnel && tunnel->job == job)
			tunnel = tunnel->next;
		if (!networks_have(listed, count, job) && !network_is_made(docker, job))
			tunnel_drop(docker, job);
	}
}

/* Ends all tunnels, and waits up to CLOSE_WAIT_US for their calls that are under way. */
void tunnels_close(struct docker *docker)
{
	const int64_t until_us = clock_mono_us(&system_clock) + CLOSE_WAIT_US;

	for (struct tunnel *tunnel = docker->tunnels; tunnel; tunnel = tunnel->next)
		tunnel_stop(tunnel);
	while (docker->tunnels) {
		if (atomic_load(&docker->tunnels->is_over) || clock_mono_us(&system_clock) > until_us)
			tunnel_unlink(docker, &docker->tunnels);
		else
			poll(NULL, 0, CLOSE_LOOK_MS);
	}
}

enum status docker_carry_network(struct docker *docker, int64_t job, const struct connection_sink *sink,
				 struct error *err)
{
	enum status rc = STATUS_OK;
	struct tunnel *tunnel;

	pthread_mutex_lock(&docker->lock);
	tunnel = tunnel_find(docker, job);
	if (tunnel)
		atomic_fetch_add(&tunnel->holders, 1);
	pthread_mutex_unlock(&docker->lock);
	if (!tunnel)
		return error_set(err, STATUS_NOT_FOUND, NULL, "the network has no tunnel");
	pthread_mutex_lock(&tunnel->lock);
	tunnel->has_sink = !tunnel->problem[0];
	tunnel->sink = *sink;
	if (!tunnel->has_sink)
		rc = error_set(err, STATUS_UNAVAILABLE, NULL, "the tunnel's container does not run: %s",
			       tunnel->problem);
	pthread_mutex_unlock(&tunnel->lock);
	tunnel_leave(tunnel);
	return rc;
}
