/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api/grpc/session.h"
#include "api/grpc/stream_socket.h"
#include "api/http/connections.h"
#include "api/http/guard.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"

enum {
	CONNECTIONS_MAX = 128,
	ADDRESS_CONNECTIONS_MAX = 32, /* for clients on other machines */
	USELESS_US = 30000000, /* a connection without calls for longer may be closed to make room */
	LOOK_S = 1,
	STACK_BYTES = 512 << 10,
	BODY_BYTES_MAX = 10 << 20,
	IDLE_MS = 600000,
	CLOSING_S = 5,
	READ_BYTES = 16 << 10,
	PATH_SHOWN_BYTES = 200,
};

struct connection {
	struct front *front;
	int fd;      /* -1: the slot is free */
	int wake_fd; /* eventfd to which feeds write when they have messages; -1: no feed yet */
	uint32_t peer;
	unsigned char key[ADDRESS_KEY_BYTES];
	/* Since when the connection has had no accepted call; other traffic does not count. 0: a call is being answered. */
	_Atomic int64_t useless_us;
};

struct front {
	struct front_options options;
	char address[INET6_ADDRSTRLEN];
	struct tls_keys *keys; /* NULL: no TLS */
	struct inner_endpoint *endpoint;
	struct session_pool pool;
	int listening;
	uint16_t port;
	pthread_t accepting;
	bool accepts; /* the thread is there */

	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t changed;
	bool closing;
	unsigned count;
	struct connection connections[CONNECTIONS_MAX];
};

/* ---- calls ---- */

static void head_write(struct text *head, const struct session_call *call)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{ "Host", call->authority },
		{ "Content-Type", "application/json" },
		{ "Authorization", call->authorization },
		{ "X-Goog-Api-Key", call->api_key },
		{ "Origin", call->origin },
		{ "Sec-Fetch-Site", call->sec_fetch_site },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (headers[i].value)
			text_printf(head, "%s: %s\n", headers[i].name, headers[i].value);
}

static void memory_report(struct rpc_outcome *outcome)
{
	rpc_outcome_fail(outcome, GRPC_UNAVAILABLE,
			 "There is no memory for this request now. Try again later.");
}

static bool on_admit(void *arg, const struct session_call *call, struct rpc_outcome *outcome)
{
	struct connection *connection = arg;
	struct text head AUTO_TEXT = { 0 };
	struct inner_answer answer = { 0 };
	struct error err AUTO_ERROR = { 0 };
	bool admitted = false;

	head_write(&head, call);
	if (inner_endpoint_admit(connection->front->endpoint,
				 &(struct inner_endpoint_request){
					 .method = "POST", .head_text = head.data, .peer = connection->peer },
				 &answer, &err))
		memory_report(outcome);
	else if (answer.http_status)
		rpc_refusal_read(answer.http_status, answer.body.data, answer.body.length, outcome);
	else
		admitted = true;
	if (admitted)
		atomic_store(&connection->useless_us, clock_mono_us(&system_clock));
	inner_answer_deinit(&answer);
	return admitted;
}

static bool on_has_feed(void *arg, const char *path)
{
	const struct connection *connection = arg;
	const struct route *route = rpc_route_find(connection->front->options.common.families, path);

	return route && route->rpc->feed;
}

static bool wake_open(struct connection *connection)
{
	if (connection->wake_fd < 0)
		connection->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return connection->wake_fd >= 0;
}

/* Converts a handler's answer to a message, or opens the feed of the row (@source; NULL: the row has none). */
static void answer_read(struct connection *connection, const struct route *route,
			const struct rpc_request *request, const struct inner_answer *answer,
			struct text *bytes, struct session_feed *source, struct rpc_outcome *outcome)
{
	const struct front_options *options = &connection->front->options;

	if (!source || answer->http_status != 200)
		rpc_answer_read(route, options->any, answer->http_status,
				answer->body.length ? answer->body.data : "", answer->body.length, bytes,
				outcome);
	else if (!wake_open(connection))
		rpc_outcome_fail(outcome, GRPC_UNAVAILABLE,
				 "There is no file descriptor for the stream now.");
	else
		feed_source_open(route, rpc_context_find(options->common.families, route), options->any,
				 &request->body, connection->wake_fd, source, outcome);
}

static void call_go(struct connection *connection, const struct route *route, const struct session_call *call,
		    const struct rpc_request *request, struct text *bytes, struct session_feed *source,
		    struct rpc_outcome *outcome)
{
	struct front *front = connection->front;
	struct text head AUTO_TEXT = { 0 };
	struct inner_answer answer = { 0 };
	struct error err AUTO_ERROR = { 0 };

	head_write(&head, call);
	if (inner_endpoint_call(front->endpoint,
				&(struct inner_endpoint_request){ .method = route->method,
								  .target = request->target.data,
								  .head_text = head.data,
								  .body = request->body.data,
								  .body_bytes = request->body.length,
								  .peer = connection->peer,
								  .client_fd = connection->fd },
				&answer, &err))
		memory_report(outcome);
	else
		answer_read(connection, route, request, &answer, bytes, source, outcome);
	inner_answer_deinit(&answer);
}

/* Choice: all unknown methods get this error, without a check that the service has the method. */
static void absent_report(const char *path, struct rpc_outcome *outcome)
{
	rpc_outcome_fail(outcome, GRPC_UNIMPLEMENTED, "Method not found: trainyard does not emulate ");
	text_printf(&outcome->message, "%.*s.", PATH_SHOWN_BYTES, path);
}

static void call_answer(struct connection *connection, const struct session_call *call, struct text *bytes,
			struct session_feed *source, struct rpc_outcome *outcome)
{
	const struct route *route = rpc_route_find(connection->front->options.common.families, call->path);
	struct rpc_request request AUTO_RPC_REQUEST = { 0 };
	struct error err AUTO_ERROR = { 0 };

	atomic_store(&connection->useless_us, 0);
	if (!route)
		absent_report(call->path, outcome);
	else if (rpc_request_make(route, call->data, call->length, &request, &err))
		rpc_outcome_fail(outcome,
				 err.status == STATUS_INVALID_ARGUMENT ? GRPC_INVALID_ARGUMENT
								       : GRPC_INTERNAL,
				 err.text ? err.text : "");
	else
		call_go(connection, route, call, &request, bytes, source, outcome);
	atomic_store(&connection->useless_us, clock_mono_us(&system_clock));
}

static void on_call(void *arg, const struct session_call *call, struct text *bytes,
		    struct rpc_outcome *outcome)
{
	call_answer(arg, call, bytes, NULL, outcome);
}

static void on_feed(void *arg, const struct session_call *call, struct session_feed *ret_feed,
		    struct rpc_outcome *outcome)
{
	call_answer(arg, call, NULL, ret_feed, outcome);
}

/* ---- connections ---- */

static bool session_flush(struct session *session, struct stream_socket *socket)
{
	const uint8_t *data;
	ssize_t length;

	while ((length = session_send(session, &data)) > 0)
		if (!stream_socket_write(socket, data, (size_t)length))
			return false;
	return length == 0;
}

/* Returns how long to wait for bytes of the client, in ms. A connection with a feed counts as useful. */
static int silence_ms(struct connection *connection, const struct session *session)
{
	const int64_t now_us = clock_mono_us(&system_clock), wake_us = session_wake_us(session);

	if (!session_has_feeds(session))
		return IDLE_MS;
	atomic_store(&connection->useless_us, now_us);
	if (wake_us <= now_us)
		return 0;
	return wake_us - now_us < IDLE_MS * INT64_C(1000) ? (int)((wake_us - now_us) / 1000) + 1 : IDLE_MS;
}

static bool front_is_closing(struct front *front)
{
	bool closing;

	pthread_mutex_lock(&front->lock);
	closing = front->closing;
	pthread_mutex_unlock(&front->lock);
	return closing;
}

/* Closes a session after its last read. If the front is closing, feeds end with UNAVAILABLE and the client gets a
 * GOAWAY. */
static void session_leave(struct connection *connection, struct session *session,
			  struct stream_socket *socket)
{
	if (!session_has_feeds(session) || !front_is_closing(connection->front))
		return;
	session_feeds_end(session, GRPC_UNAVAILABLE, "trainyard is shutting down.");
	if (!session_flush(session, socket))
		return;
	session_end(session);
	session_flush(session, socket);
}

static void session_run(struct connection *connection, struct session *session, struct stream_socket *socket)
{
	char buffer[READ_BYTES];

	while (session_flush(session, socket) && session_lives(session)) {
		const ssize_t length = stream_socket_read(
			socket, buffer, sizeof(buffer), silence_ms(connection, session), connection->wake_fd);

		if (length == STREAM_SOCKET_IDLE && !session_has_feeds(session)) {
			session_end(session);
		} else if (length <= 0 && length != STREAM_SOCKET_IDLE) {
			session_leave(connection, session, socket);
			return;
		} else if (length > 0 && !session_receive(session, buffer, (size_t)length)) {
			session_flush(session, socket);
			return;
		} else {
			session_wake(session); /* a read may have reset wake_fd, so ask all waiting feeds */
		}
	}
}

/* Gives the HTTP/1 listener a duplicate of the descriptor: the original is closed when the connection's thread ends. */
static void connection_divert(const struct connection *connection)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t size = sizeof(peer);
	const int fd = fcntl(connection->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return;
	getpeername(connection->fd, (struct sockaddr *)&peer, &size);
	listener_adopt(connection->front->options.rest, fd, (struct sockaddr *)&peer, size);
}

static void connection_serve(struct connection *connection)
{
	struct front *front = connection->front;
	struct stream_socket socket AUTO_STREAM_SOCKET = { 0 };
	AUTO(session)
	struct session *session = session_new(&(struct session_options){ .pool = &front->pool,
									 .admit = on_admit,
									 .call = on_call,
									 .has_feed = on_has_feed,
									 .feed = on_feed,
									 .arg = connection });

	if (front->options.rest && stream_socket_is_rest(connection->fd)) {
		connection_divert(connection);
		return;
	}
	if (session && stream_socket_begin(&socket, connection->fd, front->keys))
		session_run(connection, session, &socket);
	stream_socket_end(&socket);
}

/* A session returns its memory to the front's pool, so it is freed before the count allows the front to be freed. */
static void *connection_main(void *arg)
{
	struct connection *connection = arg;
	struct front *front = connection->front;

	connection_serve(connection);
	pthread_mutex_lock(&front->lock);
	close(connection->fd);
	connection->fd = -1;
	if (connection->wake_fd >= 0)
		close(connection->wake_fd);
	connection->wake_fd = -1;
	front->count--;
	pthread_cond_broadcast(&front->changed);
	pthread_mutex_unlock(&front->lock);
	return NULL;
}

/* The threads are detached: front->count reaches 0 when the last one has ended. */
static bool thread_start(struct connection *connection)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failure;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	failure = pthread_create(&thread, &attributes, connection_main, connection);
	pthread_attr_destroy(&attributes);
	return failure == 0;
}

/* Call with the lock held and a free slot. */
static void connection_place(struct front *front, int fd, const struct sockaddr *peer)
{
	struct connection *place = front->connections;

	while (place->fd >= 0)
		place++;
	place->fd = fd;
	place->peer = guard_peer_ipv4(peer);
	address_key_make(peer, place->key);
	atomic_store(&place->useless_us, clock_mono_us(&system_clock));
	front->count++;
	if (thread_start(place))
		return;
	front->count--;
	place->fd = -1;
	close(fd);
}

/* Whether the peer's address has as many connections as one address may have, so that it cannot use up all. Call with the
 * lock held. */
static bool address_is_full(const struct front *front, const struct sockaddr *peer)
{
	unsigned char key[ADDRESS_KEY_BYTES];
	unsigned count = 0;

	address_key_make(peer, key);
	for (size_t i = 0; i < CONNECTIONS_MAX && address_key_counts(key); i++)
		count += front->connections[i].fd >= 0 &&
			 memcmp(front->connections[i].key, key, sizeof(key)) == 0;
	return count >= ADDRESS_CONNECTIONS_MAX;
}

/* Ends the connection that has had no accepted call for the longest time, if that is over USELESS_US. Call with the lock
 * held. */
static void room_make(struct front *front)
{
	struct connection *longest = NULL;
	int64_t since = clock_mono_us(&system_clock) - USELESS_US;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const int64_t useless_us = atomic_load(&front->connections[i].useless_us);

		if (front->connections[i].fd < 0 || !useless_us || useless_us > since)
			continue;
		longest = &front->connections[i];
		since = useless_us;
	}
	if (longest)
		shutdown(longest->fd, SHUT_RDWR);
}

/* Waits for a free connection slot. False: the front is closing. */
static bool room_wait(struct front *front)
{
	bool closing;

	pthread_mutex_lock(&front->lock);
	while (front->count == CONNECTIONS_MAX && !front->closing) {
		struct timespec look;

		room_make(front);
		clock_gettime(CLOCK_MONOTONIC, &look);
		look.tv_sec += LOOK_S;
		pthread_cond_timedwait(&front->changed, &front->lock, &look);
	}
	closing = front->closing;
	pthread_mutex_unlock(&front->lock);
	return !closing;
}

/* Serves the connection @fd, or closes it if there is no slot for it. */
static void connection_take(struct front *front, int fd, const struct sockaddr *peer)
{
	const int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pthread_mutex_lock(&front->lock);
	if (front->closing || front->count == CONNECTIONS_MAX || address_is_full(front, peer))
		close(fd);
	else
		connection_place(front, fd, peer);
	pthread_mutex_unlock(&front->lock);
}

static void *accepting_main(void *arg)
{
	struct front *front = arg;

	while (room_wait(front)) {
		struct sockaddr_storage peer = { 0 };
		socklen_t size = sizeof(peer);
		int fd = accept4(front->listening, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC);

		if (fd < 0) {
			/* Without free descriptors or memory, accept4() would fail again at once: pause. EINVAL: the socket
			 * was shut down, and room_wait() returns false. */
			if (errno != EINTR && errno != ECONNABORTED && errno != EINVAL)
				nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
			continue;
		}
		connection_take(front, fd, (struct sockaddr *)&peer);
	}
	return NULL;
}

/* ---- opening and closing ---- */

static enum status parts_open(struct front *front, struct error *err)
{
	const struct listener_options *options = &front->options.common;
	enum status rc = inner_endpoint_open(options, &front->endpoint, err);

	if (!rc && options->tls_key)
		rc = tls_keys_new(options->tls_key, options->tls_certificate, &front->keys, err);
	if (!rc && !options->adopts_only)
		rc = stream_listen(options->address, options->port, &front->listening, &front->port, err);
	if (rc || options->adopts_only)
		return rc;
	if (pthread_create(&front->accepting, NULL, accepting_main, front) != 0)
		return error_set(err, STATUS_INTERNAL, NULL, "cannot start the thread that serves gRPC");
	front->accepts = true;
	return STATUS_OK;
}

bool front_is_built(void)
{
	return true;
}

enum status front_open(const struct front_options *options, struct front **ret_front, struct error *err)
{
	struct front *front = memory_calloc(1, sizeof(*front));
	pthread_condattr_t attributes;
	enum status rc;

	front->options = *options;
	strncpy(front->address, options->common.address, sizeof(front->address) - 1);
	front->options.common.address = front->address;
	front->options.common.connection_limit = CONNECTIONS_MAX;
	front->options.common.body_limit_bytes = BODY_BYTES_MAX;
	front->listening = -1;
	pthread_mutex_init(&front->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&front->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		front->connections[i] = (struct connection){ .front = front, .fd = -1, .wake_fd = -1 };
	rc = parts_open(front, err);
	if (rc)
		front_close(front);
	else
		*ret_front = front;
	return rc;
}

void front_adopt(struct front *front, int fd, const struct sockaddr_in *peer)
{
	const int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK); /* a connection's thread waits */
	connection_take(front, fd, (const struct sockaddr *)peer);
}

uint16_t front_port(const struct front *front)
{
	return front->port;
}

/* Shuts down all connections; @how as in shutdown(2). Call with the lock held. */
static void connections_shut(struct front *front, int how)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (front->connections[i].fd >= 0)
			shutdown(front->connections[i].fd, how);
}

/* Stops reading from all connections. Running calls are still answered, waiting ones at once; clients that read
 * their answers slowly get the rest. */
static void connections_end(struct front *front)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += CLOSING_S;
	inner_endpoint_end(front->endpoint);
	pthread_mutex_lock(&front->lock);
	front->closing = true;
	pthread_cond_broadcast(&front->changed);
	connections_shut(front, SHUT_RD);
	while (front->count && pthread_cond_timedwait(&front->changed, &front->lock, &end) != ETIMEDOUT)
		;
	connections_shut(front, SHUT_RDWR);
	while (front->count)
		pthread_cond_wait(&front->changed, &front->lock);
	pthread_mutex_unlock(&front->lock);
}

void front_close(struct front *front)
{
	if (!front)
		return;
	if (front->endpoint)
		connections_end(front);
	if (front->accepts) {
		shutdown(front->listening, SHUT_RDWR); /* wakes accept() */
		pthread_join(front->accepting, NULL);
	}
	if (front->listening >= 0)
		close(front->listening);
	inner_endpoint_close(front->endpoint);
	tls_keys_free(front->keys);
	pthread_cond_destroy(&front->changed);
	pthread_mutex_destroy(&front->lock);
	free(front);
}

void front_versions_write(struct text *text)
{
	text_printf(text, "nghttp2 %s", nghttp2_version(0)->version_str);
}
