/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/device_socket.h: TCP sockets of the small servers on a job's network. */
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct sockaddr_in;

/* Listens, without blocking, on @address (host byte order) for clients that connect through @device; NULL or "":
 * through any. @port 0: any free port. UNAVAILABLE: not possible here. The descriptor is the caller's. */
enum status device_socket_open(const char *device, uint32_t address, uint16_t port, int *ret_fd,
			       struct error *err);
/* The next client's socket, non-blocking, the caller's; -1: there is none. *ret_open: false if the endpoint should not
 * be polled for a while, because descriptors or memory are short and poll() would report the same client again at
 * once. */
int device_socket_accept(int endpoint, bool *ret_open);

/* The clients that are served: so many addresses from this one on (host byte order); a count of 0: all. This check is
 * needed in addition to the device, because for the kernel programs of this machine connect through the device that has
 * the address. */
struct device_peers {
	uint32_t first, count;
};

/* Likewise; -1 also for a client that is not served; its connection is closed. */
int device_socket_accept_peer(int endpoint, const struct device_peers *peers, struct sockaddr_in *ret_peer,
			      bool *ret_open);
/* Where connections go that come to a network in another way: by a tunnel to where the network is. */
struct connection_sink {
	/* One that @peer has made to @port of the gateway's address. @fd, a connected TCP socket that does not block, is the
	 * sink's. Thread: any. Must not block. */
	void (*take)(void *arg, int64_t key, uint16_t port, const struct sockaddr_in *peer, int fd);
	void *arg;
	int64_t key; /* of the gateway: connections to one that is closed are closed */
};

/* An endpoint of such connections: they are put in at *ret_hand, and device_socket_accept_peer() gives them out at *ret_endpoint.
 * Both descriptors are the caller's. */
enum status device_socket_pair(int *ret_endpoint, int *ret_hand, struct error *err);
/* @fd is the endpoint's; it is closed where the endpoint has no room. Thread: any. */
void device_socket_put(int hand, const struct sockaddr_in *peer, int fd);

/* Calls poll(). False: it failed, not because of a signal; the log names @server, and its thread must end, because the
 * next call would fail at once. */
bool device_socket_poll(const char *server, struct pollfd *polled, size_t count, int timeout_ms);
/* For how long it is not polled then. */
enum { DEVICE_SOCKET_PAUSE_MS = 100 };
/* The port that it listens on. */
uint16_t device_socket_port(int fd);
