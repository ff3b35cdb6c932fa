/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_tunnel_carry.h: one end of a stream of mux.h: with a tunnel's container a connection of this machine
 * for each one that it accepts, or with an agent's container a connection there for each one that is requested here. Thread: one
 * at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct hijack;
struct mux_origin;
struct sockaddr_in;
struct tunnel_carry;

/* A connection that the other end is to make, to this address. @fd is the carry's once it is written to the pipe. */
struct tunnel_request {
	int fd;
	uint32_t address; /* numbers are the machine's own */
	uint16_t port;
};

struct tunnel_carry_options {
	/* of the container's output and input; borrowed. NULL: this is the container, the stream is its own output and
	 * input. */
	struct hijack *stream;
	int wake; /* readable: enough; -1: nothing is */
	/* The pipe of struct tunnel_request, if this end has connections made; else connections are made here: */
	bool requests;
	int requests_fd;
	/* Makes a connection, which may be under way; -1: it cannot. NULL: it ends on this machine, and take() gets it. */
	int (*dial)(const struct mux_origin *to);
	/* As connection_sink.take. */
	void (*take)(void *arg, uint16_t port, const struct sockaddr_in *peer, int fd);
	void *arg;
};

/* Waits for the greeting of an end that has connections made. UNAVAILABLE: it did not come. */
enum status tunnel_carry_open(const struct tunnel_carry_options *options, struct tunnel_carry **ret_carry,
			      struct error *err);
/* Carries until the stream breaks, which *err tells of as UNAVAILABLE, or @wake is readable: OK. Cuts all connections. */
enum status tunnel_carry_run(struct tunnel_carry *carry, struct error *err);
void tunnel_carry_close(struct tunnel_carry *carry);
