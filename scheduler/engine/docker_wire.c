/* SPDX-License-Identifier: Apache-2.0 */
/* Source: https://www.gnutls.org/manual (read 2026-11-26) */
#include "scheduler/engine/docker_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum { CONNECT_US = 10 * 1000 * 1000, SERVE_US = 5 * 1000 * 1000, US_PER_MS = 1000 };
/* TCP keepalive: a machine that does not answer any more is noticed after IDLE_S + PROBES * PROBE_S. Keepalive works
 * only on a connection on which nothing is being sent; the engine's stream of events is such a connection. Choice: no
 * TCP_USER_TIMEOUT, which would also end streams that are held up by a slow reader. */
enum { IDLE_S = 15, PROBE_S = 5, PROBES = 3 };

/* The state of a connection that is being made. */
struct opening {
	const struct endpoint_address *place;
	struct wire *wire;
	int near;
	int64_t until_us;
	char *problem;
	size_t problem_size;
};

static bool refuse(const struct opening *opening, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static bool refuse(const struct opening *opening, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(opening->problem, opening->problem_size, format, values);
	va_end(values);
	return false;
}

/* Waits for @events. Returns 0 if they came, ETIMEDOUT, or ECANCELED if the caller has closed its end. */
static int await(const struct opening *opening, short events)
{
	for (;;) {
		const int64_t left_us = opening->until_us - clock_mono_us(&system_clock);
		struct pollfd polled[] = { { opening->wire->fd, events, 0 }, { opening->near, 0, 0 } };
		int ready;

		if (left_us <= 0)
			return ETIMEDOUT;
		ready = poll(polled, 2, (int)(left_us / US_PER_MS) + 1);
		if (polled[1].revents & (POLLHUP | POLLERR))
			return ECANCELED;
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return errno;
	}
}

/* ---- TCP ---- */

void wire_socket_prepare(int fd)
{
	const int on = 1, idle_s = IDLE_S, interval_s = PROBE_S, probes = PROBES;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static int address_connect(const struct opening *opening, const struct addrinfo *address)
{
	struct wire *wire = opening->wire;
	int problem = 0;
	socklen_t size = sizeof(problem);

	wire->fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (wire->fd < 0)
		return errno;
	if (connect(wire->fd, address->ai_addr, address->ai_addrlen) != 0)
		problem = errno;
	if (problem == EINPROGRESS) {
		problem = await(opening, POLLOUT);
		if (!problem && getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &problem, &size) != 0)
			problem = errno;
	}
	if (problem) {
		close(wire->fd);
		wire->fd = -1;
		return problem;
	}
	wire_socket_prepare(wire->fd);
	return 0;
}

static const char *refusal_hint(int problem)
{
	switch (problem) {
	case ECONNREFUSED:
		return ": no engine listens there; `dockerd -H tcp://…` makes one listen, with TLS on port 2376";
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return ": is that machine on, and does its firewall let this one in?";
	default:
		return "";
	}
}

static bool tcp_open(const struct opening *opening)
{
	const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *addresses = NULL;
	const int code = getaddrinfo(opening->place->host, opening->place->port, &wanted, &addresses);
	int problem = EADDRNOTAVAIL;

	if (code)
		return refuse(opening, "no address is known for the host %s: %s", opening->place->host,
			      code == EAI_SYSTEM ? strerrordesc_np(errno) : gai_strerror(code));
	for (const struct addrinfo *address = addresses; address && problem && problem != ECANCELED;
	     address = address->ai_next)
		problem = address_connect(opening, address);
	freeaddrinfo(addresses);
	return !problem || refuse(opening, "%s%s", strerrordesc_np(problem), refusal_hint(problem));
}

/* ---- TLS ---- */

static char *file_of(const struct endpoint_address *place, const char *name)
{
	AUTO(string)
	char *path = place->certificates ? memory_printf("%s/%s", place->certificates, name) : NULL;

	return path && access(path, F_OK) == 0 ? TAKE(path) : NULL;
}

/* Whether the connection is between a daemon and an agent; this process may be either. */
static bool is_of_swarm(const struct opening *opening)
{
	return !opening->place || opening->place->kind == ENDPOINT_AGENT;
}

/* Loads the TLS files as Docker's client does: a missing file is not used; without ca.pem the system's authorities
 * are trusted. */
static bool files_load(const struct opening *opening)
{
	AUTO(string) char *authority = file_of(opening->place, "ca.pem");
	AUTO(string) char *certificate = file_of(opening->place, "cert.pem");
	AUTO(string) char *key = file_of(opening->place, "key.pem");
	const struct wire *wire = opening->wire;
	int code;

	if (opening->place->verifies) {
		code = authority ? gnutls_certificate_set_x509_trust_file(wire->credentials, authority,
									  GNUTLS_X509_FMT_PEM)
				 : gnutls_certificate_set_x509_system_trust(wire->credentials);
		if (code < 0)
			return refuse(opening, "TLS: %s cannot be used: %s",
				      authority ? authority : "the system's list of authorities",
				      gnutls_strerror(code));
	}
	if (!certificate || !key)
		return true;
	code = gnutls_certificate_set_x509_key_file(wire->credentials, certificate, key, GNUTLS_X509_FMT_PEM);
	return code >= 0 || refuse(opening, "TLS: %s and %s cannot be used: %s", certificate, key,
				   gnutls_strerror(code));
}

static bool keys_load(const struct opening *opening, const struct wire_keys *keys)
{
	const gnutls_datum_t trusted = { (unsigned char *)keys->trusted, (unsigned)strlen(keys->trusted) };
	const gnutls_datum_t certificate = { (unsigned char *)keys->certificate,
					     (unsigned)strlen(keys->certificate) };
	const gnutls_datum_t key = { (unsigned char *)keys->key, (unsigned)strlen(keys->key) };
	int code = gnutls_certificate_set_x509_trust_mem(opening->wire->credentials, &trusted,
							 GNUTLS_X509_FMT_PEM);

	if (code >= 0)
		code = gnutls_certificate_set_x509_key_mem(opening->wire->credentials, &certificate, &key,
							   GNUTLS_X509_FMT_PEM);
	return code >= 0 || refuse(opening, "TLS: the keys of the swarm cannot be used: %s", gnutls_strerror(code));
}

/* Reports why the peer's certificate is not trusted, in GnuTLS's words. Returns false. */
static bool distrust_report(const struct opening *opening)
{
	gnutls_datum_t words = { 0 };
	const unsigned found = gnutls_session_get_verify_cert_status(opening->wire->tls);

	gnutls_certificate_verification_status_print(found, GNUTLS_CRT_X509, &words, 0);
	if (is_of_swarm(opening))
		refuse(opening, "the other end does not have the swarm's keys: %s",
		       words.data ? (const char *)words.data : "");
	else
		refuse(opening,
		       "the engine's certificate is not trusted for the host %s: %sDOCKER_CERT_PATH names the "
		       "directory of ca.pem (now: %s)",
		       opening->place->host, words.data ? (const char *)words.data : "",
		       opening->place->certificates ? opening->place->certificates : "none");
	gnutls_free(words.data);
	return false;
}

static bool handshake(const struct opening *opening)
{
	gnutls_session_t tls = opening->wire->tls;
	int code, problem;

	while ((code = gnutls_handshake(tls)) < 0) {
		if (code == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
			return distrust_report(opening);
		if (is_of_swarm(opening) && gnutls_error_is_fatal(code))
			return refuse(opening, "the agent of the node does not answer: TLS: %s",
				      gnutls_strerror(code));
		if (code == GNUTLS_E_UNEXPECTED_PACKET_LENGTH || code == GNUTLS_E_UNEXPECTED_PACKET ||
		    code == GNUTLS_E_UNSUPPORTED_VERSION_PACKET)
			return refuse(opening, "it does not speak TLS there: unset DOCKER_TLS_VERIFY and "
					       "DOCKER_CERT_PATH, or name the port of TLS (2376)");
		if (gnutls_error_is_fatal(code))
			return refuse(opening, "TLS: %s", gnutls_strerror(code));
		problem = code == GNUTLS_E_AGAIN
				  ? await(opening, gnutls_record_get_direction(tls) ? POLLOUT : POLLIN)
				  : 0;
		if (problem)
			return refuse(opening, "TLS: %s", strerrordesc_np(problem));
	}
	return true;
}

/* Prepares a TLS session. @keys NULL: uses the files in the endpoint's directory. */
static bool tls_prepare(const struct opening *opening, unsigned flags, const struct wire_keys *keys)
{
	struct wire *wire = opening->wire;
	int code = gnutls_certificate_allocate_credentials(&wire->credentials);

	if (code < 0) {
		wire->credentials = NULL;
		return refuse(opening, "TLS: %s", gnutls_strerror(code));
	}
	if (keys ? !keys_load(opening, keys) : !files_load(opening))
		return false;
	code = gnutls_init(&wire->tls, flags | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
	if (code < 0) {
		wire->tls = NULL;
		return refuse(opening, "TLS: %s", gnutls_strerror(code));
	}
	gnutls_transport_set_int(wire->tls, wire->fd);
	code = gnutls_set_default_priority(wire->tls);
	if (code >= 0)
		code = gnutls_credentials_set(wire->tls, GNUTLS_CRD_CERTIFICATE, wire->credentials);
	return code >= 0 || refuse(opening, "TLS: %s", gnutls_strerror(code));
}

static bool tls_open(const struct opening *opening)
{
	const char *host = opening->place->host;
	const struct wire *wire = opening->wire;
	struct in6_addr address;

	if (!tls_prepare(opening, GNUTLS_CLIENT, NULL))
		return false;
	if (inet_pton(AF_INET, host, &address) != 1 && inet_pton(AF_INET6, host, &address) != 1 &&
	    gnutls_server_name_set(wire->tls, GNUTLS_NAME_DNS, host, strlen(host)) < 0)
		return refuse(opening, "TLS: the host's name cannot be used");
	if (opening->place->verifies)
		gnutls_session_set_verify_cert(wire->tls, host, 0);
	return handshake(opening);
}

/* Connects to an agent. Only the certificate in the dialer's keys is trusted; the name in it does not matter. */
static bool agent_open(const struct opening *opening)
{
	const struct endpoint_dialer *dialer = &opening->place->dialer;
	struct wire_keys keys = { 0 };
	bool opened;

	opening->wire->fd = dialer->dial(dialer->arg, &keys, opening->problem, opening->problem_size);
	opening->wire->is_agents = true;
	opened = opening->wire->fd >= 0 && tls_prepare(opening, GNUTLS_CLIENT, &keys);
	wire_keys_deinit(&keys);
	if (!opened)
		return false;
	gnutls_session_set_verify_cert(opening->wire->tls, NULL, 0);
	return handshake(opening);
}

/* ---- opening and closing ---- */

bool wire_open(const struct endpoint_address *place, int near, struct wire *ret_wire, char *problem,
	       size_t problem_size)
{
	const struct opening opening = { .place = place,
					 .wire = ret_wire,
					 .near = near,
					 .until_us = clock_mono_us(&system_clock) + CONNECT_US,
					 .problem = problem,
					 .problem_size = problem_size };

	*ret_wire = (struct wire){ .fd = -1 };
	*problem = '\0';
	if (place->kind == ENDPOINT_AGENT)
		return agent_open(&opening);
	return tcp_open(&opening) && (place->kind != ENDPOINT_TLS || tls_open(&opening));
}

bool wire_serve(int fd, const struct wire_keys *keys, struct wire *ret_wire, char *problem, size_t problem_size)
{
	const struct opening opening = { .wire = ret_wire,
					 .near = -1,
					 .until_us = clock_mono_us(&system_clock) + SERVE_US,
					 .problem = problem,
					 .problem_size = problem_size };

	*ret_wire = (struct wire){ .fd = fd };
	*problem = '\0';
	if (!tls_prepare(&opening, GNUTLS_SERVER, keys))
		return false;
	gnutls_certificate_server_set_request(ret_wire->tls, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_verify_cert(ret_wire->tls, NULL, 0);
	return handshake(&opening);
}

void wire_close(struct wire *wire)
{
	if (wire->tls)
		gnutls_deinit(wire->tls);
	if (wire->credentials)
		gnutls_certificate_free_credentials(wire->credentials);
	if (wire->fd >= 0)
		close(wire->fd);
}

/* ---- bytes ---- */

static ssize_t result_of(const struct wire *wire, ssize_t result)
{
	if (result >= 0)
		return result;
	if (!wire->tls)
		return errno == EAGAIN || errno == EINTR ? WIRE_AGAIN : WIRE_BROKEN;
	return gnutls_error_is_fatal((int)result) || result == GNUTLS_E_REHANDSHAKE ? WIRE_BROKEN : WIRE_AGAIN;
}

/* Writes why the connection broke. An engine that does not accept the client's certificate reports it after the
 * handshake, by an alert. */
static void break_report(struct wire *wire, ssize_t result, char *problem, size_t problem_size)
{
	if (wire->is_agents)
		snprintf(problem, problem_size,
			 "the agent of the node refuses the connection: %s; `trainyard swarm down` and `swarm up` make "
			 "new keys",
			 wire->tls ? gnutls_strerror((int)result) : strerrordesc_np(errno));
	else if (wire->tls && result == GNUTLS_E_FATAL_ALERT_RECEIVED)
		snprintf(problem, problem_size,
			 "the engine refuses the connection: TLS: %s; DOCKER_CERT_PATH names the directory of "
			 "cert.pem and key.pem, which its authority has to have signed",
			 gnutls_alert_get_name(gnutls_alert_get(wire->tls)));
	else
		snprintf(problem, problem_size, "%s",
			 wire->tls ? gnutls_strerror((int)result) : strerrordesc_np(errno));
}

ssize_t wire_receive(struct wire *wire, char *data, size_t size, char *problem, size_t problem_size)
{
	const ssize_t result = wire->tls ? gnutls_record_recv(wire->tls, data, size)
					 : recv(wire->fd, data, size, MSG_DONTWAIT);
	const ssize_t reported = result_of(wire, result);

	/* Servers written in Go end a connection without the alert that TLS requires: this is a normal end. */
	if (wire->tls && result == GNUTLS_E_PREMATURE_TERMINATION)
		return 0;
	if (reported == WIRE_BROKEN)
		break_report(wire, result, problem, problem_size);
	return reported;
}

ssize_t wire_send(struct wire *wire, const char *data, size_t length)
{
	return result_of(wire, wire->tls ? gnutls_record_send(wire->tls, data, length)
					 : send(wire->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void wire_end_sending(struct wire *wire)
{
	if (wire->tls)
		gnutls_bye(wire->tls, GNUTLS_SHUT_WR);
	else
		shutdown(wire->fd, SHUT_WR);
}

static bool wire_holds_bytes(const struct wire *wire)
{
	return wire->tls && gnutls_record_check_pending(wire->tls) > 0;
}

/* ---- passing bytes between a wire and a descriptor ---- */

enum { FLOW_BYTES = 32 * 1024 };

/* The bytes of one direction. New ones are received only after all earlier ones were sent, because GnuTLS requires
 * that a send that failed is repeated with the same bytes. */
struct flow {
	struct wire *from_wire, *to_wire;
	char data[FLOW_BYTES];
	size_t from, to;
	bool heard, ended; /* heard: bytes have been received; ended: no more bytes come */
};

static bool flow_is_empty(const struct flow *flow)
{
	return flow->from == flow->to;
}

enum movement { MOVED, SOURCE_BROKE, SINK_BROKE };

/* Receives and sends as much as possible without waiting. MOVED also if nothing could be moved. */
static enum movement flow_move(struct flow *flow, bool *moved, char *why, size_t why_size)
{
	ssize_t count;

	if (flow_is_empty(flow) && !flow->ended) {
		count = wire_receive(flow->from_wire, flow->data, sizeof(flow->data), why, why_size);
		if (count == WIRE_BROKEN)
			return SOURCE_BROKE;
		flow->from = 0;
		flow->to = count > 0 ? (size_t)count : 0;
		flow->heard |= count > 0;
		flow->ended = count == 0;
		*moved |= count >= 0;
		if (flow->ended)
			wire_end_sending(flow->to_wire);
	}
	while (!flow_is_empty(flow)) {
		count = wire_send(flow->to_wire, flow->data + flow->from, flow->to - flow->from);
		if (count < 0)
			return count == WIRE_AGAIN ? MOVED : SINK_BROKE;
		flow->from += (size_t)count;
		*moved = true;
	}
	return MOVED;
}

/* Moves bytes from the client to the engine. An engine may answer an upload and close before it has received all of it:
 * the rest is then dropped. False: the client's end broke. */
static bool out_move(struct flow *out, bool *moved)
{
	char ignored[ENDPOINT_PROBLEM_SIZE] = "";
	const enum movement movement = flow_move(out, moved, ignored, sizeof(ignored));

	if (movement == SINK_BROKE) {
		out->from = out->to;
		out->ended = true;
	}
	return movement != SOURCE_BROKE;
}

/* Waits until bytes can be moved. False: the client has closed its connection, so nothing is left to do.
 * poll() reports a socket's end even if no events are requested for the socket. So the engine's socket is left out if
 * no events are requested for it: its end is received after all bytes before the end were sent. */
static bool carry_wait(const struct flow *out, const struct flow *in)
{
	struct pollfd polled[] = { { out->from_wire->fd, 0, 0 }, { in->from_wire->fd, 0, 0 } };
	bool is_ready = false;

	if (!flow_is_empty(out))
		polled[1].events |= POLLOUT;
	else if (!out->ended && wire_holds_bytes(out->from_wire))
		is_ready = true;
	else if (!out->ended)
		polled[0].events |= POLLIN;
	if (!flow_is_empty(in))
		polled[0].events |= POLLOUT;
	else if (wire_holds_bytes(in->from_wire))
		is_ready = true;
	else
		polled[1].events |= POLLIN;
	if (is_ready)
		return true;
	if (!polled[1].events)
		polled[1].fd = -1;
	if (poll(polled, 2, -1) < 0)
		return errno == EINTR;
	return !(polled[0].revents & (POLLHUP | POLLERR)) || (polled[0].revents & POLLIN);
}

void wire_carry(struct wire *client, struct wire *engine, char *why, size_t why_size)
{
	AUTO(string) char *memory = memory_calloc(2, sizeof(struct flow));
	struct flow *out = (struct flow *)(void *)memory, *in = out + 1;
	char ignored[ENDPOINT_PROBLEM_SIZE] = "";
	bool moved, goes_on = true;

	out->from_wire = in->to_wire = client;
	out->to_wire = in->from_wire = engine;
	*why = '\0';
	do {
		do {
			moved = false;
			goes_on = out_move(out, &moved) &&
				  flow_move(in, &moved, in->heard ? ignored : why,
					    in->heard ? sizeof(ignored) : why_size) == MOVED;
		} while (goes_on && moved && !(in->ended && flow_is_empty(in)));
		goes_on = goes_on && !(in->ended && flow_is_empty(in));
	} while (goes_on && carry_wait(out, in));
}

/* ---- keys ---- */

static char *key_read(const json_t *from, const char *name)
{
	const char *pem = json_text_at(from, name);

	return pem && *pem ? memory_strdup(pem) : NULL;
}

bool wire_keys_read(const char *text, size_t length, struct wire_keys *ret_keys)
{
	AUTO(json) json_t *from = json_loadb(text, length, 0, NULL);
	struct wire_keys keys = { .trusted = key_read(from, "trusted"),
				  .certificate = key_read(from, "certificate"),
				  .key = key_read(from, "key") };

	if (keys.trusted && keys.certificate && keys.key) {
		*ret_keys = keys;
		return true;
	}
	wire_keys_deinit(&keys);
	return false;
}

void wire_keys_deinit(struct wire_keys *keys)
{
	if (keys->key)
		sodium_memzero(keys->key, strlen(keys->key));
	free(keys->trusted);
	free(keys->certificate);
	free(keys->key);
	*keys = (struct wire_keys){ 0 };
}
