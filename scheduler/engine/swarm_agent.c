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
	CONNECTIONS_MAX = 1024, /* the limit of connections that have shown their certificate */
	PLACES = 2 * CONNECTIONS_MAX,
	/* STRANGERS_MAX: the limit of connections per address that have not yet shown a certificate. It is high,
	 * because all connections of a daemon come from one address, that of the manager's agent. BEGINNERS_MAX: the
	 * limit of those, per address, that begin TLS at a time, each on a thread; the others wait for their turn. */
	STRANGERS_MAX = 512,
	BEGINNERS_MAX = 32,
	BACKLOG = 128,
	KEYS_BYTES_MAX = 64 * 1024,
	ACCEPT_PAUSE_US = 20 * 1000,
};

#define SECRET_PATH "/run/secrets/" SWARM_AGENT
#define ENGINE_PATH "/var/run/docker.sock"

/* The states of a place: FREE -> WAITS -> BEGINS (TLS) -> KNOWN (its client has shown the certificate) -> FREE. A place
 * is also FREE again after BEGINS if the client is refused. */
enum place_state { PLACE_FREE, PLACE_WAITS, PLACE_BEGINS, PLACE_KNOWN };

struct place {
	enum place_state state;
	uint32_t address;
	int fd;
	uint64_t turn; /* WAITS: the connection with the lowest number is the next to begin */
};

struct agent {
	struct wire_keys keys;
	pthread_mutex_t lock;
	uint64_t turns;
	struct place places[PLACES];
};

struct visit {
	struct agent *agent;
	struct place *place;
	uint32_t address;
	int fd;
};

/* ---- places ---- */

/* Takes a place for a new connection. False: all places are used, or this address has too many connections without a
 * certificate. */
static bool place_take(struct agent *agent, uint32_t address, int fd)
{
	struct place *found = NULL;
	size_t strangers = 0;

	pthread_mutex_lock(&agent->lock);
	for (size_t i = 0; i < PLACES; i++) {
		struct place *place = &agent->places[i];

		if (place->state == PLACE_FREE)
			found = place;
		else
			strangers += place->state != PLACE_KNOWN && place->address == address;
	}
	if (strangers >= STRANGERS_MAX)
		found = NULL;
	if (found)
		*found = (struct place){ PLACE_WAITS, address, fd, agent->turns++ };
	pthread_mutex_unlock(&agent->lock);
	return found;
}

/* Returns the address's next waiting connection, and sets its state to BEGINS. NULL: none waits, or the limit of
 * connections that begin at a time is reached. */
static struct place *place_call(struct agent *agent, uint32_t address)
{
	struct place *next = NULL;
	size_t beginners = 0;

	pthread_mutex_lock(&agent->lock);
	for (size_t i = 0; i < PLACES; i++) {
		struct place *place = &agent->places[i];

		if (place->address != address)
			continue;
		beginners += place->state == PLACE_BEGINS;
		if (place->state == PLACE_WAITS && (!next || place->turn < next->turn))
			next = place;
	}
	if (beginners >= BEGINNERS_MAX)
		next = NULL;
	if (next)
		next->state = PLACE_BEGINS;
	pthread_mutex_unlock(&agent->lock);
	return next;
}

static void place_leave(struct agent *agent, struct place *place)
{
	pthread_mutex_lock(&agent->lock);
	place->state = PLACE_FREE;
	pthread_mutex_unlock(&agent->lock);
}

/* Sets the place's state to KNOWN. False: there are too many known connections, and the place is free again. */
static bool place_know(struct agent *agent, struct place *place)
{
	size_t known = 0;

	pthread_mutex_lock(&agent->lock);
	for (size_t i = 0; i < PLACES; i++)
		known += agent->places[i].state == PLACE_KNOWN;
	place->state = known < CONNECTIONS_MAX ? PLACE_KNOWN : PLACE_FREE;
	pthread_mutex_unlock(&agent->lock);
	return known < CONNECTIONS_MAX;
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

static bool client_know(struct visit *visit, struct wire *client)
{
	const uint32_t address = visit->address;
	char why[ENDPOINT_PROBLEM_SIZE];

	if (wire_serve(visit->fd, &visit->agent->keys, client, why, sizeof(why)))
		return place_know(visit->agent, visit->place);
	log_event(LOG_WARNING, "agent-refused", "address=%u.%u.%u.%u error=\"%s\"", address >> 24, address >> 16 & 255,
		  address >> 8 & 255, address & 255, why);
	place_leave(visit->agent, visit->place);
	return false;
}

static void visits_start(struct agent *agent, uint32_t address);

static void *visit_main(void *arg)
{
	struct visit *visit = arg;
	struct wire client, engine = { .fd = -1 };
	const bool is_known = client_know(visit, &client);
	char why[ENDPOINT_PROBLEM_SIZE];

	pthread_detach(pthread_self());
	visits_start(visit->agent, visit->address);
	if (is_known && (engine.fd = engine_connect()) >= 0)
		wire_carry(&client, &engine, why, sizeof(why));
	wire_close(&engine);
	wire_close(&client);
	if (is_known)
		place_leave(visit->agent, visit->place);
	free(visit);
	return NULL;
}

static void visits_start(struct agent *agent, uint32_t address)
{
	struct place *place;

	while ((place = place_call(agent, address)) != NULL) {
		struct visit *visit = memory_calloc(1, sizeof(*visit));
		pthread_t thread;

		*visit = (struct visit){ agent, place, address, place->fd };
		if (small_thread_start(&thread, visit_main, visit, NULL) == STATUS_OK)
			continue;
		close(visit->fd);
		place_leave(agent, place);
		free(visit);
	}
}

static void client_take(struct agent *agent, int fd, const struct sockaddr_in *peer)
{
	const uint32_t address = ntohl(peer->sin_addr.s_addr);

	wire_socket_prepare(fd);
	if (place_take(agent, address, fd))
		visits_start(agent, address);
	else
		close(fd);
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

/* Ends the process at a signal. The first process of a container gets only signals for which it has a handler. */
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

/* ---- the agent as the other end of a route ---- */

static int dial(const struct mux_origin *to)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(to->port),
					     .sin_addr = { .s_addr = htonl(to->address) } };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	wire_socket_prepare(fd);
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
