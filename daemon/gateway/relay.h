/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/relay.h: forwards TCP connections to a server that containers cannot reach themselves, for example an
 * emulator of Cloud Storage on this machine's loopback. The contents are not examined. One thread. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/base/device_socket.h"
#include "daemon/base/error.h"

struct relay;

struct relay_options {
	const char *device; /* NULL or "": any */
	uint32_t address;   /* host byte order */
	uint16_t port;      /* 0: any free one */
	bool is_carried;    /* the relay does not listen: connections come by relay_put() */
	struct device_peers peers;
	struct sockaddr_storage to;
	socklen_t to_size;
};

/* Sets the target in @options from "http://HOST:PORT". Calls the resolver, which may take seconds. UNAVAILABLE: the name
 * cannot be resolved. */
enum status relay_target_resolve(const char *url, struct relay_options *options, struct error *err);
/* Begins to listen. UNAVAILABLE: the port cannot be bound. */
enum status relay_open(const struct relay_options *options, struct relay **ret_relay, struct error *err);
/* Passes on a connection, only with is_carried. Takes ownership of @fd. Thread: any. */
void relay_put(struct relay *relay, const struct sockaddr_in *peer, int fd);
uint16_t relay_port(const struct relay *relay);
/* Cuts forwarded connections. NULL is harmless. */
void relay_close(struct relay *relay);
