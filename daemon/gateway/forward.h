/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/forward.h: hands connections of a job on to another server, which containers cannot reach themselves or that has no
 * certificate of the name that they call. What is said inside is not looked at, so HTTP/1.1 and gRPC are the same to it. A connection
 * has a thread; FORWARD_MAX at most, the next one is closed. */
#include <stdbool.h>

#include "daemon/base/error.h"

enum { FORWARD_MAX = 64 };

enum forward_kind {
	FORWARD_BYTES, /* as they come: the server has the name's own certificate */
	FORWARD_PLAIN, /* TLS ends here */
	FORWARD_TLS,   /* TLS ends here, and begins anew to the server */
	FORWARD_TLS_ADDED, /* the client speaks without TLS, which begins here */
};

struct forward_target {
	enum forward_kind kind;
	const char *name;        /* that the client calls: for the log */
	const char *host, *port; /* of the server; copied */
	bool http2;              /* which the client offers alone (client_hello.h), and so gets */
};

struct forwarder;

struct forwarder_options {
	/* PEM, copied, of the names that are called; NULL: FORWARD_BYTES and FORWARD_TLS_ADDED alone will do. */
	const char *key, *certificate;
	/* The server of a call cannot be reached, or shows no trusted certificate; @target is good for the call. Thread: the
	 * connection's, until forwarder_close(). NULL: the log alone says so. */
	void (*failed)(void *arg, const struct forward_target *target, const char *problem);
	void *arg;
};

/* INTERNAL: the key or certificate is none. */
enum status forwarder_open(const struct forwarder_options *options, struct forwarder **ret_forwarder,
			   struct error *err);
/* @fd does not block, nothing of it was read, and is the forwarder's. A server that does not answer within seconds closes it. Thread:
 * any, until forwarder_close(). */
void forwarder_take(struct forwarder *forwarder, int fd, const struct forward_target *target);
/* What is under way is cut. NULL is harmless. */
void forwarder_close(struct forwarder *forwarder);
