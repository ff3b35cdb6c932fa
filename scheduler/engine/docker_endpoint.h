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

/* The keys of one end of a connection to or from an agent, as PEM texts. */
struct wire_keys {
	char *trusted; /* the peer's certificate: no other one is accepted */
	char *certificate, *key;
};

/* How connections to an agent are made: docker_route.h. Thread: any. */
struct endpoint_dialer {
	/* Returns the socket of a new connection, without waiting for it to be made. -1: @problem has the reason.
	 * The caller frees the keys. */
	int (*dial)(void *arg, struct wire_keys *ret_keys, char *problem, size_t problem_size);
	/* Reports that the last connection could not be used. */
	void (*failed)(void *arg);
	/* When dial() last failed before it could learn anything of the agent's machine, and when it last learnt
	 * something of it (monotonic); 0: never. */
	void (*way)(void *arg, int64_t *ret_closed_us, int64_t *ret_open_us);
	void (*free)(void *arg);
	void *arg;
};

/* An engine's address, as the carrier reads it. endpoint_open() sets it; it is constant afterwards. */
struct endpoint_address {
	enum endpoint_kind kind;
	char *path; /* UNIX: path of the socket; SSH: path of the socket on the other machine, or NULL: its usual one */
	char *host, *port; /* SSH: port may be NULL */
	char *user;        /* SSH: NULL: ssh chooses the user */
	char *certificates; /* TLS: the directory with ca.pem, cert.pem and key.pem; each file may be missing */
	bool verifies; /* TLS: the engine's certificate must be valid and issued for this host */
	struct endpoint_dialer dialer; /* AGENT: host is the node's id, path the manager's URL */
};

struct endpoint;

/* Whether @url has one of the forms that the beginning of this file lists. */
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

/* The endpoint's name for messages: "unix:///var/run/docker.sock", "tcp://build:2376 (context ci)". Borrowed. */
const char *endpoint_name(const struct endpoint *endpoint);
const struct endpoint_address *endpoint_address(const struct endpoint *endpoint);
/* By how many seconds an engine's first answer may be later than over a unix socket; 0 for a unix socket. */
unsigned endpoint_patience_s(const struct endpoint *endpoint);

/* Returns the socket of a new connection, or -1 with errno. A unix socket waits at most @patience_ms for room in the
 * engine's queue. For others it returns at once: if the connection cannot be made, the stream ends, and
 * endpoint_problem() has the reason. */
int endpoint_connect(struct endpoint *endpoint, unsigned patience_ms);
/* endpoint_problem() copies the reason why the last connection could not be made, and a remedy; "": it was made, or
 * the endpoint is a unix socket. */
enum { ENDPOINT_PROBLEM_SIZE = 768 };
void endpoint_problem(struct endpoint *endpoint, char problem[ENDPOINT_PROBLEM_SIZE]);
/* Sets the text of endpoint_problem(). "": the connection was made. Called by the carrier only. */
void endpoint_problem_set(struct endpoint *endpoint, const char *problem);

/* The first part of the URLs that are passed to curl. Its host is a name; it is an address if curl would otherwise
 * resolve the name itself. Borrowed. */
const char *endpoint_base(const struct endpoint *endpoint);
/* Makes @curl connect to this endpoint. False: curl has no memory. The endpoint has to outlive the handle. */
bool endpoint_configure(struct endpoint *endpoint, CURL *curl);

/* The URL of the engine that Docker's own client would use: from DOCKER_HOST, from the context that DOCKER_CONTEXT or
 * its config.json names, or the usual socket. The caller frees it. */
char *endpoint_default(void);
