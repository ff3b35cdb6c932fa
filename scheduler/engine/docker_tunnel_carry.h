/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_tunnel_carry.h: one end of a stream of connections (mux.h) to a container. A tunnel's container
 * accepts connections, and this process makes a local connection for each. An agent's container makes the connections that
 * this process requests. Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct hijack;
struct mux_origin;
struct sockaddr_in;
struct tunnel_carry;

/* A request for a connection to an address at the other end. @fd belongs to the carry once the request is written to
 * the pipe. */
struct tunnel_request {
	int fd;
	uint32_t address; /* address and port are in host byte order */
	uint16_t port;
};

struct tunnel_carry_options {
	/* The attached output and input of the container; borrowed. NULL: this process is the container's program,
	 * and the stream is its own standard input and output. */
	struct hijack *stream;
	int wake; /* readable: tunnel_carry_run() ends; -1: nothing ends it */
	/* True: this end requests connections, by writing struct tunnel_request to the pipe requests_fd. False: this
	 * end makes the connections that the other end requests: */
	bool requests;
	int requests_fd;
	/* Makes a connection, which may still be in progress on return; -1: it cannot be made. NULL: connections end
	 * in this process, and take() gets them. */
	int (*dial)(const struct mux_origin *to);
	/* See connection_sink.take. */
	void (*take)(void *arg, uint16_t port, const struct sockaddr_in *peer, int fd);
	void *arg;
};

/* Opens a carry. An end that makes connections waits here for the other end's greeting. UNAVAILABLE: the greeting
 * did not come. */
enum status tunnel_carry_open(const struct tunnel_carry_options *options, struct tunnel_carry **ret_carry,
			      struct error *err);
/* Carries bytes until the stream breaks (UNAVAILABLE) or @wake is readable (OK). All connections are cut at the end. */
enum status tunnel_carry_run(struct tunnel_carry *carry, struct error *err);
void tunnel_carry_close(struct tunnel_carry *carry);
