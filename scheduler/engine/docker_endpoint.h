/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_endpoint.h: where an engine is, and connections to it.
 *
 *   unix:///PATH                     a socket of this machine
 *   tcp://HOST[:PORT]                with TLS where Docker's variables ask for it
 *   ssh://[USER@]HOST[:PORT][/PATH]  by the program ssh, and `docker system dial-stdio` on the other machine
 *   context://NAME                   the place that a context of Docker's names
 *
 * A connection to a unix socket is that socket. Any other is one end of a pair of sockets, and a thread carries the bytes
 * between the other end and the engine (docker_carrier.h): all callers have a plain stream, whatever is on the way.
 *
 * An endpoint has counted references: a thread that carries holds one. Thread: any.
 * Sources: https://docs.docker.com/reference/cli/docker/#environment-variables,
 *          https://docs.docker.com/engine/security/protect-access/, https://docs.docker.com/engine/manage-resources/contexts/
 *          (read 2026-11-26) */
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum endpoint_kind { ENDPOINT_UNIX, ENDPOINT_TCP, ENDPOINT_TLS, ENDPOINT_SSH };

/* Read by the carrier; made by endpoint_open() alone, and not changed after it but for the problem. */
struct endpoint_address {
	enum endpoint_kind kind;
	char *path; /* UNIX: the socket's; SSH: the socket's on the other machine, or NULL: its usual one */
	char *host, *port; /* SSH: port may be NULL */
	char *user;        /* SSH: or NULL */
	char *certificates; /* TLS: the directory of ca.pem, cert.pem and key.pem, each of which may be missing */
	bool verifies;      /* TLS: the engine's certificate has to be good, and of this host */
};

struct endpoint;

/* Whether @url has one of the forms above. */
bool endpoint_url_valid(const char *url);
/* Reads Docker's variables and contexts, and connects to nothing.
 * INVALID_ARGUMENT: the URL has none of the forms. FAILED_PRECONDITION: the context cannot be read, or names no engine. */
enum status endpoint_open(const char *url, struct endpoint **ret_endpoint, struct error *err);
struct endpoint *endpoint_hold(struct endpoint *endpoint);
void endpoint_close(struct endpoint *endpoint);
DEFINE_AUTO(endpoint, struct endpoint *, endpoint_close)

/* For people: "unix:///var/run/docker.sock", "tcp://build:2376 (context ci)". Borrowed. */
const char *endpoint_name(const struct endpoint *endpoint);
const struct endpoint_address *endpoint_address(const struct endpoint *endpoint);
/* How much longer than at a unix socket a first answer may take: 0 at a unix socket. */
unsigned endpoint_patience_s(const struct endpoint *endpoint);

/* A new connection, or -1 with errno. At a unix socket it waits at most @patience_ms for the engine's queue; elsewhere it
 * does not wait: a connection that cannot be made ends, and endpoint_problem() says why. */
int endpoint_connect(struct endpoint *endpoint, unsigned patience_ms);
/* Why the latest connection could not be made, with what helps; "" when it could, and at a unix socket. */
enum { ENDPOINT_PROBLEM_SIZE = 768 };
void endpoint_problem(struct endpoint *endpoint, char problem[ENDPOINT_PROBLEM_SIZE]);
/* For the carrier. "": the connection is there. */
void endpoint_problem_set(struct endpoint *endpoint, const char *problem);

/* What the URLs that curl asks begin with: a name, or an address where curl would look the name up. Borrowed. */
const char *endpoint_base(const struct endpoint *endpoint);
/* Makes @curl connect to it. False: curl has no memory. The endpoint has to outlive the handle. */
bool endpoint_configure(struct endpoint *endpoint, CURL *curl);

/* The URL of the engine that Docker's own client would ask: DOCKER_HOST, the context that DOCKER_CONTEXT or its config.json
 * names, or the usual socket. The caller frees it. */
char *endpoint_default(void);
