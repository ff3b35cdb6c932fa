/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_self.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_route.h"

#define OLDEST_VERSION "1.40"

enum { LINE_SIZE = 4096, ROUTES_MAX_BYTES = 1024 * 1024 };

/* ---- finding the own container ---- */

/* Finds the first part of @path that can be a container's id: 64 hexadecimal digits. */
static bool id_find(const char *path, char id[DOCKER_SELF_SIZE])
{
	for (; *path; path += strcspn(path, "/"), path += *path == '/') {
		const size_t length = strspn(path, "0123456789abcdef");

		if (length != DOCKER_SELF_SIZE - 1 || (path[length] && path[length] != '/'))
			continue;
		snprintf(id, DOCKER_SELF_SIZE, "%.*s", DOCKER_SELF_SIZE - 1, path);
		return true;
	}
	return false;
}

/* Finds the container's id: /etc/hostname is a mount of a file of the engine, in a directory that is named by the
 * id. Source: /proc/self/mountinfo in containers of Docker 20.10 and Podman 4.3; its form is that of
 * https://docs.kernel.org/filesystems/proc.html (3.5) */
bool self_container(char id[DOCKER_SELF_SIZE])
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[LINE_SIZE], root[LINE_SIZE], place[LINE_SIZE];
	bool found = false;

	while (mounts && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%*d %*d %*s %4095s %4095s", root, place) == 2 &&
		    strcmp(place, "/etc/hostname") == 0)
			found = id_find(root, id); /* a later mount on the same path hides the earlier ones */
	if (mounts)
		fclose(mounts);
	return found;
}

/* Whether the container has a network of its own. One with the host's network has the bridges already, and one with
 * another container's network cannot join a network. */
static bool has_own_network(const json_t *container)
{
	const char *mode = json_text_at(json_object_get(container, "HostConfig"), "NetworkMode");

	return mode && strcmp(mode, "host") != 0 && strcmp(mode, "none") != 0 &&
	       strncmp(mode, "container:", strlen("container:")) != 0;
}

static void looked(void *arg, const struct http_answer *answer)
{
	struct docker *docker = arg;
	AUTO(json) json_t *container = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	struct outcome outcome;

	outcome_read(answer, &outcome);
	if (answer->status) {
		link_lose(docker, outcome.text);
		return;
	}
	if (outcome.status || !has_own_network(container))
		docker->link.self[0] = '\0';
	else
		log_event(LOG_INFO, "engine-has-us", "container=%.12s hint=\"%s\"", docker->link.self,
			  "this container joins the network of each job");
	docker->link.then(docker);
}

void self_look(struct docker *docker, void (*then)(struct docker *docker))
{
	char path[DOCKER_PATH_SIZE];

	docker->link.self[0] = '\0';
	docker->link.then = then;
	if (!self_container(docker->link.self)) {
		then(docker);
		return;
	}
	snprintf(path, sizeof(path), "/containers/%s/json", docker->link.self);
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = path,
							 .timeout_s = CALL_TIMEOUT_S,
							 .done = looked,
							 .arg = docker,
							 .slot = &docker->link.look });
}

void self_device(uint32_t address, char device[DOCKER_DEVICE_SIZE])
{
	struct ifaddrs *all = NULL;

	device[0] = '\0';
	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
		const struct sockaddr_in *own = (const struct sockaddr_in *)(const void *)one->ifa_addr;

		if (own && own->sin_family == AF_INET && ntohl(own->sin_addr.s_addr) == address)
			snprintf(device, DOCKER_DEVICE_SIZE, "%s", one->ifa_name);
	}
	freeifaddrs(all);
}

/* Adds the blocks of this host's routes. The engine would accept a block that hides such a route; trainyard does not
 * use one. */
static void routes_add(struct subnet_list *list)
{
	int fd = open("/proc/net/route", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	if (fd < 0)
		return;
	AUTO(string) char *text = memory_calloc(1, ROUTES_MAX_BYTES + 1);

	while (length < ROUTES_MAX_BYTES && (got = read(fd, text + length, ROUTES_MAX_BYTES - length)) > 0)
		length += (size_t)got;
	close(fd);
	subnet_parse_routes(text, list);
}

static void interfaces_add(struct subnet_list *list)
{
	struct ifaddrs *all = NULL;

	if (getifaddrs(&all) != 0)
		return;
	for (struct ifaddrs *one = all; one; one = one->ifa_next) {
		struct in_addr address;

		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET)
			continue;
		address = ((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr;
		subnet_list_add(list, (struct subnet){ ntohl(address.s_addr), 32 });
	}
	freeifaddrs(all);
}

void self_blocks_add(struct subnet_list *list)
{
	routes_add(list);
	interfaces_add(list);
}

/* ---- networks ---- */

struct membership {
	struct docker *docker;
	struct network_status *network;
	void (*joined)(void *arg, const struct outcome *outcome);
	void (*left)(void *arg);
	void *arg;
};

static void call_send(struct membership *membership, const char *network_id, const char *verb, json_t *body,
		      void (*done)(void *arg, const struct http_answer *answer))
{
	AUTO(string) char *text = json_dump_compact(body);
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/networks/%.128s/%s", network_id, verb);
	http_start(membership->docker->http, &(struct http_request){ .method = "POST",
								     .path = path,
								     .body = text,
								     .timeout_s = CALL_TIMEOUT_S,
								     .done = done,
								     .arg = membership });
}

static void joined(void *arg, const struct http_answer *answer)
{
	struct membership *membership = arg;
	const struct membership done = *membership;
	struct outcome outcome;

	free(membership);
	docker_outcome(done.docker, answer, &outcome);
	self_device(done.network->reach.address, done.network->reach.device);
	if (outcome.status && done.network->reach.device[0])
		outcome.status = STATUS_OK; /* this process is in the network: it was connected before */
	done.joined(done.arg, &outcome);
}

void self_join(struct docker *docker, struct network_status *network,
	       void (*then)(void *arg, const struct outcome *outcome), void *arg)
{
	struct membership *membership = memory_calloc(1, sizeof(*membership));
	char address[SUBNET_TEXT_SIZE];

	*membership = (struct membership){ .docker = docker, .network = network, .joined = then, .arg = arg };
	subnet_print_address(network->reach.address, address);
	/* The low priority keeps the container's default route on its other network.
	 * Source: https://docs.docker.com/reference/api/engine/version/v1.48/ (GwPriority); older engines ignore it */
	AUTO(json)
	json_t *body = json_pack("{ss s{s{ss} si}}", "Container", docker->link.self, "EndpointConfig",
				 "IPAMConfig", "IPv4Address", address, "GwPriority", -1);

	call_send(membership, network->id, "connect", body, joined);
}

static void left(void *arg, const struct http_answer *answer)
{
	struct membership *membership = arg;
	const struct membership done = *membership;

	free(membership);
	link_watch(done.docker, answer);
	done.left(done.arg);
}

void self_leave(struct docker *docker, const char *network_id, void (*then)(void *arg), void *arg)
{
	struct membership *membership = memory_calloc(1, sizeof(*membership));
	AUTO(json)
	json_t *body = json_pack("{ss sb}", "Container", docker->link.self, "Force", 1);

	*membership = (struct membership){ .docker = docker, .left = then, .arg = arg };
	call_send(membership, network_id, "disconnect", body, left);
}

/* ---- names ---- */

static void name_add(json_t *names, const char *name)
{
	const size_t slash = name && *name == '/';

	if (name && name[slash])
		json_array_append_new(names, json_string(name + slash));
}

json_t *docker_own_names(const char *url)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	char id[DOCKER_SELF_SIZE], path[DOCKER_PATH_SIZE], host[HOST_NAME_MAX + 1] = "";
	json_t *names = json_array(), *network, *alias;
	const char *key;
	size_t index;

	gethostname(host, sizeof(host) - 1);
	name_add(names, host);
	if (!self_container(id) || route_endpoint_open(url, &endpoint, NULL) || http_new(endpoint, &http, NULL))
		return names;
	http_set_version(http, OLDEST_VERSION);
	snprintf(path, sizeof(path), "/containers/%s/json", id);
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", path, NULL);

	name_add(names, json_text_at(reply.value, "Name"));
	json_object_foreach(json_object_get(json_object_get(reply.value, "NetworkSettings"), "Networks"), key,
			    network)
		json_array_foreach(json_object_get(network, "Aliases"), index, alias)
			name_add(names, json_string_value(alias));
	return names;
}
