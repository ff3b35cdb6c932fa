/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/exchange.h: one request from its head to its answer, independent of sockets.
 *
 * begin (refuse or route) -> receive (each piece of the body) -> end (parameters, messages, handler, answer). A request
 * that is refused at the beginning is still received, and answered at the end, because a client that is writing its
 * body reads the answer only then. If the row has begin(), the body goes to its intake as it comes. A connection reuses
 * one exchange for all its requests, with the memory of its answers, because allocating it for each request would
 * contend for the allocator's locks.
 * Thread: the connection's. */
#include <pthread.h>
#include <stdatomic.h>

#include "api/http/body.h"
#include "api/http/error_body.h"
#include "api/http/guard.h"
#include "api/http/http.h"
#include "api/http/parameters.h"
#include "api/http/request.h"
#include "api/http/router.h"

/* Shared by all exchanges. */
struct exchange_rules {
	const struct family *families;
	const struct clock *clock;
	const struct call_gate *gate; /* NULL: none */
	struct guard guard;
	size_t body_limit_bytes;
	/* The smaller limit for clients that have not authenticated, if the daemon requires a token; they can call only
	 * open rows. */
	size_t unknown_body_limit_bytes;
	atomic_size_t *bodies;           /* pool that counts the memory of bodies; NULL: not counted */
	/* Held while a body of LARGE_BODY_BYTES or more exists as a JSON tree: such trees take up to a hundred times
	 * its size, and each connection may send one. */
	pthread_mutex_t *large_bodies;
	/* The number of calls that wait (call_wait_begin()), and its limit: half of the connections, so that the other
	 * half can make the calls that end their wait. */
	atomic_uint *waiting;
	unsigned waiting_max;
	const atomic_bool *closing; /* the listener is about to close */
	const atomic_bool *cutting; /* the time for closing is over: cut the streams */
	struct caller_rule caller;
	struct session_rule session;
	unsigned idle_timeout_s;
	bool secure;           /* clients come by TLS */
	bool compact;  /* the client is a program: JSON without line breaks, despite prettyPrint */
	int64_t owner; /* owner of the work on requests (daemon/base/work.h) */
	struct ledger *ledger; /* NULL: none */
};

enum { LARGE_BODY_BYTES = 64 << 10, ANSWER_HEADERS_MAX = 256, CONNECTION_LIMIT = 512 };

/* Up to this size, the memory of an answer is kept for the connection's next answer. */
enum { ANSWER_ROOM_KEPT_BYTES = 4096 };

struct answer_header {
	char *name, *value;
};

struct exchange {
	const struct exchange_rules *rules;
	char *raw;          /* the request's target, owned */
	const char *place;  /* where the target is in libmicrohttpd's copy of the head; for the listener */
	const char *method; /* the method for routing, after X-HTTP-Method-Override */
	uint32_t peer;      /* for call->peer; set by the listener before exchange_begin() */
	int client_fd;      /* the client's socket, set like peer; 0: unknown */
	bool inner; /* part of another request's body: checks that the outer request has passed are skipped */
	bool begun;
	bool known;                /* the client has authenticated, or need not */
	bool by_browser;           /* its path is below rules->session.under */
	struct exchange *outer;    /* the batch request that contains this one; NULL: none */
	bool has_turn;             /* holds rules->large_bodies */
	struct exchange *gave_way; /* while it waits: the exchange (this or the outer one) that gave up its turn */
	bool stopped;              /* by the gate, or abandoned: the error is not the family's */
	bool cut;                  /* close the connection without an answer */
	bool query_taken;          /* the query was already read, for the row's begin() */
	bool head_only;            /* send the answer without its content */
	bool query_in_body;        /* an overridden GET: the form in its body continues the query */
	struct head head;
	struct target target;
	struct query query;
	struct query form;
	struct match match;
	struct body body;
	struct parameters parameters;
	int64_t begun_us;
	int64_t waited_since_us; /* monotonic; when the client began to wait for the present step */

	/* The first refusal or failure; the handler runs only if this is OK. */
	enum status failed;
	bool drops_rest; /* the rest of the body is read and dropped: its taker refused it in the middle */
	enum refusal refusal;
	struct error error;

	/* The answer. */
	struct call call; /* its stream and its intake, if set, must still be closed */
	unsigned http_status;
	struct text answer;
	const char *content_type;
	struct answer_header *headers;
	size_t header_count, header_size;
};

struct exchange *exchange_new(const char *raw_target);
/* Frees the memory of the request, except that for the next answer. */
void exchange_clear(struct exchange *exchange);
/* Begins the next request of a connection, after exchange_clear() for the previous one. */
void exchange_renew(struct exchange *exchange, const char *raw_target);
/* Frees the exchange; also closes the answer's stream and the body's intake. */
void exchange_free(struct exchange *exchange);

/* Checks and routes a request. @head is borrowed until the end. True: call exchange_end() now and answer at once,
 * because there is no body, the client waits for a 100 Continue that it will not get, the end of the body is
 * ambiguous, or the body is far too large. */
bool exchange_begin(struct exchange *exchange, const struct exchange_rules *rules, const char *method,
		    const char *version, const struct head *head);
/* Takes a piece of the body. False: cut the connection. */
bool exchange_receive(struct exchange *exchange, const char *data, size_t length);
/* Sets the answer, or call.stream. */
void exchange_end(struct exchange *exchange);
/* Call instead of exchange_end() when the daemon is stopping: answers 503. */
void exchange_end_stopping(struct exchange *exchange);

/* Drops the answer's headers. */
void headers_clear(struct exchange *exchange);
/* Returns the value of a header that was added to the answer; NULL: there is none. */
const char *headers_find(const struct exchange *exchange, const char *name);
