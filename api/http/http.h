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
#include <sys/types.h>

#include "api/message/message.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct call;
struct method_doc;

/* Fills call->answer with compact JSON (left empty: "{}"), or fails with *err set. */
typedef enum status (*call_handler)(struct call *call, struct error *err);

struct route {
	const char *method; /* "GET" */
	/* Full path; {name} is one whole segment, decoded; a verb stands after the last colon, which is
	 * the only one: "/v1/projects/{project}/jobs/{job}:cancel". A GET row answers HEAD as well. */
	const char *path;
	call_handler handler;
	const struct message *query; /* the parameters it takes, NULL for none but the system's */
	const struct message *body;  /* NULL: no body is read; &raw_body: it is taken as it is */
	const char *body_root; /* the request field the body is bound to ("job"), "" for the request itself */
	const struct method_doc *doc; /* NULL: the method is in no discovery document */
};

/* Stands in a row's place of a body message: call->raw holds the bytes, of whatever type they are. */
extern const struct message raw_body;

/* What a discovery document says of a method that its row does not say by itself. */
struct method_doc {
	const char *resource; /* the request field that the path is bound to up to its last {name}: "parent";
	                       * NULL: the path has no {name} */
	const struct message *response;
	const char *help;
};

/* The last column of a row that is published. */
#define METHOD_DOC(RESOURCE, RESPONSE, HELP)                                                                 \
	(&(const struct method_doc){ .resource = (RESOURCE), .response = &(RESPONSE), .help = (HELP) })

struct family {
	const char *name;
	const struct route *routes; /* ends with a NULL method */
	void *context;              /* the handlers' call->context */
	/* Routes that the real service has and this emulator does not: they get a 404 that says so.
	 * Same path form; only method and path are read; the method's name is told from them
	 * ("projects.models.list"). Ends with a NULL method. May be NULL. */
	const struct route *absent;
};

/* What an answer_stream's read says instead of a number of bytes. */
enum { STREAM_END = 0, STREAM_CUT = -1, STREAM_QUIET = -2 };

/* An answer that is made while it is sent, on the connection's own thread.
 *
 * read() is not called before the piece it gave last was sent: a client that reads slowly slows it down, and
 * one that takes nothing for the idle timeout is cut off. HEAD reads nothing. close() is called once, whatever
 * happens, if read is set: the end, a client that left, a handler that failed after all, the listener closing.
 *
 * Who has nothing to give returns STREAM_QUIET within a second, and is asked again for as long as the client
 * stays, be it for days: between two calls the listener looks whether it left (or ended its side, which is the
 * same here), and whether its own wait is over. A stream without an end of its own asks call_closing() as well
 * and ends itself then. */
struct answer_stream {
	/* The number of bytes; STREAM_END at the end; STREAM_CUT: the connection is cut, so that the client sees
	 * that there should have been more (as is an end before @length); STREAM_QUIET. */
	ssize_t (*read)(void *arg, char *buffer, size_t size);
	void (*close)(void *arg);
	void *arg;
	int64_t length; /* all bytes, or -1: not known (chunked) */
};

struct exchange;

/* One request on its way. Everything in it lives until the answer is sent and its stream is closed, but query,
 * body and raw, which go when the handler has returned. */
struct call {
	void *context; /* the family's */
	const struct route *route;
	const char *method;
	const char *user_agent; /* "" when absent */
	const char *host;       /* the Host header, as sent */
	json_t *query;          /* canonical query message; {} when the row has none */
	json_t *body;           /* canonical body message, NULL when the row has none */
	const char *raw;        /* of a row with raw_body; ends with a NUL that raw_bytes does not count */
	size_t raw_bytes;
	struct text answer;
	/* Static. NULL: application/json, and for a stream application/octet-stream. Handlers that answer otherwise
	 * set it, or add a header Content-Type. */
	const char *content_type;
	unsigned http_status;        /* of a success; 0: 200 */
	struct answer_stream stream; /* read NULL: the answer is call->answer */
	struct exchange *exchange;   /* the listener's */
	struct call_param {
		const char *name; /* as the row's path has it: ends at its brace, or as a string */
		const char *value;
	} params[8];
	size_t param_count;
};

/* Adds a header to the answer; copies are kept. An answer that fails after all goes without them. False when
 * there are 16 already, when memory ran out, when @name is no token or @value is empty or holds a control
 * character (a line end!), and for what the listener itself says: Connection, Content-Length, Transfer-Encoding. */
bool call_header_add(struct call *call, const char *name, const char *value);
/* A header of the request, in any case of letters; "" when absent. Of several, the first. */
const char *call_header(const struct call *call, const char *name);
/* Whether the listener is about to close. Thread: any, while the call lives. */
bool call_closing(const struct call *call);

/* The decoded path segment {name}; never NULL for a name in the row's path. */
const char *call_param(const struct call *call, const char *name);
/* A canonical query parameter of a type that travels as a string, or NULL. The others are read from
 * call->query: json_int_at(call->query, "pageSize", 0). */
const char *call_query(const struct call *call, const char *name);

/* How many things a page may hold: what @request (the call's query or body) says as pageSize, @otherwise when it says
 * nothing or 0, never more than @most. INVALID_ARGUMENT: field page_size. */
enum status page_size_read(const json_t *request, unsigned otherwise, unsigned most, unsigned *ret_size,
			   struct error *err);

struct listener;

struct listener_options {
	const char *address;           /* "127.0.0.1" or "::1" … */
	uint16_t port;                 /* 0: any free */
	const struct family *families; /* ends with a NULL name */
	const struct clock *clock;
	size_t body_limit_bytes;   /* 0: 10 MiB; larger ones are drained, then answered 413 */
	unsigned connection_limit; /* 0: 512 */
	/* 0: 75; every byte received or sent starts it anew. What a handler or a stream takes to come up with
	 * something does not count. */
	unsigned idle_timeout_s;
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
 * most @wait_ms), cuts what streams are left, closes. It then joins every handler still running, so nothing that
 * a handler or a stream waits for may be stopped before it, or the wait must be bounded. NULL is harmless. */
void listener_close(struct listener *listener, unsigned wait_ms);

/* "libmicrohttpd 0.9.75, zlib 1.2.13": what runs below the listener. @text is appended to. */
void listener_versions_write(struct text *text);
