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
	bool is_carried;    /* it listens nowhere: connections come by relay_put() */
	struct device_peers peers;
	struct sockaddr_storage to;
	socklen_t to_size;
};

/* Resolves "http://HOST:PORT" of the configuration. UNAVAILABLE: the name cannot be resolved. Calls the resolver. */
enum status relay_target_resolve(const char *url, struct relay_options *options, struct error *err);
/* UNAVAILABLE: the port cannot be bound. */
enum status relay_open(const struct relay_options *options, struct relay **ret_relay, struct error *err);
/* @fd is the relay's. Thread: any. */
void relay_put(struct relay *relay, const struct sockaddr_in *peer, int fd);
uint16_t relay_port(const struct relay *relay);
/* Cuts forwarded connections. NULL is harmless. */
void relay_close(struct relay *relay);
