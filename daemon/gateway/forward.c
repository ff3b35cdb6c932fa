/* SPDX-License-Identifier: Apache-2.0 */
/* Source: https://www.gnutls.org/manual (read 2026-11-25) */
#include "daemon/gateway/forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "daemon/gateway/lookup.h"
#include "store/keys/authority.h"

enum {
	BUFFER_BYTES = 16 << 10, /* the size of a record of TLS */
	CONNECT_MS = 4000,
	HANDSHAKE_MS = 10000,
	LEAVE_MS = 30000, /* how long to wait for the server after the client has ended its stream: most likely the
	                   * client is gone */
	US_PER_MS = 1000,
};

enum { CLIENT, SERVER, SIDES, WAKE = SIDES, POLLED };

/* Results of side_receive(), side_send() and side_result() that are not a number of bytes. */
enum { SIDE_AGAIN = -1, SIDE_BROKEN = -2 };

struct forwarder {
	void (*failed)(void *arg, const struct forward_target *target, const char *problem);
	void *arg;
	gnutls_certificate_credentials_t credentials; /* NULL: none */
	/* readable when all connections have to end */
	int wake;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned count; /* number of connections; guarded by lock */
};

struct side {
	int fd;
	gnutls_session_t tls; /* NULL: without */
};

/* A buffer of bytes that came from one side and that the other side has not accepted yet. */
struct flow {
	char data[BUFFER_BYTES];
	size_t from, to;
	bool ended;    /* no more data will come */
	bool reported; /* the end was passed on to the other side */
};

/* flows[i] comes from sides[i]. */
struct connection {
	struct forwarder *forwarder;
	enum forward_kind kind;
	bool http2;
	char *name, *host, *port;
	gnutls_certificate_credentials_t trusted; /* to check a server; NULL: no TLS to the server yet */
	struct side sides[SIDES];
	struct flow flows[SIDES];
};

/* ---- one side ---- */

static void side_end(struct side *side)
{
	if (side->tls)
		gnutls_deinit(side->tls);
	if (side->fd >= 0)
		close(side->fd);
}

/* Converts the result of a read or a write: a number of bytes (0: the stream has ended), SIDE_AGAIN or
 * SIDE_BROKEN. */
static ssize_t side_result(const struct side *side, ssize_t result)
{
	if (result >= 0)
		return result;
	if (!side->tls)
		return errno == EAGAIN || errno == EINTR ? SIDE_AGAIN : SIDE_BROKEN;
	return gnutls_error_is_fatal((int)result) || result == GNUTLS_E_REHANDSHAKE ? SIDE_BROKEN
										    : SIDE_AGAIN;
}

static ssize_t side_receive(struct side *side, void *data, size_t size)
{
	return side_result(side, side->tls ? gnutls_record_recv(side->tls, data, size)
					   : recv(side->fd, data, size, MSG_DONTWAIT));
}

/* After SIDE_AGAIN the caller must send the same bytes again: GnuTLS keeps a record of them. */
static ssize_t side_send(struct side *side, const void *data, size_t length)
{
	return side_result(side, side->tls ? gnutls_record_send(side->tls, data, length)
					   : send(side->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static void side_finish(struct side *side)
{
	if (side->tls)
		gnutls_bye(side->tls, GNUTLS_SHUT_WR);
	shutdown(side->fd, SHUT_WR);
}

/* ---- TLS ---- */

static bool handshake(struct side *side, int wake)
{
	const int64_t until_us = clock_mono_us(&system_clock) + (int64_t)HANDSHAKE_MS * US_PER_MS;
	int code;

	while ((code = gnutls_handshake(side->tls)) < 0) {
		const int64_t left_us = until_us - clock_mono_us(&system_clock);
		struct pollfd polled[] = {
			{ .fd = side->fd,
			  .events = gnutls_record_get_direction(side->tls) ? POLLOUT : POLLIN },
			{ .fd = wake, .events = POLLIN },
		};

		if (gnutls_error_is_fatal(code) || left_us <= 0)
			return false;
		if (code == GNUTLS_E_AGAIN && poll(polled, 2, (int)(left_us / US_PER_MS) + 1) < 0 &&
		    errno != EINTR)
			return false;
		if (polled[1].revents)
			return false;
	}
	return true;
}

static bool tls_prepare(struct connection *connection, int which, unsigned flags,
			gnutls_certificate_credentials_t credentials)
{
	static const gnutls_datum_t protocols[] = { { (unsigned char *)"http/1.1", 8 },
						    { (unsigned char *)"h2", 2 } };
	struct side *side = &connection->sides[which];

	if (gnutls_init(&side->tls, flags | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) {
		side->tls = NULL;
		return false;
	}
	gnutls_transport_set_int(side->tls, side->fd);
	return gnutls_set_default_priority(side->tls) >= 0 &&
	       gnutls_credentials_set(side->tls, GNUTLS_CRD_CERTIFICATE, credentials) >= 0 &&
	       gnutls_alpn_set_protocols(side->tls, &protocols[connection->http2], 1, 0) >= 0;
}

static bool is_loopback(int fd)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t size = sizeof(peer);

	getpeername(fd, (struct sockaddr *)&peer, &size);
	if (peer.ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)&peer)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return peer.ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&peer)->sin6_addr);
}

/* Choice: a server on this machine's loopback needs no trusted certificate, because an emulator usually has a
 * self-signed one and no other machine is in between; a server on another machine has to show a certificate for its
 * name. */
static bool server_tls_begin(struct connection *connection)
{
	struct side *side = &connection->sides[SERVER];
	const char *system = authority_system_bundle();
	struct in6_addr address;
	const bool is_name = inet_pton(AF_INET, connection->host, &address) != 1 &&
			     inet_pton(AF_INET6, connection->host, &address) != 1;

	if (gnutls_certificate_allocate_credentials(&connection->trusted) < 0) {
		connection->trusted = NULL;
		return false;
	}
	if (!tls_prepare(connection, SERVER, GNUTLS_CLIENT, connection->trusted))
		return false;
	if (is_name)
		gnutls_server_name_set(side->tls, GNUTLS_NAME_DNS, connection->host,
				       strlen(connection->host));
	if (!is_loopback(side->fd)) {
		if (system)
			gnutls_certificate_set_x509_trust_file(connection->trusted, system,
							       GNUTLS_X509_FMT_PEM);
		gnutls_session_set_verify_cert(side->tls, connection->host, 0);
	}
	return handshake(side, connection->forwarder->wake);
}

/* ---- a connection with both sides ---- */

static bool begins_tls(enum forward_kind kind)
{
	return kind == FORWARD_TLS || kind == FORWARD_TLS_ADDED;
}

static bool ends_tls(enum forward_kind kind)
{
	return kind == FORWARD_TLS || kind == FORWARD_PLAIN;
}

/* False: the connection is broken. */
static bool flow_move(struct flow *flow, struct side *from, struct side *to, bool *moved)
{
	ssize_t result;

	if (flow->from == flow->to && !flow->ended) {
		result = side_receive(from, flow->data, BUFFER_BYTES);
		if (result == SIDE_BROKEN)
			return false;
		flow->from = 0;
		flow->to = result > 0 ? (size_t)result : 0;
		flow->ended = result == 0;
		*moved |= result >= 0;
	}
	while (flow->from < flow->to) {
		result = side_send(to, flow->data + flow->from, flow->to - flow->from);
		if (result < 0)
			return result == SIDE_AGAIN;
		flow->from += (size_t)result;
		*moved = true;
	}
	if (flow->ended && !flow->reported) {
		side_finish(to);
		flow->reported = true;
		*moved = true;
	}
	return true;
}

/* Waits until a side can be read or written. Returns false if the connection must end: the forwarder closes, or the
 * server is silent for LEAVE_MS after the client has ended its stream. */
static bool connection_wait(const struct connection *connection)
{
	struct pollfd polled[POLLED];
	int ready;

	for (int side = 0; side < SIDES; side++) {
		const struct flow *out = &connection->flows[side], *in = &connection->flows[!side];
		short events = 0;

		if (out->from == out->to && !out->ended)
			events |= POLLIN;
		if (in->from < in->to)
			events |= POLLOUT;
		polled[side] =
			(struct pollfd){ .fd = events ? connection->sides[side].fd : -1, .events = events };
	}
	polled[WAKE] = (struct pollfd){ .fd = connection->forwarder->wake, .events = POLLIN };
	do
		ready = poll(polled, POLLED, connection->flows[CLIENT].reported ? LEAVE_MS : -1);
	while (ready < 0 && errno == EINTR);
	return ready > 0 && !polled[WAKE].revents;
}

static void connection_pump(struct connection *connection)
{
	struct side *sides = connection->sides;
	struct flow *flows = connection->flows;
	bool moved;

	do {
		do {
			moved = false;
			if (!flow_move(&flows[CLIENT], &sides[CLIENT], &sides[SERVER], &moved) ||
			    !flow_move(&flows[SERVER], &sides[SERVER], &sides[CLIENT], &moved))
				return;
		} while (moved);
	} while (!flows[SERVER].reported && connection_wait(connection));
}

static bool is_closing(const struct forwarder *forwarder)
{
	struct pollfd polled = { .fd = forwarder->wake, .events = POLLIN };

	return poll(&polled, 1, 0) > 0;
}

static void failure_report(const struct connection *connection, const char *problem)
{
	const struct forwarder *forwarder = connection->forwarder;
	const struct forward_target target = { .kind = connection->kind,
					       .name = connection->name,
					       .host = connection->host,
					       .port = connection->port };

	if (is_closing(forwarder))
		return;
	log_event(LOG_WARNING, "forward-failed", "name=%s host=%s port=%s error=\"%s\"", target.name,
		  target.host, target.port, problem);
	if (forwarder->failed)
		forwarder->failed(forwarder->arg, &target, problem);
}

static void connection_serve(struct connection *connection)
{
	struct forwarder *forwarder = connection->forwarder;
	struct error err AUTO_ERROR = { 0 };
	const char *problem = NULL;

	if (lookup_connect(connection->host, connection->port, forwarder->wake, CONNECT_MS,
			   &connection->sides[SERVER].fd, &err))
		problem = err.text;
	else if (begins_tls(connection->kind) && !server_tls_begin(connection))
		problem = "no TLS, or with a certificate that is not trusted";
	if (problem)
		failure_report(connection, problem);
	else if (!ends_tls(connection->kind) ||
		 (tls_prepare(connection, CLIENT, GNUTLS_SERVER, forwarder->credentials) &&
		  handshake(&connection->sides[CLIENT], forwarder->wake)))
		connection_pump(connection);
}

static void connection_free(struct connection *connection)
{
	for (int side = 0; side < SIDES; side++)
		side_end(&connection->sides[side]);
	if (connection->trusted)
		gnutls_certificate_free_credentials(connection->trusted);
	free(connection->name);
	free(connection->host);
	free(connection->port);
	free(connection);
}

DEFINE_AUTO(connection, struct connection *, connection_free)

static bool place_take(struct forwarder *forwarder)
{
	bool taken;

	pthread_mutex_lock(&forwarder->lock);
	taken = forwarder->count < FORWARD_MAX;
	forwarder->count += taken;
	pthread_mutex_unlock(&forwarder->lock);
	return taken;
}

static void place_leave(struct forwarder *forwarder)
{
	pthread_mutex_lock(&forwarder->lock);
	forwarder->count--;
	pthread_cond_broadcast(&forwarder->changed);
	pthread_mutex_unlock(&forwarder->lock);
}

static void *connection_main(void *arg)
{
	struct connection *connection = arg;
	struct forwarder *forwarder = connection->forwarder;

	pthread_detach(pthread_self());
	connection_serve(connection);
	connection_free(connection);
	place_leave(forwarder);
	return NULL;
}

static struct connection *connection_new(struct forwarder *forwarder, int fd,
					 const struct forward_target *target)
{
	AUTO(connection) struct connection *connection = memory_calloc(1, sizeof(*connection));

	connection->forwarder = forwarder;
	connection->kind = target->kind;
	connection->http2 = target->http2;
	connection->sides[CLIENT].fd = fd;
	connection->sides[SERVER].fd = -1;
	connection->name = memory_strdup(target->name);
	connection->host = memory_strdup(target->host);
	connection->port = memory_strdup(target->port);
	return TAKE(connection);
}

void forwarder_take(struct forwarder *forwarder, int fd, const struct forward_target *target)
{
	AUTO(connection) struct connection *connection = connection_new(forwarder, fd, target);
	pthread_t thread;

	if (!place_take(forwarder))
		return;
	if (small_thread_start(&thread, connection_main, connection, NULL))
		place_leave(forwarder);
	else
		(void)TAKE(connection);
}

static void forwarder_free(struct forwarder *forwarder)
{
	if (forwarder->credentials)
		gnutls_certificate_free_credentials(forwarder->credentials);
	if (forwarder->wake >= 0)
		close(forwarder->wake);
	pthread_cond_destroy(&forwarder->changed);
	pthread_mutex_destroy(&forwarder->lock);
	free(forwarder);
}

DEFINE_AUTO(forwarder, struct forwarder *, forwarder_free)

enum status forwarder_open(const struct forwarder_options *options, struct forwarder **ret_forwarder,
			   struct error *err)
{
	AUTO(forwarder) struct forwarder *forwarder = memory_calloc(1, sizeof(*forwarder));
	int code = 0;

	forwarder->failed = options->failed;
	forwarder->arg = options->arg;
	pthread_mutex_init(&forwarder->lock, NULL);
	pthread_cond_init(&forwarder->changed, NULL);
	forwarder->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (forwarder->wake < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no file descriptor is left");
	if (options->key) {
		const gnutls_datum_t key_pem = { (unsigned char *)options->key,
						 (unsigned)strlen(options->key) };
		const gnutls_datum_t certificate_pem = { (unsigned char *)options->certificate,
							 (unsigned)strlen(options->certificate) };

		code = gnutls_certificate_allocate_credentials(&forwarder->credentials);
		if (code >= 0)
			code = gnutls_certificate_set_x509_key_mem(forwarder->credentials, &certificate_pem,
								   &key_pem, GNUTLS_X509_FMT_PEM);
	}
	if (code < 0)
		return error_set(err, STATUS_INTERNAL, NULL, "a certificate cannot be used: %s",
				 gnutls_strerror(code));
	*ret_forwarder = TAKE(forwarder);
	return STATUS_OK;
}

void forwarder_close(struct forwarder *forwarder)
{
	if (!forwarder)
		return;
	eventfd_write(forwarder->wake, 1);
	pthread_mutex_lock(&forwarder->lock);
	while (forwarder->count)
		pthread_cond_wait(&forwarder->changed, &forwarder->lock);
	pthread_mutex_unlock(&forwarder->lock);
	forwarder_free(forwarder);
}
