/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_endpoint.h: the address of an engine, and connections to it.
 *
 *   unix:///PATH                     a socket of this machine
 *   tcp://HOST[:PORT]                with TLS where Docker's variables ask for it
 *   ssh://[USER@]HOST[:PORT][/PATH]  by the program ssh, and `docker system dial-stdio` on the other machine
 *   context://NAME                   the address that Docker's context of this name has
 *   swarm:NODE:URL                   the agent of a node of a swarm, by its id; the URL is that of a manager
 *
 * A connection to a unix socket is that socket. Any other is one end of a pair of sockets; a thread copies the bytes
 * between the other end and the engine (docker_carrier.h). Callers thus always have a plain stream.
 *
 * An endpoint has counted references; each copying thread holds one. Thread: any.
 * Sources: https://docs.docker.com/reference/cli/docker/#environment-variables,
 *          https://docs.docker.com/engine/security/protect-access/, https://docs.docker.com/engine/manage-resources/contexts/
 *          (read 2026-11-26) */
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum endpoint_kind { ENDPOINT_UNIX, ENDPOINT_TCP, ENDPOINT_TLS, ENDPOINT_SSH, ENDPOINT_AGENT };

/* The keys of one end of an agent's connection, as PEM. */
struct wire_keys {
	char *trusted; /* the peer's certificate, the only one that is accepted */
	char *certificate, *key;
};

/* How connections to an agent are made: docker_route.h. Thread: any. */
struct endpoint_dialer {
	/* A new connection, which does not wait. -1: @problem has the reason. The caller frees the keys. */
	int (*dial)(void *arg, struct wire_keys *ret_keys, char *problem, size_t problem_size);
	/* Reports that the last connection could not be used. */
	void (*failed)(void *arg);
	void (*free)(void *arg);
	void *arg;
};

/* Read by the carrier; set by endpoint_open() and then constant, except for the problem. */
struct endpoint_address {
	enum endpoint_kind kind;
	char *path; /* UNIX: path of the socket; SSH: path of the socket on the other machine, or NULL: its usual one */
	char *host, *port; /* SSH: port may be NULL */
	char *user;        /* SSH: or NULL */
	char *certificates; /* TLS: the directory with ca.pem, cert.pem and key.pem, each of which may be missing */
	bool verifies; /* TLS: the engine's certificate must be valid, and for this host */
	struct endpoint_dialer dialer; /* AGENT: host is the node's id, path the manager's URL */
};

struct endpoint;

/* Whether @url has one of the forms above. */
bool endpoint_url_valid(const char *url);
/* Reads Docker's variables and contexts; does not connect. INVALID_ARGUMENT: the URL has none of the forms above.
 * FAILED_PRECONDITION: the context cannot be read, or names no engine. */
enum status endpoint_open(const char *url, struct endpoint **ret_endpoint, struct error *err);
/* Sets how an ENDPOINT_AGENT makes its connections. To be called before its first connection. Copies @dialer, and calls
 * its free() when the endpoint is freed. */
void endpoint_set_dialer(struct endpoint *endpoint, const struct endpoint_dialer *dialer);
struct endpoint *endpoint_hold(struct endpoint *endpoint);
void endpoint_close(struct endpoint *endpoint);
DEFINE_AUTO(endpoint, struct endpoint *, endpoint_close)

/* For messages: "unix:///var/run/docker.sock", "tcp://build:2376 (context ci)". Borrowed. */
const char *endpoint_name(const struct endpoint *endpoint);
const struct endpoint_address *endpoint_address(const struct endpoint *endpoint);
/* How many seconds more than a unix socket a first answer may take; 0 for a unix socket. */
unsigned endpoint_patience_s(const struct endpoint *endpoint);

/* A new connection, or -1 with errno. For a unix socket it waits at most @patience_ms for the engine's queue. Otherwise
 * it returns at once: if the connection cannot be made, the stream ends, and endpoint_problem() says why. */
int endpoint_connect(struct endpoint *endpoint, unsigned patience_ms);
/* Why the last connection could not be made, and what helps; "" if it was made, and for unix sockets. */
enum { ENDPOINT_PROBLEM_SIZE = 768 };
void endpoint_problem(struct endpoint *endpoint, char problem[ENDPOINT_PROBLEM_SIZE]);
/* Sets the text of endpoint_problem(). "": the connection was made. Called by the carrier only. */
void endpoint_problem_set(struct endpoint *endpoint, const char *problem);

/* The first part of the URLs that are passed to curl: a name, or an address where curl would resolve the name itself.
 * Borrowed. */
const char *endpoint_base(const struct endpoint *endpoint);
/* Makes @curl connect to it. False: curl has no memory. The endpoint has to outlive the handle. */
bool endpoint_configure(struct endpoint *endpoint, CURL *curl);

/* The URL of the engine that Docker's own client would use: from DOCKER_HOST, from the context that DOCKER_CONTEXT or
 * its config.json names, or the usual socket. The caller frees it. */
char *endpoint_default(void);
