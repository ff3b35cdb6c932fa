/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"

enum { US_PER_S = 1000000, US_PER_MS = 1000, ROOM_PART = 8, STACK_BYTES = 64 << 10 };
enum { ARRIVAL_US = US_PER_S }; /* the two callbacks about one new connection are less than this apart */

enum phase { PHASE_HEAD, PHASE_BODY, PHASE_ANSWER, PHASE_IDLE };

struct connection {
	struct connection *next, **at;
	const struct connections *owner;
	int fd;
	unsigned char key[ADDRESS_KEY_BYTES]; /* all zeros: not counted */
	bool cut;                             /* it was cut off; guarded by the lock */
	atomic_int phase;
	atomic_bool unknown;         /* its client must authenticate, but has not yet */
	_Atomic int64_t since_us;    /* when the present phase began; monotonic */
	_Atomic int64_t deadline_us; /* when the connection is cut; monotonic; 0: never */
	int64_t patience_us;         /* time left for the body; only its own thread uses it */
	struct exchange *exchange;   /* only its own thread uses it */
};

struct connections {
	struct connection_limits limits;
	pthread_t reaper;
	bool hurries; /* the reaper thread runs */
	pthread_mutex_t lock;
	pthread_cond_t changed, left; /* left: signalled when a connection ends, while draining */
	bool closing, draining;
	struct connection *first;
	unsigned count; /* without those that were cut */
	unsigned
		arriving; /* admitted but not begun: libmicrohttpd begins them at once, or never if it is out of memory */
};

static int64_t now_us(void)
{
	return clock_mono_us(&system_clock);
}

/* ---- cutting: all with the lock held ---- */

/* Writes a 408 to the socket. The connection's own thread does not write now, because it waits for the rest of a head. */
static void timeout_say(const struct connection *connection)
{
	static const char answer[] =
		"HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json; charset=UTF-8\r\n"
		"Connection: close\r\nContent-Length: 100\r\n\r\n"
		"{\"error\":{\"code\":408,\"message\":\"The request did not arrive in time.\",\"status\":"
		"\"DEADLINE_EXCEEDED\"}}\n";

	send(connection->fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void connection_cut(struct connections *connections, struct connection *connection, const char *why)
{
	const int phase = atomic_load(&connection->phase);

	if (phase == PHASE_HEAD)
		timeout_say(connection);
	shutdown(connection->fd, SHUT_RDWR);
	connection->cut = true;
	connections->count--;
	log_event(LOG_DEBUG, "connection-cut", "reason=%s", why);
}

/* Cuts the connections that are past their deadlines. Returns the next deadline; INT64_MAX: there is none. */
static int64_t late_cut(struct connections *connections)
{
	const int64_t now = now_us();
	int64_t next = INT64_MAX;

	for (struct connection *each = connections->first; each; each = each->next) {
		const int64_t deadline = atomic_load(&each->deadline_us);

		if (each->cut || deadline == 0)
			continue;
		if (deadline <= now)
			connection_cut(connections, each, "late");
		else if (deadline < next)
			next = deadline;
	}
	return next;
}

/* Whether the daemon waits for the client, so that the connection may be cut. While a request's head is expected, it
 * does not wait if bytes have arrived that were not read yet. Later, every client that has not authenticated counts as
 * waited for, because its body will not be used, and no other client does. */
static bool is_awaited(const struct connection *connection)
{
	const int phase = atomic_load(&connection->phase);
	int unread = 0;

	if (phase != PHASE_HEAD && phase != PHASE_IDLE)
		return !connection->cut && atomic_load(&connection->unknown);
	return !connection->cut && (ioctl(connection->fd, FIONREAD, &unread) != 0 || unread == 0);
}

/* Makes room for a new connection: cuts the connection that was silent longest while the daemon waits for its client,
 * which can send its request again. The newest connection is spared, as it has had no time to send anything. */
static void room_make(struct connections *connections)
{
	struct connection *oldest = NULL;

	for (struct connection *each = connections->first->next; each; each = each->next)
		if ((!oldest || atomic_load(&each->since_us) <= atomic_load(&oldest->since_us)) &&
		    is_awaited(each))
			oldest = each;
	if (oldest)
		connection_cut(connections, oldest, "room");
}

/* ---- the reaper ---- */

static struct timespec timespec_of(int64_t us)
{
	return (struct timespec){ .tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000 };
}

/* Looks at least every head_ms. New deadlines are at least that far ahead, so none is missed although setting one does not
 * wake this thread. */
static void *reaper_main(void *arg)
{
	struct connections *connections = arg;

	pthread_mutex_lock(&connections->lock);
	while (!connections->closing) {
		const int64_t latest = now_us() + (int64_t)connections->limits.head_ms * US_PER_MS;
		const int64_t next = late_cut(connections);

		if (connections->first) {
			const struct timespec wake = timespec_of(next < latest ? next : latest);

			pthread_cond_timedwait(&connections->changed, &connections->lock, &wake);
		} else {
			pthread_cond_wait(&connections->changed, &connections->lock);
		}
	}
	pthread_mutex_unlock(&connections->lock);
	return NULL;
}

static enum status reaper_start(struct connections *connections, struct error *err)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	connections->hurries =
		pthread_create(&connections->reaper, &attributes, reaper_main, connections) == 0;
	pthread_attr_destroy(&attributes);
	return connections->hurries ? STATUS_OK
				    : error_set(err, STATUS_UNAVAILABLE, NULL, "cannot start a thread");
}

/* ---- the table ---- */

static void locks_init(struct connections *connections)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&connections->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&connections->changed, &attributes);
	pthread_cond_init(&connections->left, &attributes);
	pthread_condattr_destroy(&attributes);
}

enum status connections_open(const struct connection_limits *limits, struct connections **ret_connections,
			     struct error *err)
{
	struct connections *connections = memory_calloc(1, sizeof(*connections));
	enum status rc = STATUS_OK;

	connections->limits = *limits;
	locks_init(connections);
	if (limits->head_ms)
		rc = reaper_start(connections, err);
	if (rc)
		connections_close(connections);
	else
		*ret_connections = connections;
	return rc;
}

void connections_close(struct connections *connections)
{
	if (!connections)
		return;
	pthread_mutex_lock(&connections->lock);
	connections->closing = true;
	pthread_cond_broadcast(&connections->changed);
	pthread_mutex_unlock(&connections->lock);
	if (connections->hurries)
		pthread_join(connections->reaper, NULL);
	pthread_cond_destroy(&connections->left);
	pthread_cond_destroy(&connections->changed);
	pthread_mutex_destroy(&connections->lock);
	free(connections);
}

void address_key_make(const struct sockaddr *address, unsigned char key[ADDRESS_KEY_BYTES])
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	memset(key, 0, ADDRESS_KEY_BYTES);
	if (address && address->sa_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		if (ntohl(v4.sin_addr.s_addr) >> 24 == 127)
			return;
		memset(key + 10, 0xff, 2);
		memcpy(key + 12, &v4.sin_addr, 4);
	} else if (address && address->sa_family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		if (!IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr))
			memcpy(key, &v6.sin6_addr, 8);
	}
}

bool address_key_counts(const unsigned char key[ADDRESS_KEY_BYTES])
{
	static const unsigned char zeros[ADDRESS_KEY_BYTES];

	return memcmp(key, zeros, ADDRESS_KEY_BYTES) != 0;
}

bool connections_admit(struct connections *connections, const struct sockaddr *address, size_t size)
{
	unsigned char key[ADDRESS_KEY_BYTES];
	unsigned count = 0;

	bool admitted;

	address_key_make(size ? address : NULL, key);
	pthread_mutex_lock(&connections->lock);
	if (connections->limits.per_address && address_key_counts(key))
		for (const struct connection *each = connections->first; each; each = each->next)
			count += memcmp(each->key, key, ADDRESS_KEY_BYTES) == 0;
	admitted = !connections->draining && connections->count < connections->limits.most &&
		   (count == 0 || count < connections->limits.per_address);
	connections->arriving += admitted;
	pthread_mutex_unlock(&connections->lock);
	return admitted;
}

static void deadline_set(struct connection *connection, enum phase phase, int64_t after_us)
{
	const int64_t now = now_us();

	atomic_store(&connection->since_us, now);
	atomic_store(&connection->phase, phase);
	atomic_store(&connection->deadline_us, after_us ? now + after_us : 0);
}

static int64_t head_us(const struct connection *connection)
{
	return (int64_t)connection->owner->limits.head_ms * US_PER_MS;
}

static int64_t idle_us(const struct connection *connection)
{
	return (int64_t)connection->owner->limits.idle_ms * US_PER_MS;
}

static void arrival_over(struct connections *connections)
{
	connections->arriving -= connections->arriving > 0;
	if (connections->draining)
		pthread_cond_signal(&connections->left);
}

struct connection *connection_begin(struct connections *connections, int fd, const struct sockaddr *address)
{
	struct connection *connection = memory_calloc(1, sizeof(*connection));

	connection->owner = connections;
	connection->fd = fd;
	address_key_make(address, connection->key);
	deadline_set(connection, PHASE_HEAD, head_us(connection));
	pthread_mutex_lock(&connections->lock);
	connection->next = connections->first;
	connection->at = &connections->first;
	if (connection->next)
		connection->next->at = &connection->next;
	else
		pthread_cond_signal(&connections->changed);
	connections->first = connection;
	connections->count++;
	arrival_over(connections);
	if (connections->draining)
		shutdown(fd, SHUT_RDWR);
	if (connections->limits.head_ms &&
	    connections->count > connections->limits.most - connections->limits.most / ROOM_PART)
		room_make(connections);
	pthread_mutex_unlock(&connections->lock);
	return connection;
}

void connection_end(struct connections *connections, struct connection *connection)
{
	pthread_mutex_lock(&connections->lock);
	*connection->at = connection->next;
	if (connection->next)
		connection->next->at = connection->at;
	connections->count -= !connection->cut;
	if (connections->draining)
		pthread_cond_signal(&connections->left);
	pthread_mutex_unlock(&connections->lock);
	free(connection);
}

void connections_drain(struct connections *connections)
{
	const struct timespec until = timespec_of(now_us() + ARRIVAL_US);

	pthread_mutex_lock(&connections->lock);
	connections->draining = true;
	for (struct connection *each = connections->first; each; each = each->next)
		shutdown(each->fd, SHUT_RDWR);
	while (connections->arriving &&
	       pthread_cond_timedwait(&connections->left, &connections->lock, &until) == 0)
		;
	while (connections->first)
		pthread_cond_wait(&connections->left, &connections->lock);
	pthread_mutex_unlock(&connections->lock);
}

struct exchange *connection_exchange(const struct connection *connection)
{
	return connection->exchange;
}

void connection_hold(struct connection *connection, struct exchange *exchange)
{
	connection->exchange = exchange;
}

void connection_head_begins(struct connection *connection)
{
	if (atomic_load(&connection->phase) == PHASE_IDLE)
		deadline_set(connection, PHASE_HEAD, head_us(connection));
}

void connection_known(struct connection *connection, bool known)
{
	atomic_store(&connection->unknown, !known);
}

void connection_body_begins(struct connection *connection)
{
	connection->patience_us = head_us(connection);
	deadline_set(connection, PHASE_BODY, connection->patience_us);
}

void connection_busy(struct connection *connection)
{
	const int64_t deadline = atomic_exchange(&connection->deadline_us, 0);

	atomic_store(&connection->phase, PHASE_ANSWER);
	if (deadline)
		connection->patience_us = deadline - now_us();
}

void connection_received(struct connection *connection, size_t bytes)
{
	int64_t most;

	if (!head_us(connection))
		return;
	most = idle_us(connection) > head_us(connection) ? idle_us(connection) : head_us(connection);
	connection->patience_us += (int64_t)(bytes * US_PER_S / BODY_BYTES_PER_S);
	if (connection->patience_us > most)
		connection->patience_us = most;
	deadline_set(connection, PHASE_BODY, connection->patience_us > 0 ? connection->patience_us : 1);
}

void connection_request_over(struct connection *connection)
{
	deadline_set(connection, PHASE_IDLE,
		     head_us(connection) ? idle_us(connection) + head_us(connection) : 0);
}
