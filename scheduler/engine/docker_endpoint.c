/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_endpoint.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_carrier.h"
#include "scheduler/engine/docker_context.h"

#define USUAL_URL  "unix:///var/run/docker.sock"
#define PLAIN_PORT "2375"
#define TLS_PORT   "2376"

enum { PATIENCE_S = 30, HOST_BYTES_MAX = 253, USER_BYTES_MAX = 64, NODE_BYTES_MAX = 39, PORT_MAX = 65535 };

struct endpoint {
	atomic_uint references;
	char *name;
	struct endpoint_address place;
	pthread_mutex_t lock; /* guards the member problem */
	char problem[ENDPOINT_PROBLEM_SIZE];
};

/* ---- URLs ---- */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static const char *after(const char *url, const char *scheme)
{
	const size_t length = strlen(scheme);

	return strncmp(url, scheme, length) == 0 ? url + length : NULL;
}

static bool is_of(const char *text, const char *letters, size_t most)
{
	return *text && strlen(text) <= most && strspn(text, letters) == strlen(text);
}

static bool port_valid(const char *port)
{
	return is_of(port, "0123456789", 5) && atoi(port) > 0 && atoi(port) <= PORT_MAX;
}

static void place_deinit(struct endpoint_address *place)
{
	free(place->path);
	free(place->host);
	free(place->port);
	free(place->user);
	free(place->certificates);
	if (place->dialer.free)
		place->dialer.free(place->dialer.arg);
	*place = (struct endpoint_address){ 0 };
}

/* Reads "HOST", "HOST:PORT" or "[::1]:PORT". A host that begins with a hyphen is refused, because ssh would read it
 * as an option. */
static bool host_read(const char *text, struct endpoint_address *place)
{
	const bool is_bracketed = *text == '[';
	const char *end = is_bracketed ? strchr(text, ']') : text + strcspn(text, ":");
	const char *port = end ? end + is_bracketed : NULL;

	if (!port || (*port && *port != ':') || (*port && !port_valid(port + 1)))
		return false;
	place->host = memory_strndup(text + is_bracketed, (size_t)(end - text) - is_bracketed);
	place->port = *port ? memory_strdup(port + 1) : NULL;
	return place->host[0] != '-' && place->host[0] != '.' &&
	       is_of(place->host, is_bracketed ? "0123456789abcdefABCDEF:.%" LETTERS : LETTERS "-._",
		     HOST_BYTES_MAX);
}

/* Reads the address after ssh://. The path may only have letters, digits and "/._-", because the other machine's
 * shell parses it. */
static bool ssh_read(const char *rest, struct endpoint_address *place)
{
	const char *slash = strchr(rest, '/'), *at;
	AUTO(string) char *authority = memory_strndup(rest, slash ? (size_t)(slash - rest) : strlen(rest));

	place->kind = ENDPOINT_SSH;
	if (slash && slash[1]) {
		place->path = memory_strdup(slash);
		if (!is_of(place->path, LETTERS "/._-", HOST_BYTES_MAX))
			return false;
	}
	at = strrchr(authority, '@');
	if (at) {
		place->user = memory_strndup(authority, (size_t)(at - authority));
		if (!is_of(place->user, LETTERS "._-@+", USER_BYTES_MAX) || place->user[0] == '-')
			return false;
	}
	return host_read(at ? at + 1 : authority, place);
}

/* "NODE:URL". */
static bool agent_read(const char *rest, struct endpoint_address *place)
{
	const size_t length = strspn(rest, "0123456789abcdefghijklmnopqrstuvwxyz");

	place->kind = ENDPOINT_AGENT;
	if (!length || length > NODE_BYTES_MAX || rest[length] != ':' || after(rest + length + 1, "swarm:"))
		return false;
	place->host = memory_strndup(rest, length);
	place->path = memory_strdup(rest + length + 1);
	return endpoint_url_valid(place->path);
}

static bool url_read(const char *url, struct endpoint_address *place)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *rest;

	if ((rest = after(url, "unix://")) != NULL) {
		place->kind = ENDPOINT_UNIX;
		place->path = memory_strdup(rest);
		return *rest == '/' && strlen(rest) < sizeof(address.sun_path);
	}
	if ((rest = after(url, "tcp://")) != NULL) {
		size_t length = strlen(rest);
		AUTO(string) char *host = memory_strndup(rest, length - (length && rest[length - 1] == '/'));

		place->kind = ENDPOINT_TCP;
		return host_read(host, place);
	}
	if ((rest = after(url, "swarm:")) != NULL)
		return agent_read(rest, place);
	rest = after(url, "ssh://");
	return rest && ssh_read(rest, place);
}

bool endpoint_url_valid(const char *url)
{
	const char *name = after(url, "context://");
	struct endpoint_address place = { 0 };
	const bool valid = name ? context_name_valid(name) : url_read(url, &place);

	place_deinit(&place);
	return valid;
}

/* ---- TLS ---- */

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Chooses whether a TCP address uses TLS: if DOCKER_TLS_VERIFY or DOCKER_TLS is set, as for Docker's program, or
 * DOCKER_CERT_PATH, as for its libraries. */
static void tls_choose(struct endpoint_address *place)
{
	const char *certificates = variable("DOCKER_CERT_PATH");

	if (place->kind != ENDPOINT_TCP ||
	    !(certificates || variable("DOCKER_TLS_VERIFY") || variable("DOCKER_TLS")))
		return;
	place->kind = ENDPOINT_TLS;
	place->verifies = variable("DOCKER_TLS_VERIFY") != NULL;
	place->certificates = certificates ? memory_strdup(certificates) : docker_config_directory();
}

static void context_tls_choose(struct context *context, struct endpoint_address *place)
{
	if (place->kind != ENDPOINT_TCP || !(context->certificates || context->skips_verify))
		return;
	place->kind = ENDPOINT_TLS;
	place->verifies = !context->skips_verify;
	place->certificates = TAKE(context->certificates);
}

/* ---- making and freeing an endpoint ---- */

static enum status url_refuse(const char *url, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "\"%s\" is neither unix:///PATH nor tcp://HOST:PORT nor ssh://USER@HOST nor "
			 "context://NAME",
			 url);
}

static enum status place_read(const char *url, struct endpoint *endpoint, struct error *err)
{
	const char *name = after(url, "context://");
	struct endpoint_address *place = &endpoint->place;
	struct context context AUTO_CONTEXT = { 0 };
	enum status rc = STATUS_OK;

	if (name && context_name_valid(name))
		rc = context_read(name, &context, err);
	if (rc)
		return rc;
	if (!url_read(context.url ? context.url : url, place))
		return context.url ? error_set(err, STATUS_FAILED_PRECONDITION, NULL,
					       "Docker's context %s names an engine at %s: only unix://, tcp:// "
					       "and ssh:// can be reached",
					       name, context.url)
				   : url_refuse(url, err);
	if (context.url)
		context_tls_choose(&context, place);
	else
		tls_choose(place);
	endpoint->name = context.url ? memory_printf("%s (context %s)", context.url, name)
				     : memory_strdup(url);
	if (!place->port && (place->kind == ENDPOINT_TCP || place->kind == ENDPOINT_TLS))
		place->port = memory_strdup(place->kind == ENDPOINT_TLS ? TLS_PORT : PLAIN_PORT);
	return STATUS_OK;
}

enum status endpoint_open(const char *url, struct endpoint **ret_endpoint, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = memory_calloc(1, sizeof(*endpoint));
	enum status rc;

	atomic_init(&endpoint->references, 1);
	pthread_mutex_init(&endpoint->lock, NULL);
	rc = place_read(url, endpoint, err);
	if (!rc)
		*ret_endpoint = TAKE(endpoint);
	return rc;
}

void endpoint_set_dialer(struct endpoint *endpoint, const struct endpoint_dialer *dialer)
{
	endpoint->place.dialer = *dialer;
}

struct endpoint *endpoint_hold(struct endpoint *endpoint)
{
	atomic_fetch_add(&endpoint->references, 1);
	return endpoint;
}

void endpoint_close(struct endpoint *endpoint)
{
	if (!endpoint || atomic_fetch_sub(&endpoint->references, 1) > 1)
		return;
	place_deinit(&endpoint->place);
	pthread_mutex_destroy(&endpoint->lock);
	free(endpoint->name);
	free(endpoint);
}

const char *endpoint_name(const struct endpoint *endpoint)
{
	return endpoint->name;
}

const struct endpoint_address *endpoint_address(const struct endpoint *endpoint)
{
	return &endpoint->place;
}

unsigned endpoint_patience_s(const struct endpoint *endpoint)
{
	return endpoint->place.kind == ENDPOINT_UNIX ? 0 : PATIENCE_S;
}

void endpoint_problem(struct endpoint *endpoint, char problem[ENDPOINT_PROBLEM_SIZE])
{
	pthread_mutex_lock(&endpoint->lock);
	snprintf(problem, ENDPOINT_PROBLEM_SIZE, "%s", endpoint->problem);
	pthread_mutex_unlock(&endpoint->lock);
}

void endpoint_problem_set(struct endpoint *endpoint, const char *problem)
{
	pthread_mutex_lock(&endpoint->lock);
	snprintf(endpoint->problem, sizeof(endpoint->problem), "%s", problem);
	pthread_mutex_unlock(&endpoint->lock);
}

/* ---- connections ---- */

/* Connects to a unix socket. While the engine's queue of new connections is full, connect() waits as long as
 * SO_SNDTIMEO allows. */
static int socket_connect(const char *path, unsigned patience_ms)
{
	struct timeval patience = { .tv_sec = patience_ms / 1000, .tv_usec = patience_ms % 1000 * 1000L };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path) + 1);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	return fd_drop(fd);
}

int endpoint_connect(struct endpoint *endpoint, unsigned patience_ms)
{
	int pair[2], problem;

	if (endpoint->place.kind == ENDPOINT_UNIX)
		return socket_connect(endpoint->place.path, patience_ms);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	problem = carrier_start(endpoint, pair[1]);
	if (!problem)
		return pair[0];
	close(pair[0]);
	close(pair[1]);
	errno = problem;
	return -1;
}

/* Gives curl a socket that it connects itself, to a listener of this process that accepts one connection. (curl 7.88
 * fails with sockets that are already connected.) */
static curl_socket_t curl_connect(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(name.sun_family); /* a name without a path: the kernel chooses an unused abstract name of
						   * a few bytes */
	int fd = -1;

	(void)purpose;
	if (listener >= 0 && bind(listener, (const struct sockaddr *)&name, size) == 0 && listen(listener, 8) == 0) {
		size = sizeof(name);
		if (getsockname(listener, (struct sockaddr *)&name, &size) == 0 && size <= sizeof(address->addr))
			fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	if (fd >= 0 && carrier_start_listening(arg, listener)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		if (listener >= 0)
			close(listener);
		return CURL_SOCKET_BAD;
	}
	address->family = AF_UNIX;
	address->protocol = 0;
	address->addrlen = size;
	memcpy(&address->addr, &name, size);
	return fd;
}

const char *endpoint_base(const struct endpoint *endpoint)
{
	return endpoint->place.kind == ENDPOINT_UNIX ? "http://docker" : "http://127.0.0.1";
}

bool endpoint_configure(struct endpoint *endpoint, CURL *curl)
{
	if (curl_easy_setopt(curl, CURLOPT_PROXY, "") != CURLE_OK)
		return false;
	if (endpoint->place.kind == ENDPOINT_UNIX)
		return curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, endpoint->place.path) == CURLE_OK;
	return curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, curl_connect) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, endpoint) == CURLE_OK;
}

char *endpoint_default(void)
{
	const char *host = variable("DOCKER_HOST");
	AUTO(string) char *context = host ? NULL : context_current();

	if (context)
		return memory_printf("context://%s", context);
	return memory_strdup(host ? host : USUAL_URL);
}
