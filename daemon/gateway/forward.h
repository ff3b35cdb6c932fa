/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/forward.h: forwards connections of a job to another server, which containers cannot reach themselves
 * or which has no certificate for the name that they call. The contents are not examined, so HTTP/1.1 and gRPC are
 * treated alike. Each connection has a thread; beyond FORWARD_MAX connections are closed. */
#include <stdbool.h>

#include "daemon/base/error.h"

enum { FORWARD_MAX = 64 };

enum forward_kind {
	FORWARD_BYTES,     /* bytes pass unchanged: the server has a certificate for the host name that the client called */
	FORWARD_PLAIN,     /* TLS ends here */
	FORWARD_TLS,       /* TLS ends here; a new TLS connection goes to the server */
	FORWARD_TLS_ADDED, /* the client uses no TLS; the connection to the server does */
};

struct forward_target {
	enum forward_kind kind;
	const char *name;        /* the called name, for the log */
	const char *host, *port; /* of the server; copied */
	bool http2;              /* the client offers only HTTP/2 (client_hello.h), so the server is called by HTTP/2 */
};

struct forwarder;

struct forwarder_options {
	/* PEM, copied: the key and the certificate for the called names; NULL: only FORWARD_BYTES and FORWARD_TLS_ADDED
	 * are possible. */
	const char *key, *certificate;
	/* Called if the server of a call cannot be reached, or has no trusted certificate; @target is valid during the
	 * call. Thread: the connection's, until forwarder_close(). NULL: failures are only logged. */
	void (*failed)(void *arg, const struct forward_target *target, const char *problem);
	void *arg;
};

/* Makes a forwarder. INTERNAL: the key or certificate is invalid. */
enum status forwarder_open(const struct forwarder_options *options, struct forwarder **ret_forwarder,
			   struct error *err);
/* Forwards a connection. Takes ownership of @fd, which must be non-blocking and unread. The connection is closed if the
 * server does not answer within seconds. Thread: any, until forwarder_close(). */
void forwarder_take(struct forwarder *forwarder, int fd, const struct forward_target *target);
/* Cuts forwarded connections. NULL is harmless. */
void forwarder_close(struct forwarder *forwarder);
