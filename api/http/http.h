/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/http.h: what a family of the API sees of HTTP: routes, calls, answers.
 *
 * The listener reads a request whole, the guard refuses what no handler should see, the router finds
 * the row, the row's message tables check query and body, and only then the handler runs, on the
 * connection's own thread; it may block for a commit but never for a job. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/message/message.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct call;

/* Fills call->answer with compact JSON (left empty: "{}"), or fails with *err set. */
typedef enum status (*call_handler)(struct call *call, struct error *err);

struct route {
	const char *method; /* "GET" */
	/* Full path; {name} is one whole segment, decoded; a verb stands after the last colon, which is
	 * the only one: "/v1/projects/{project}/jobs/{job}:cancel". A GET row answers HEAD as well. */
	const char *path;
	call_handler handler;
	const struct message *query; /* the parameters it takes, NULL for none but the system's */
	const struct message *body;  /* NULL: no body is read */
	const char *body_root; /* the request field the body is bound to ("job"), "" for the request itself */
};

struct family {
	const char *name;
	const struct route *routes; /* ends with a NULL method */
	void *context;              /* the handlers' call->context */
	/* Routes that the real service has and this emulator does not: they get a 404 that says so.
	 * Same path form; only method and path are read; the method's name is told from them
	 * ("projects.models.list"). Ends with a NULL method. May be NULL. */
	const struct route *absent;
};

/* One request on its way. Everything in it lives until the answer is sent. */
struct call {
	void *context; /* the family's */
	const struct route *route;
	const char *method;
	const char *user_agent; /* "" when absent */
	const char *host;       /* the Host header, as sent */
	json_t *query;          /* canonical query message; {} when the row has none */
	json_t *body;           /* canonical body message, NULL when the row has none */
	struct text answer;
	const char *content_type; /* static; NULL: application/json. Handlers that answer otherwise set it */
	struct call_param {
		const char *name; /* as the row's path has it: ends at its brace, or as a string */
		const char *value;
	} params[8];
	size_t param_count;
};

/* The decoded path segment {name}; never NULL for a name in the row's path. */
const char *call_param(const struct call *call, const char *name);
/* A canonical query parameter of a type that travels as a string, or NULL. The others are read from
 * call->query: json_int_at(call->query, "pageSize", 0). */
const char *call_query(const struct call *call, const char *name);

struct listener;

struct listener_options {
	const char *address;           /* "127.0.0.1" or "::1" … */
	uint16_t port;                 /* 0: any free */
	const struct family *families; /* ends with a NULL name */
	const struct clock *clock;
	size_t body_limit_bytes;   /* 0: 10 MiB; larger ones are drained, then answered 413 */
	unsigned connection_limit; /* 0: 512 */
	unsigned idle_timeout_s;   /* 0: 75; every received byte starts it anew */
	/* Names that a Host header may carry besides localhost, *.localhost, 127.0.0.0/8, ::1 and the
	 * address itself; ends with NULL; may be NULL. With a wildcard address any IP literal will do. */
	const char *const *hosts;
};

/* Serves from the moment it returns. Families, clock and hosts must live until the listener is closed.
 * Outcomes: INVALID_ARGUMENT: @address is no IP address; UNAVAILABLE: it cannot be bound. */
enum status listener_open(const struct listener_options *options, struct listener **ret_listener,
			  struct error *err);
uint16_t listener_port(const struct listener *listener);
/* Takes no more connections, answers new requests on old ones with 503, lets those under way end (at
 * most @wait_ms), closes. It then joins every handler still running, so nothing that a handler waits for
 * may be stopped before it, or the wait must be bounded. NULL is harmless. */
void listener_close(struct listener *listener, unsigned wait_ms);

/* "libmicrohttpd 0.9.75, zlib 1.2.13": what runs below the listener. @text is appended to. */
void listener_versions_write(struct text *text);
