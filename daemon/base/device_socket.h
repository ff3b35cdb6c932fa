/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/device_socket.h: TCP sockets of the small servers on a job's network. */
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct sockaddr_in;

/* Opens a listening socket, non-blocking, on @address (host byte order). It accepts clients that connect through
 * @device; NULL or "": through any device. @port 0: any free port. The caller closes the descriptor. UNAVAILABLE: the
 * system refuses it. */
enum status device_socket_open(const char *device, uint32_t address, uint16_t port, int *ret_fd,
			       struct error *err);
/* Returns the socket of the next client, non-blocking, which the caller closes; -1: there is none. *ret_open: false if
 * the endpoint should not be polled for DEVICE_SOCKET_PAUSE_MS, because descriptors or memory are short and poll() would
 * report the same client again at once. */
int device_socket_accept(int endpoint, bool *ret_open);

/* The clients that are served: count addresses from first on (host byte order); a count of 0: all clients. The check is
 * needed in addition to the device, because the kernel treats programs of this machine as connected through the device
 * that has the address. */
struct device_peers {
	uint32_t first, count;
};

/* Like device_socket_accept(), with the client's address in *ret_peer. For a client that is not in @peers, closes its
 * connection and returns -1. */
int device_socket_accept_peer(int endpoint, const struct device_peers *peers, struct sockaddr_in *ret_peer,
			      bool *ret_open);
/* Receives the connections that replicas make to their job's gateway, if the job's network is not on this machine. They
 * arrive through a tunnel. */
struct connection_sink {
	/* Passes a connection from @peer to @port of the gateway's address. Takes ownership of @fd, a connected
	 * non-blocking TCP socket. Thread: any. Must not block. */
	void (*take)(void *arg, int64_t key, uint16_t port, const struct sockaddr_in *peer, int fd);
	void *arg;
	int64_t key; /* identifies the gateway; @take closes connections to a gateway that is closed */
};

/* Opens an endpoint for connections from a connection_sink. It is a socket pair: device_socket_put() puts a connection
 * into *ret_hand, and device_socket_accept_peer() takes it from *ret_endpoint. The caller closes both. */
enum status device_socket_pair(int *ret_endpoint, int *ret_hand, struct error *err);
/* Passes in a connection. Takes ownership of @fd, and closes it if the endpoint has no room. Thread: any. */
void device_socket_put(int hand, const struct sockaddr_in *peer, int fd);

/* Calls poll(). Returns false on a failure other than a signal. The log then names @server, and the calling thread must
 * end, because the next call would fail at once. */
bool device_socket_poll(const char *server, struct pollfd *polled, size_t count, int timeout_ms);
/* How long an endpoint is not polled after *ret_open was false. */
enum { DEVICE_SOCKET_PAUSE_MS = 100 };
/* Returns the port that the socket listens on. */
uint16_t device_socket_port(int fd);
