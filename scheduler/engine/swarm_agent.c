/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/swarm_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_tunnel_carry.h"
#include "scheduler/engine/docker_wire.h"
#include "scheduler/engine/swarm_agents.h"
#include "scheduler/engine/tunnel/mux.h"

enum {
	CONNECTIONS_MAX = 1024, /* of clients that have shown their certificate; and so many places in all: */
	PLACES = CONNECTIONS_MAX + 256,
	STRANGERS_MAX = 32, /* of one address, that have not yet */
	BACKLOG = 128,
	IDLE_S = 60,
	KEYS_BYTES_MAX = 64 * 1024,
	ACCEPT_PAUSE_US = 20 * 1000,
};

#define SECRET_PATH "/run/secrets/" SWARM_AGENT
#define ENGINE_PATH "/var/run/docker.sock"

struct place {
	bool is_used, is_known; /* known: it has shown its certificate */
	uint32_t address;
};

struct agent {
	struct wire_keys keys;
	pthread_mutex_t lock;
	struct place places[PLACES];
};

struct visit {
	struct agent *agent;
	struct place *place;
	int fd;
};

/* ---- places ---- */

/* NULL: there is no room for a stranger of this address. */
static struct place *place_take(struct agent *agent, uint32_t address)
{
	struct place *found = NULL;
	size_t strangers = 0;

	pthread_mutex_lock(&agent->lock);
	for (size_t i = 0; i < PLACES; i++) {
		struct place *place = &agent->places[i];

		strangers += place->is_used && !place->is_known && place->address == address;
		found = place->is_used ? found : place;
	}
	if (strangers >= STRANGERS_MAX)
		found = NULL;
	if (found)
		*found = (struct place){ .is_used = true, .address = address };
	pthread_mutex_unlock(&agent->lock);
	return found;
}

static bool place_know(struct agent *agent, struct place *place)
{
	size_t known = 0;

	pthread_mutex_lock(&agent->lock);
	for (size_t i = 0; i < PLACES; i++)
		known += agent->places[i].is_used && agent->places[i].is_known;
	place->is_known = known < CONNECTIONS_MAX;
	pthread_mutex_unlock(&agent->lock);
	return known < CONNECTIONS_MAX;
}

static void place_leave(struct agent *agent, struct place *place)
{
	pthread_mutex_lock(&agent->lock);
	place->is_used = false;
	pthread_mutex_unlock(&agent->lock);
}

/* ---- one connection ---- */

static int engine_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = ENGINE_PATH };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	log_event(LOG_WARNING, "agent-engine-away", "error=\"%s\"", strerrordesc_np(errno));
	return fd_drop(fd);
}

static void *visit_main(void *arg)
{
	struct visit *visit = arg;
	struct wire client, engine = { .fd = -1 };
	char why[ENDPOINT_PROBLEM_SIZE];

	pthread_detach(pthread_self());
	if (!wire_serve(visit->fd, &visit->agent->keys, &client, why, sizeof(why)))
		log_event(LOG_WARNING, "agent-refused", "address=%u.%u.%u.%u error=\"%s\"",
			  visit->place->address >> 24, visit->place->address >> 16 & 255,
			  visit->place->address >> 8 & 255, visit->place->address & 255, why);
	else if (place_know(visit->agent, visit->place) && (engine.fd = engine_connect()) >= 0)
		wire_carry(&client, &engine, why, sizeof(why));
	wire_close(&engine);
	wire_close(&client);
	place_leave(visit->agent, visit->place);
	free(visit);
	return NULL;
}

/* A machine that is gone says nothing more. */
static void client_prepare(int fd)
{
	const int on = 1, idle_s = IDLE_S;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

static void client_take(struct agent *agent, int fd, const struct sockaddr_in *peer)
{
	struct place *place = place_take(agent, ntohl(peer->sin_addr.s_addr));
	struct visit *visit;
	pthread_t thread;

	if (!place) {
		close(fd);
		return;
	}
	visit = memory_calloc(1, sizeof(*visit));
	*visit = (struct visit){ agent, place, fd };
	client_prepare(fd);
	if (small_thread_start(&thread, visit_main, visit, NULL) == STATUS_OK)
		return;
	place_leave(agent, place);
	close(fd);
	free(visit);
}

/* ---- the agent ---- */

static bool keys_load(struct wire_keys *ret_keys)
{
	AUTO(string) char *text = memory_calloc(1, KEYS_BYTES_MAX);
	const int fd = open(SECRET_PATH, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd >= 0 ? read(fd, text, KEYS_BYTES_MAX) : -1;

	if (fd >= 0)
		close(fd);
	return got > 0 && wire_keys_read(text, (size_t)got, ret_keys);
}

static int port_open(void)
{
	const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(SWARM_AGENT_PORT) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	return fd_drop(fd);
}

/* As the first process of a container it gets no signal that it does not ask for. */
static void leave(int signal)
{
	(void)signal;
	_exit(0);
}

static int agent_run(void)
{
	struct agent *agent = memory_calloc(1, sizeof(*agent));
	int listener;

	signal(SIGTERM, leave);
	signal(SIGINT, leave);
	pthread_mutex_init(&agent->lock, NULL);
	if (!keys_load(&agent->keys)) {
		fprintf(stderr, "trainyard: " SECRET_PATH " holds no keys of a swarm\n");
		return 1;
	}
	listener = port_open();
	if (listener < 0) {
		fprintf(stderr, "trainyard: cannot listen at port %d: %s\n", SWARM_AGENT_PORT,
			strerrordesc_np(errno));
		return 1;
	}
	for (;;) {
		struct sockaddr_in peer = { 0 };
		socklen_t size = sizeof(peer);
		const int fd = accept4(listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			client_take(agent, fd, &peer);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			usleep(ACCEPT_PAUSE_US);
	}
}

/* ---- the other end of a route ---- */

static int dial(const struct mux_origin *to)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(to->port),
					     .sin_addr = { .s_addr = htonl(to->address) } };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	client_prepare(fd);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 || errno == EINPROGRESS)
		return fd;
	return fd_drop(fd);
}

static int dial_run(void)
{
	const struct tunnel_carry_options options = { .wake = -1, .dial = dial };
	struct tunnel_carry *carry = NULL;
	struct error err AUTO_ERROR = { 0 };

	fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
	fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);
	if (tunnel_carry_open(&options, &carry, &err) == STATUS_OK)
		tunnel_carry_run(carry, &err);
	tunnel_carry_close(carry);
	return 0;
}

int swarm_agent_main(const char *const *words)
{
	return words[0] && strcmp(words[0], "dial") == 0 ? dial_run() : agent_run();
}
