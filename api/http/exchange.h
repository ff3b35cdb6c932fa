/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/exchange.h: one request from its head to its answer, without a socket.
 *
 * begin (refuse or route) -> receive (each piece of the body) -> end (parameters, messages, handler,
 * answer). What is refused at the beginning is still received, and answered at the end: a client that
 * writes its body reads the answer only then. The body of a row with begin() goes to its intake as it comes.
 * A connection has one for all its requests, with room for their answers: what each of them would take and give back
 * comes from where all threads take and give.
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

/* What all exchanges share. */
struct exchange_rules {
	const struct family *families;
	const struct clock *clock;
	const struct call_gate *gate; /* NULL: none */
	struct guard guard;
	size_t body_limit_bytes;
	size_t unknown_body_limit_bytes; /* of open rows, for clients that must authenticate and have not */
	atomic_size_t *bodies;           /* the pool that bodies are held out of; NULL: none */
	/* Held while a body of LARGE_BODY_BYTES or more is a tree: such trees take up to a hundred times its size, and each
	 * connection may send one. */
	pthread_mutex_t *large_bodies;
	/* Calls that wait before they are done (call_wait_begin()), and how many may: half of the connections, so that
	 * the other half gets to what ends their wait. */
	atomic_uint *waiting;
	unsigned waiting_max;
	const atomic_bool *closing; /* the listener is about to close */
	const atomic_bool *cutting; /* its wait is over: streams are cut */
	struct caller_rule caller;
	struct session_rule session;
	unsigned idle_timeout_s;
	bool secure;           /* clients come by TLS */
	bool compact;          /* a program reads the answers: JSON without line breaks, whatever prettyPrint says */
	int64_t owner;         /* of the work on requests (daemon/base/work.h) */
	struct ledger *ledger; /* NULL: none */
};

enum { LARGE_BODY_BYTES = 64 << 10, ANSWER_HEADERS_MAX = 256, CONNECTION_LIMIT = 512 };

/* Of an answer's room, this much stays for the next answer of the connection. */
enum { ANSWER_ROOM_KEPT_BYTES = 4096 };

struct answer_header {
	char *name, *value;
};

struct exchange {
	const struct exchange_rules *rules;
	char *raw;          /* the request's target, owned */
	const char *place;  /* where it lies in the head, for the listener to compare */
	const char *method; /* the one to route: X-HTTP-Method-Override is applied */
	uint32_t peer;      /* of call->peer; set by the listener before the beginning */
	int client_fd;      /* likewise: the client's socket; 0: none is known */
	bool inner; /* part of another one's body: what was said to the outer one is not asked again */
	bool begun;
	bool known;                /* the client has authenticated, or need not */
	bool by_browser;           /* it came below rules->session.under */
	struct exchange *outer;    /* the batch that it is a part of; NULL: none */
	bool has_turn;             /* it holds rules->large_bodies */
	struct exchange *gave_way; /* while it waits: which of the two gave up its turn */
	bool stopped;              /* by the gate, or given up: the error is none of the family's */
	bool cut;                  /* the connection is to be closed without an answer */
	bool query_taken;          /* at the beginning, for the row's begin() */
	bool head_only;            /* the answer goes without its content */
	bool query_in_body;        /* an overridden GET: its form body continues the query */
	struct head head;
	struct target target;
	struct query query;
	struct query form;
	struct match match;
	struct body body;
	struct parameters parameters;
	int64_t begun_us;
	int64_t waited_since_us; /* monotonic: when the client's wait for the present step began */

	/* Set once something was refused or has failed; the handler runs only while this is OK. */
	enum status failed;
	enum refusal refusal;
	struct error error;

	/* The answer. */
	struct call call; /* its stream and its intake, when set, are still to be closed */
	unsigned http_status;
	struct text answer;
	const char *content_type;
	struct answer_header *headers;
	size_t header_count, header_size;
};

struct exchange *exchange_new(const char *raw_target);
/* What it holds is let go of, as at the end of its request, but for room for the next one's answer. */
void exchange_clear(struct exchange *exchange);
/* The next request of a connection, in the place of the one before, which is cleared. */
void exchange_renew(struct exchange *exchange, const char *raw_target);
/* Closes the answer's stream and the body's intake, too. */
void exchange_free(struct exchange *exchange);

/* @head is borrowed until the end. True when the answer is due at once (exchange_end comes next): the
 * client waits for a go-ahead that it will not get, where the body ends is in doubt, or it is beyond all measure, or
 * none is to come. */
bool exchange_begin(struct exchange *exchange, const struct exchange_rules *rules, const char *method,
		    const char *version, const struct head *head);
/* False when the connection is to be cut. */
bool exchange_receive(struct exchange *exchange, const char *data, size_t length);
/* Fills the answer, or call.stream. */
void exchange_end(struct exchange *exchange);
/* Answers 503: the daemon is about to stop. Instead of exchange_end. */
void exchange_end_stopping(struct exchange *exchange);

/* The answer's headers, given up. */
void headers_clear(struct exchange *exchange);
/* The value of an added header, or NULL. */
const char *headers_find(const struct exchange *exchange, const char *name);
