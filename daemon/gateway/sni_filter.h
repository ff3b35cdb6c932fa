/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/sni_filter.h: where the cloud's hosts lead inside a job: a server that listens to whom its clients call, hands
 * over the connections of those that are served here, and turns the others away with a TLS alert and tells it. One
 * thread. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/device_socket.h"
#include "daemon/base/error.h"

struct client_hello;
struct sockaddr_in;
struct sni_filter;

struct sni_filter_options {
	const char *device; /* NULL or "": any */
	uint32_t address;   /* host byte order */
	uint16_t port;      /* 443 where it matters; 0: any free one */
	struct device_peers peers;
	unsigned patience_ms; /* for a client's first words */
	/* True: the host of @hello is served here, and the connection, of which nothing was read, is taken over. NULL: none is. Thread:
	 * the sni_filter's, as below. Must not block. */
	bool (*serve)(void *arg, const struct client_hello *hello, int fd, const struct sockaddr_in *peer);
	/* Somebody was turned away who called @host; "": one who did not say whom. NULL: nobody cares. */
	void (*tried)(void *arg, const char *host);
	void *arg;
};

/* UNAVAILABLE: it cannot listen there. */
enum status sni_filter_open(const struct sni_filter_options *options, struct sni_filter **ret_tripwire,
			    struct error *err);
uint16_t sni_filter_port(const struct sni_filter *sni_filter);
/* tried() is not called any more when it returns. NULL is harmless. */
void sni_filter_close(struct sni_filter *sni_filter);
