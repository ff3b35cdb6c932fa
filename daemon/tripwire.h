/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/tripwire.h: where the cloud's hosts lead inside a job: a server that listens to whom its clients call, hands
 * over the connections of those that are served here, and turns the others away with a TLS alert and tells it. One
 * thread. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/device_socket.h"

struct client_hello;
struct sockaddr_in;
struct tripwire;

struct tripwire_options {
	const char *device; /* NULL: any */
	uint32_t address;   /* host byte order */
	uint16_t port;      /* 443 where it matters; 0: any free one */
	struct device_peers peers;
	unsigned patience_ms; /* for a client's first words */
	/* True: the host of @hello is served here, and the connection, of which nothing was read, is taken over. NULL: none is. Thread:
	 * the tripwire's, as below. Must not block. */
	bool (*serve)(void *arg, const struct client_hello *hello, int fd, const struct sockaddr_in *peer);
	/* Somebody was turned away who called @host; "": one who did not say whom. NULL: nobody cares. */
	void (*tried)(void *arg, const char *host);
	void *arg;
};

/* UNAVAILABLE: it cannot listen there. */
enum status tripwire_open(const struct tripwire_options *options, struct tripwire **ret_tripwire,
			  struct error *err);
uint16_t tripwire_port(const struct tripwire *tripwire);
/* tried() is not called any more when it returns. NULL is harmless. */
void tripwire_close(struct tripwire *tripwire);
