/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "api/http/connections.h"
#include "api/http/exchange.h"
#include "api/http/http.h"
#include "api/http/library_head.h"
#include "api/http/path_socket.h"
#include "api/http/response.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"

enum {
	BODY_LIMIT_BYTES = 10 << 20,
	UNKNOWN_BODY_LIMIT_BYTES = 64 << 10,
	IDLE_TIMEOUT_S = 75,
	STACK_BYTES = 512 << 10,
	HEAD_LIMIT_BYTES = 32 << 10, /* target and headers of one request */
	COMPLAINTS_MAX = 5,          /* how many complaints of libmicrohttpd are logged in one second */
};

struct listener {
	struct MHD_Daemon *daemon;
	struct connections *connections;
	const struct clock *clock;
	struct exchange_rules rules;
	pthread_mutex_t large_bodies;
	atomic_uint waiting;
	atomic_size_t bodies;
	char address[INET6_ADDRSTRLEN];
	uint16_t port;
	uint32_t first_peer, peer_count;
	struct path_socket path_socket; /* for a listener at a path */

	/* A request increments the count and then reads @stopping; a stop sets @stopping and then reads the count. So
	 * at least one of the two sees the other, without a lock that all requests would share. */
	atomic_uint under_way; /* requests that are being handled, until their answer is sent */
	atomic_bool stopping;
	atomic_bool cutting; /* the time for closing is over; running streams are cut */

	pthread_mutex_t lock; /* protects the members below; @idle waits with it */
	pthread_cond_t idle;
	int64_t complaint_second;
	unsigned complaints;
};

/* Keeps libmicrohttpd from decoding targets: request.c decodes them after splitting them. */
static size_t unescape_nothing(void *arg, struct MHD_Connection *connection, char *text)
{
	(void)arg, (void)connection;
	return strlen(text);
}

static struct connection *place_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* The exchange of the connection: one object for all its requests, made by the first. */
static struct exchange *exchange_of(struct connection *place, const char *target)
{
	struct exchange *exchange = connection_exchange(place);

	if (exchange) {
		exchange_renew(exchange, target);
		return exchange;
	}
	exchange = exchange_new(target);
	connection_hold(place, exchange);
	return exchange;
}

/* libmicrohttpd's first callback about a request; the result becomes the request's *con_cls. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
	struct connection *place = place_of(connection);
	struct exchange *exchange;

	(void)arg;
	connection_head_begins(place);
	exchange = exchange_of(place, target);
	exchange->place = target;
	return exchange;
}

static const char *header_find(void *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

struct header_walk {
	head_seen seen;
	void *arg;
};

static enum MHD_Result on_walk(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct header_walk *walk = arg;

	(void)kind;
	walk->seen(walk->arg, name, value ? value : "");
	return MHD_YES;
}

static void headers_walk(void *connection, head_seen seen, void *arg)
{
	struct header_walk walk = { seen, arg };

	MHD_get_connection_values(connection, MHD_HEADER_KIND, on_walk, &walk);
}

/* Counts the request as under way. False: the listener is closing; the request is counted nevertheless. */
static bool request_enter(struct listener *listener)
{
	atomic_fetch_add(&listener->under_way, 1);
	return !atomic_load(&listener->stopping);
}

static void request_leave(struct listener *listener)
{
	if (atomic_fetch_sub(&listener->under_way, 1) > 1 || !atomic_load(&listener->stopping))
		return;
	pthread_mutex_lock(&listener->lock);
	pthread_cond_broadcast(&listener->idle);
	pthread_mutex_unlock(&listener->lock);
}

static const struct sockaddr *address_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

/* The descriptor of the connection; 0: none. From release 1.0 on, the information about a connection is overwritten by
 * the next call, so it is read at once. */
static int client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : 0;
}

static enum MHD_Result on_client(void *arg, const struct sockaddr *address, socklen_t size)
{
	const struct listener *listener = arg;

	if (listener->peer_count && guard_peer_ipv4(address) - listener->first_peer >= listener->peer_count)
		return MHD_NO;
	return connections_admit(listener->connections, address, size) ? MHD_YES : MHD_NO;
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **place,
			  enum MHD_ConnectionNotificationCode what)
{
	const struct listener *listener = arg;
	const int fd = client_of(connection);

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		exchange_free(connection_exchange(*place));
		connection_end(listener->connections, *place);
		*place = NULL;
	} else if (fd) {
		*place = connection_begin(listener->connections, fd, address_of(connection));
	}
}

static enum MHD_Result request_begin(struct listener *listener, struct MHD_Connection *connection,
				     struct exchange *exchange, const char *method, const char *version)
{
	const bool open = request_enter(listener);
	struct head head = { .find = header_find, .each = headers_walk, .find_arg = connection };
	bool at_once;

	exchange->peer = guard_peer_ipv4(address_of(connection));
	exchange->client_fd = client_of(connection);
	library_head_read(connection,
			  &(struct request_line){ method, exchange->place, strlen(exchange->raw), version },
			  &head);
	at_once = exchange_begin(exchange, &listener->rules, method, version, &head);
	connection_known(place_of(connection), exchange->known);
	if (!at_once && open) {
		connection_body_begins(place_of(connection));
		return MHD_YES;
	}
	if (open)
		exchange_end(exchange);
	else
		exchange_end_stopping(exchange);
	return exchange->cut ? MHD_NO : response_queue(connection, exchange, true);
}

/* Called with the head, with each piece of the body, and once more when it is complete. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data, size_t *length,
				  void **held)
{
	struct listener *listener = arg;
	struct exchange *exchange = *held;
	struct connection *place = place_of(connection);

	(void)url;
	connection_busy(place);
	if (!exchange->begun)
		return request_begin(listener, connection, exchange, method, version);
	if (*length) {
		bool go_on = exchange_receive(exchange, data, *length);

		connection_received(place, *length);
		*length = 0;
		return go_on ? MHD_YES : MHD_NO;
	}
	exchange_end(exchange);
	if (exchange->cut)
		return MHD_NO;
	return response_queue(connection, exchange,
			      atomic_load(&listener->stopping) || head_says_coding(&exchange->head));
}

/* Also called for a request with a head that could not be parsed. */
static void on_completed(void *arg, struct MHD_Connection *connection, void **held,
			 enum MHD_RequestTerminationCode why)
{
	struct connection *place = place_of(connection);
	struct exchange *exchange = *held;
	const bool counted = exchange && exchange->begun;

	(void)why;
	connection_request_over(place);
	*held = NULL;
	if (exchange)
		exchange_clear(exchange);
	if (counted)
		request_leave(arg);
}

/* Limits how many of libmicrohttpd's complaints are logged each second: when no file descriptors are left, it makes a
 * million of them. */
static bool complaint_allowed(struct listener *listener)
{
	int64_t second = clock_mono_us(listener->clock) / 1000000;
	bool allowed;

	pthread_mutex_lock(&listener->lock);
	if (second != listener->complaint_second) {
		listener->complaint_second = second;
		listener->complaints = 0;
	}
	allowed = listener->complaints < COMPLAINTS_MAX;
	listener->complaints += allowed;
	pthread_mutex_unlock(&listener->lock);
	return allowed;
}

/* Removes the path from a complaint, as paths can contain secrets. libmicrohttpd quotes paths `like this'. */
static void path_hide(char *complaint)
{
	char *path = strstr(complaint, "`/");
	char *end = path ? strchr(path, '\'') : NULL;

	if (path)
		memmove(path + 1, end ? end : "", strlen(end ? end : "") + 1);
}

/* Whether the complaint is not worth logging: about streams that were cut, which log that themselves, or about TCP options
 * of connections that are not TCP (listener_adopt()).
 * Source: https://github.com/Karlson2k/libmicrohttpd/blob/v0.9.75/src/microhttpd/mhd_send.c */
static bool is_noise(const char *complaint)
{
	static const char *const starts[] = { "Closing connection (application ", "Setting TCP_",
					      "Failed to push the data from buffers to the network." };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(complaint, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static void on_complaint(void *arg, const char *format, va_list args)
{
	char complaint[512];

	if (!complaint_allowed(arg))
		return;
	vsnprintf(complaint, sizeof(complaint), format, args);
	path_hide(complaint);
	if (!is_noise(complaint))
		log_event(LOG_WARNING, "http-complaint", "error=\"%s\"", complaint);
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool address_read(const struct listener_options *options, union address *ret_address)
{
	union address address = { .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(options->port) } };

	if (inet_pton(AF_INET6, options->address, &address.v6.sin6_addr) != 1) {
		address =
			(union address){ .v4 = { .sin_family = AF_INET, .sin_port = htons(options->port) } };
		if (inet_pton(AF_INET, options->address, &address.v4.sin_addr) != 1)
			return false;
	}
	*ret_address = address;
	return true;
}

static void listener_free(struct listener *listener)
{
	path_socket_close(&listener->path_socket);
	connections_close(listener->connections);
	pthread_cond_destroy(&listener->idle);
	pthread_mutex_destroy(&listener->lock);
	pthread_mutex_destroy(&listener->large_bodies);
	free(listener);
}

DEFINE_AUTO(listener, struct listener *, listener_free)

static void condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

static unsigned connections_of(const struct listener_options *options)
{
	return options->connection_limit ? options->connection_limit : CONNECTION_LIMIT;
}

static struct listener *listener_new(const struct listener_options *options)
{
	struct listener *listener = memory_calloc(1, sizeof(*listener));

	pthread_mutex_init(&listener->lock, NULL);
	pthread_mutex_init(&listener->large_bodies, NULL);
	listener->path_socket.fd = -1;
	condition_init(&listener->idle);
	/* The address fits, because it was parsed already. */
	strncpy(listener->address, options->address ? options->address : "", sizeof(listener->address) - 1);
	listener->first_peer = options->first_peer;
	listener->peer_count = options->peer_count;
	listener->clock = options->clock ? options->clock : &system_clock;
	listener->rules = (struct exchange_rules){
		.families = options->families,
		.clock = listener->clock,
		.gate = options->gate,
		.guard = { .address = listener->address,
			   .hosts = options->hosts,
			   .any_host = options->any_host },
		.body_limit_bytes = options->body_limit_bytes ? options->body_limit_bytes : BODY_LIMIT_BYTES,
		.unknown_body_limit_bytes = UNKNOWN_BODY_LIMIT_BYTES,
		.bodies = &listener->bodies,
		.large_bodies = &listener->large_bodies,
		.waiting = &listener->waiting,
		.waiting_max = connections_of(options) / 2,
		.closing = &listener->stopping,
		.cutting = &listener->cutting,
		.caller = options->caller,
		.session = options->session,
		.idle_timeout_s = options->idle_timeout_s ? options->idle_timeout_s : IDLE_TIMEOUT_S,
		.secure = options->tls_key != NULL,
		.owner = options->owner,
		.ledger = options->ledger,
	};
	return listener;
}

static socklen_t address_bytes(const union address *address)
{
	return address->any.sa_family == AF_INET6 ? sizeof(address->v6) : sizeof(address->v4);
}

static bool socket_bind(int own, const struct listener_options *options, const union address *address)
{
	const char *device = options->device;
	const int on = 1;

	return setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	       (address->any.sa_family != AF_INET6 ||
		setsockopt(own, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) == 0) &&
	       (!options->borrowed || setsockopt(own, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on)) == 0) &&
	       (!device ||
		setsockopt(own, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device) + 1) == 0) &&
	       bind(own, &address->any, address_bytes(address)) == 0 && listen(own, SOMAXCONN) == 0;
}

/* Opens the listening socket; with a device in the options, only packets of that device reach it (no privilege is
 * needed since Linux 5.7). Returns -1 with errno, which libmicrohttpd 1.0 would lose if it opened the socket. */
static int socket_open(const struct listener_options *options, const union address *address)
{
	int own = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (own < 0 || socket_bind(own, options, address))
		return own;
	return fd_drop(own);
}

static bool listens(const struct listener_options *options)
{
	return !options->tls_key && !options->adopts_only;
}

/* One thread per connection, with poll: handlers may block, and delay only their own client. Modes with AUTO or
 * EPOLL and suspended connections are not used, because they lose clients in 0.9.75. */
static struct MHD_Daemon *daemon_start(struct listener *listener, const struct listener_options *options,
				       const union address *address)
{
	unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC |
			 MHD_USE_ERROR_LOG | (options->tls_key ? MHD_USE_TLS : 0) |
			 (listens(options) ? 0 : MHD_USE_NO_LISTEN_SOCKET);
	int own = listener->path_socket.fd;

	errno = 0;
	if (own < 0 && listens(options)) {
		own = socket_open(options, address);
		if (own < 0)
			return NULL;
	}
	listener->path_socket.fd = -1;
	struct MHD_OptionItem items[] = {
		/* First, so that errors in the other options are logged. */
		{ MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_complaint, listener },
		{ MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)unescape_nothing, NULL },
		{ MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, listener },
		{ MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, listener },
		{ MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, listener },
		/* libmicrohttpd counts connections that were cut until their threads end, so its own limit is higher
		 * than ours. */
		{ MHD_OPTION_CONNECTION_LIMIT, (intptr_t)2 * connections_of(options), NULL },
		{ MHD_OPTION_CONNECTION_TIMEOUT, listener->rules.idle_timeout_s, NULL },
		{ MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, NULL },
		{ MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_LIMIT_BYTES, NULL },
		/* Strict only from release 1.0 on: before, libmicrohttpd would then refuse requests with its own
		 * texts, which we refuse with ours. */
		{ MHD_OPTION_STRICT_FOR_CLIENT, library_is_strict(), NULL },
		{ options->tls_key ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0, (void *)options->tls_key },
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->tls_certificate },
		{ MHD_OPTION_END, 0, NULL },
	};

	/* libmicrohttpd owns the socket from here on, even if the start fails. */
	return MHD_start_daemon(flags, options->port, on_client, listener, on_request, listener,
				MHD_OPTION_ARRAY, items, own < 0 ? MHD_OPTION_END : MHD_OPTION_LISTEN_SOCKET,
				own, MHD_OPTION_END);
}

enum status listener_open(const struct listener_options *options, struct listener **ret_listener,
			  struct error *err)
{
	union address address = { .any = { .sa_family = AF_UNIX } };
	enum status rc;

	if (!options->path && !address_read(options, &address))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not an IP address",
				 options->address);
	AUTO(listener) struct listener *listener = listener_new(options);
	if (options->refused_network &&
	    !guard_network_read(options->refused_network, &listener->rules.guard.refused))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not an IPv4 network",
				 options->refused_network);
	rc = connections_open(&(struct connection_limits){ .most = connections_of(options),
							   .per_address = options->address_limit,
							   .head_ms = options->head_limit_ms,
							   .idle_ms = 1000 * listener->rules.idle_timeout_s },
			      &listener->connections, err);
	if (!rc && options->path)
		rc = path_socket_open(&listener->path_socket, options->path, err);
	if (rc)
		return rc;
	listener->daemon = daemon_start(listener, options, &address);
	if (!listener->daemon)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot listen on %s port %u%s%s: %s",
				 options->path ? options->path : options->address, options->port,
				 options->device ? " of device " : "", options->device ? options->device : "",
				 errno ? strerror(errno) : "no thread or socket is left");
	if (listens(options) && !options->path)
		listener->port = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	*ret_listener = TAKE(listener);
	return STATUS_OK;
}

void listener_adopt(struct listener *listener, int fd, const struct sockaddr *peer, size_t size)
{
	MHD_add_connection(listener->daemon, fd, peer, (socklen_t)size);
}

uint16_t listener_port(const struct listener *listener)
{
	return listener->port;
}

static struct timespec deadline_after(unsigned wait_ms)
{
	struct timespec deadline;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += wait_ms / 1000;
	deadline.tv_nsec += (long)(wait_ms % 1000) * 1000000;
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_nsec -= 1000000000;
		deadline.tv_sec++;
	}
	return deadline;
}

/* Stopping the daemon drops what is not sent yet, so running requests get their answers first. */
static void wait_idle(struct listener *listener, unsigned wait_ms)
{
	const struct timespec deadline = deadline_after(wait_ms);
	unsigned left;

	atomic_store(&listener->stopping, true);
	pthread_mutex_lock(&listener->lock);
	while (atomic_load(&listener->under_way))
		if (pthread_cond_timedwait(&listener->idle, &listener->lock, &deadline) == ETIMEDOUT)
			break;
	pthread_mutex_unlock(&listener->lock);
	left = atomic_load(&listener->under_way);
	if (left)
		log_event(LOG_WARNING, "http-close-late", "requests=%u", left);
}

void listener_close(struct listener *listener, unsigned wait_ms)
{
	MHD_socket quiet;

	if (!listener)
		return;
	quiet = MHD_quiesce_daemon(listener->daemon);
	path_socket_close(&listener->path_socket); /* early: a new listener can use the path already */
	wait_idle(listener, wait_ms);
	atomic_store(&listener->cutting, true);
	/* If libmicrohttpd refuses a request itself while it is stopping (a broken chunk, a long head), it assumes that
	 * its own answer is queued, and dereferences NULL. So no client may be connected then.
	 * Source: transmit_error_response_len() and MHD_queue_response() of 0.9.75; 1.0.0 has it right. */
	connections_drain(listener->connections);
	MHD_stop_daemon(listener->daemon);
	if (quiet != MHD_INVALID_SOCKET)
		close(quiet);
	listener_free(listener);
}

void listener_versions_write(struct text *text)
{
	text_printf(text, "libmicrohttpd %s, zlib %s", MHD_get_version(), zlibVersion());
}
