/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/host_filter.h: the server at the address that the cloud's hosts resolve to inside a job: reads which
 * host each client calls, passes on connections to hosts that are served here, and refuses and reports the others. One
 * thread. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/client_hello.h"
#include "daemon/base/device_socket.h"
#include "daemon/base/error.h"

struct sockaddr_in;
struct host_filter;

/* A protocol by which clients name the host that they call, and the refusal that they get. */
struct host_protocol {
	enum hello (*read)(const uint8_t *data, size_t length, struct client_hello *ret_hello);
	const void *refusal;
	size_t refusal_bytes;
	/* True: serve() is also called, with the name "", for clients that name no host, have left, or have sent
	 * nothing. */
	bool serves_unnamed;
};

/* TLS. A refused client gets a TLS alert, which programs show as "access denied". */
extern const struct host_protocol host_protocol_tls;
/* HTTP/1 without TLS. A refused client gets the status 403. */
extern const struct host_protocol host_protocol_plain;

struct host_filter_options {
	const struct host_protocol *protocol;
	const char *device; /* NULL or "": any */
	uint32_t address;   /* host byte order */
	uint16_t port;      /* 443 or 80 for containers; 0: any free port */
	bool is_carried;    /* the filter does not listen: connections come by host_filter_put() */
	struct device_peers peers;
	unsigned patience_ms; /* limit for the client's first bytes */
	/* Returns true if the host of @hello is served here: serve() then owns @fd, of which nothing was read. NULL: no
	 * host is served. Thread: the filter's. Must not wait; some milliseconds of work are fine. */
	bool (*serve)(void *arg, const struct client_hello *hello, int fd, const struct sockaddr_in *peer);
	/* Called after a connection to @host was refused; "": the client named no host. NULL: refusals are not reported. */
	void (*tried)(void *arg, const char *host);
	void *arg;
};

/* Begins to listen. UNAVAILABLE: the port cannot be bound. */
enum status host_filter_open(const struct host_filter_options *options, struct host_filter **ret_host_filter,
			     struct error *err);
/* Passes on a connection, only with is_carried. Takes ownership of @fd. Thread: any. */
void host_filter_put(struct host_filter *host_filter, const struct sockaddr_in *peer, int fd);
uint16_t host_filter_port(const struct host_filter *host_filter);
/* tried() is not called after this has returned. NULL is harmless. */
void host_filter_close(struct host_filter *host_filter);
