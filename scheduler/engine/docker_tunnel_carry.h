/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_tunnel_carry.h: the daemon's end of a tunnel: a connection of this machine for each one that a tunnel's
 * container accepts. Thread: the tunnel's. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct hijack;
struct sockaddr_in;
struct tunnel_carry;

struct tunnel_carry_options {
	struct hijack *stream; /* of the container's output and input; borrowed */
	int wake;              /* readable: enough */
	/* As connection_sink.take. */
	void (*take)(void *arg, uint16_t port, const struct sockaddr_in *peer, int fd);
	void *arg;
};

/* Waits for the container's greeting. UNAVAILABLE: it did not come. */
enum status tunnel_carry_open(const struct tunnel_carry_options *options, struct tunnel_carry **ret_carry,
			      struct error *err);
/* Carries until the stream breaks, which *err tells of as UNAVAILABLE, or @wake is readable: OK. Cuts all connections. */
enum status tunnel_carry_run(struct tunnel_carry *carry, struct error *err);
void tunnel_carry_close(struct tunnel_carry *carry);
