/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/http.h: what a family of the API sees of HTTP: routes, calls, answers.
 *
 * The guard refuses what no handler should see, the router finds the row, the listener reads the body whole,
 * the row's message tables check query and body, and only then the handler runs, on the connection's own thread;
 * it may block for a commit but never for a job. The body of a row with begin() is not read whole: it goes to the
 * call's intake while it comes. */
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
struct call_gate;
struct method_doc;
struct rpc;
struct sockaddr;

/* Takes a request's body while it arrives, on the connection's thread. close() is called once, whatever happens,
 * if take is set: after the handler, or without one when the client left or the body was refused. */
struct intake {
	/* A failure is the call's: what follows is swallowed, and the handler does not run. */
	enum status (*take)(void *arg, const char *data, size_t length, struct error *err);
	void (*close)(void *arg);
	void *arg;
};

/* Fills call->answer with compact JSON (left empty: "{}"), or fails with *err set. */
typedef enum status (*call_handler)(struct call *call, struct error *err);

/* Which of the types of content are taken that a page sends to other sites without asking first. */
enum page_types {
	PAGE_TYPES_NONE = 0,
	PAGE_TYPES_TEXT, /* text/plain: it may as well be an object's */
	PAGE_TYPES_ALL,  /* a form is what the row is for, or no page can know the path */
};

struct route {
	const char *method; /* "GET" */
	/* Full path; {name} is one whole segment but "." and "..", decoded; a last {name=**} takes all that follows, at least one
	 * byte, slashes and dots as they were sent (no segment is taken out), decoded; a verb stands after the last
	 * colon, which is the only one: "/v1/projects/{project}/jobs/{job}:cancel". A GET row answers HEAD as well
	 * unless a HEAD row comes before it. */
	const char *path;
	call_handler handler;
	/* The parameters it takes, NULL for none but the system's. One with the name of a system's (alt, uploadType)
	 * is the row's. */
	const struct message *query;
	const struct message *body; /* NULL: no body is read; &raw_body: it is taken as it is */
	const char *body_root; /* the request field the body is bound to ("job"), "" for the request itself */
	const struct method_doc *doc; /* NULL: the method is in no discovery document */
	/* For a row with a streamed body (body is NULL then): called with the head, query checked, before any of
	 * the body; sets call->intake or fails. No limit of the listener's holds for such a body but its idle time. */
	call_handler begin;
	/* Answers clients that have not authenticated, where others must: the answer is about no user, or the row's own path or
	 * body proves the client's identity. */
	bool open;
	/* What a row takes that changes something, where a browser may be the client. */
	enum page_types page_types;
	/* What a row without doc answers with, for masks of fields; NULL: any may be named. */
	const struct message *response;
	/* The family's own: what one handler does for several kinds of resources. */
	const void *methods;
	/* The call of gRPC that is the same method (api/grpc/rpc.h); NULL: none. */
	const struct rpc *rpc;
};

/* Stands in a row's place of a body message: call->raw holds the bytes, of whatever type they are. */
extern const struct message raw_body;

/* What a discovery document says of a method that its row does not say by itself. */
struct method_doc {
	const char *resource; /* the request field that the path is bound to up to its last {name}: "parent";
	                       * NULL: the path has no {name}, or METHOD_DOC_NAMED's form */
	const struct message *response;
	const char *help;
	const char *
		id; /* "objects.list": each {name} of the path is a parameter of its own; NULL: told from the path */
	const struct message *request; /* what a row with raw_body reads by itself; NULL: the row's body */
};

/* The last column of a row that is published. */
#define METHOD_DOC(RESOURCE, RESPONSE, HELP)                                                                 \
	(&(const struct method_doc){ .resource = (RESOURCE), .response = &(RESPONSE), .help = (HELP) })

/* For an API with paths that are no resource names. */
#define METHOD_DOC_NAMED(ID, REQUEST, RESPONSE, HELP)                                                        \
	(&(const struct method_doc){                                                                         \
		.id = (ID), .request = (REQUEST), .response = &(RESPONSE), .help = (HELP) })

struct family {
	const char *name;
	const struct route *routes; /* ends with a NULL method */
	void *context;              /* the handlers' call->context */
	/* Routes that the real service has and this emulator does not: they get a 404 that says so.
	 * Same path form; only method and path are read; the method's name is told from them
	 * ("projects.models.list"). Ends with a NULL method. May be NULL. */
	const struct route *absent;
	/* Its rows are looked at only where no row of another family has the path, whatever the method. */
	bool last_resort;
	/* With last_resort: may a path of these segments (one at least) be one of its own? NULL: any may. Pure. */
	bool (*may_have)(const char *const *segments, size_t count);
	/* What all its rows' paths begin with, whole segments: others are passed over at once. NULL: they differ. */
	const char *under;
	bool lenient_query; /* parameters that no row knows are passed over */
	/* A parameter without a value counts as absent, except a text that the row only asks the presence of ("?uploads"). */
	bool blank_is_absent;
	/* What its rows' paths begin with and its clients leave out ("/storage/v1"); rows that begin otherwise are
	 * none of its own. NULL: nothing. */
	const char *omitted;
	/* Puts an error of its handlers in the family's own words before anything is made of it; NULL: it stays. */
	void (*error_word)(struct error *err);
	/* Words the refusal of a mask of fields; NULL: the front end's words. */
	mask_refusal fields_refuse;
	/* Appends the body of an error of the family's routes, and says its media type; NULL: error_body_write(). */
	const char *(*error_render)(const struct call *call, const struct error *err, unsigned http_status,
				    struct text *body);
	/* The HTTP status of an error of its handlers and begins, where it is not the usual one of the status; NULL. Not
	 * asked for an error of the gate's. */
	unsigned (*error_status)(const struct call *call, const struct error *err);
};

/* What an answer_stream's read says instead of a number of bytes. */
enum { STREAM_END = 0, STREAM_CUT = -1, STREAM_QUIET = -2 };

/* An answer that is made while it is sent, on the connection's own thread.
 *
 * read() is not called before the piece it gave last was sent: a client that reads slowly slows it down, and
 * one that takes nothing for the idle timeout is cut off. HEAD reads nothing. close() is called once, whatever
 * happens, if read is set: at the end, when the client left, when the handler failed after all, or when the listener closes.
 *
 * A stream that has nothing to give yet returns STREAM_QUIET within a second, and is asked again for as long as the client
 * stays, be it for days. Between two calls the listener checks whether the client left (or shut down its side, which is the
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
	bool secure;            /* it came by TLS */
	bool anonymous;         /* an open row's: the client did not authenticate, and elsewhere must */
	json_t *query;          /* canonical query message; {} when the row has none */
	json_t *body;           /* canonical body message, NULL when the row has none */
	const char *raw;        /* of a row with raw_body; ends with a NUL that raw_bytes does not count */
	size_t raw_bytes;
	struct text answer;
	/* Static. NULL: application/json, and for a stream application/octet-stream. Handlers that answer otherwise
	 * set it, or add a header Content-Type. */
	const char *content_type;
	unsigned http_status;        /* of a success; 0: 200. 204 and 304 go without a body */
	struct answer_stream stream; /* read NULL: the answer is call->answer */
	struct intake intake;        /* of a row with begin */
	uint32_t peer; /* the client's IPv4 address, host byte order; 0: another family of addresses */
	struct exchange *exchange; /* the listener's */
	struct call_param {
		const char *name; /* as the row's path has it: ends at its brace or "=", or as a string */
		const char *value;
	} params[8];
	size_t param_count;
};

/* "https" or "http": how the client came, and how links lead back here. */
static inline const char *call_scheme(const struct call *call)
{
	return call->secure ? "https" : "http";
}

/* Adds a header to the answer; copies are kept. An answer that fails after all goes without them. False when
 * there are 256 already, when @name is no token or @value is empty or holds a control
 * character (a line end!), and for what the listener itself says: Connection, Content-Length, Transfer-Encoding. */
bool call_header_add(struct call *call, const char *name, const char *value);
/* A header of the request, in any case of letters; "" when absent. Of several, the first. */
const char *call_header(const struct call *call, const char *name);
/* Tells every header of the request, in the order they came; none of a call inside another one. */
void call_headers_each(const struct call *call, void (*seen)(void *arg, const char *name, const char *value),
		       void *arg);
/* Whether the listener is about to close. Thread: any, while the call lives. */
bool call_closing(const struct call *call);
/* True if the client has left, or shut down its side, which is the same here. A handler that waits long before it answers
 * asks now and then. False where that cannot be told. Thread: the connection's. */
bool call_client_gone(const struct call *call);

/* Before a gate waits: others with large bodies need not wait for it. The call's query and body go; the call has both
 * again when its handler runs. False: half of the listener's connections wait already, and the call must not. */
bool call_wait_begin(struct call *call);
/* After a wait that was begun. */
void call_wait_end(struct call *call);

/* Answers a request that came inside another one's body (a batch's part): through the same families, but to @answer
 * rather than to the client. @target is raw, as on a request line, with or without scheme and host; @head_text is
 * "Name: value" lines; @body may be NULL. The outer request's headers hold for it, too, but Content-* and what it
 * has of its own. Whatever is wrong with the part is the part's answer, and the result OK; so rows with begin and
 * streams are answered 400. Outcomes: INVALID_ARGUMENT: @outer is itself such a request; UNAVAILABLE: a gate closed the
 * connection, for the outer request, too, or there is no memory for the answer.
 * Only OK fills @answer, which is inner_answer_deinit()'s. */
struct inner_answer {
	unsigned http_status;
	struct text headers; /* "Name: value\r\n" lines, Content-Type among them */
	struct text body;
};
void inner_answer_deinit(struct inner_answer *answer);
enum status call_inner(struct call *outer, const char *method, const char *target, const char *head_text,
		       const char *body, size_t body_bytes, struct inner_answer *answer, struct error *err);

/* Authentication. check() gets the headers Authorization and X-Goog-Api-Key, NULL when absent. UNAUTHENTICATED: refused.
 * Thread: any. NULL: every client may enter. */
struct caller_rule {
	enum status (*check)(void *arg, const char *authorization, const char *api_key, struct error *err);
	void *arg;
};

/* A browser's way in. A request below @under is the same as without it, but that check() may let it in, too, by its headers
 * Cookie and X-Trainyard-Session; NULL when absent. Thread: any. */
struct session_rule {
	const char *under; /* "/_trainyard/console/api"; NULL: there is no such way in */
	bool (*check)(void *arg, const char *cookies, const char *proof); /* NULL: it lets nobody in */
	void *arg;
};

/* Makes requests for clients of another protocol than HTTP/1. They meet the same guard, limits and families as a
 * listener's. A row that streams is answered
 * with a head alone. */
struct inner_endpoint;

struct ledger;

struct inner_endpoint_options {
	const struct family *families; /* ends with a NULL name */
	const struct clock *clock;     /* NULL: the system's */
	const struct call_gate *gate;  /* NULL: none */
	const char *address;           /* that clients come to; a Host header may carry it, too */
	const char *const *hosts;      /* as a listener's */
	bool any_host;                 /* likewise */
	const char *refused_network;   /* likewise */
	struct caller_rule caller;     /* likewise */
	int64_t owner;                 /* likewise */
	struct ledger *ledger;         /* likewise */
	size_t body_limit_bytes;
	unsigned connection_limit; /* as a listener's: half as many calls may wait at a time */
};

struct inner_endpoint_request {
	const char *method, *target; /* as on a request line */
	const char *head_text;       /* "Name: value" lines; NULL: none */
	const char *body;
	size_t body_bytes;
	uint32_t peer; /* of call->peer */
	int client_fd; /* the socket that the client is at the other end of, for call_client_gone(); 0: none is known */
};

/* INVALID_ARGUMENT: the network is none. What @options points to must live until the endpoint is closed. */
enum status inner_endpoint_open(const struct inner_endpoint_options *options,
				struct inner_endpoint **ret_endpoint, struct error *err);
/* The endpoint is about to be closed: calls that wait are told by call_closing(), and new ones are refused. */
void inner_endpoint_end(struct inner_endpoint *endpoint);
/* No call may be under way. NULL is harmless. */
void inner_endpoint_close(struct inner_endpoint *endpoint);
/* How many calls wait (call_wait_begin()). Thread: any. */
unsigned inner_endpoint_waiting(const struct inner_endpoint *endpoint);
/* Whether a request with such a head may come in, whatever it asks for: by the rules that inner_endpoint_call() begins with, asked
 * before there is a body. Of @request, method, head_text and peer are looked at. *answer: the refusal; its http_status is
 * 0 when it may. UNAVAILABLE: no memory for the answer. Thread: any. */
enum status inner_endpoint_admit(struct inner_endpoint *endpoint,
				 const struct inner_endpoint_request *request, struct inner_answer *answer,
				 struct error *err);
/* Whatever is wrong with the request is its answer, and the result OK. UNAVAILABLE: no memory for the answer. Thread: any. */
enum status inner_endpoint_call(struct inner_endpoint *endpoint, const struct inner_endpoint_request *request,
				struct inner_answer *answer, struct error *err);

/* The decoded path segment {name}; never NULL for a name in the row's path. */
const char *call_param(const struct call *call, const char *name);
/* A canonical query parameter of a type that travels as a string, or NULL. The others are read from
 * call->query: json_int_at(call->query, "pageSize", 0). */
const char *call_query(const struct call *call, const char *name);

/* How many things a page may hold: what @request (the call's query or body) says as pageSize, @otherwise when it says
 * nothing or 0, never more than @most. INVALID_ARGUMENT: field page_size. */
enum status page_size_read(const json_t *request, unsigned otherwise, unsigned most, unsigned *ret_size,
			   struct error *err);
/* Ends a list's answer: "nextPageToken" (NULL on the last page), and the brace. */
void page_end_write(struct text *text, const char *next_page_token);

/* Asked about each call that a row was found for, before its handler runs, or its begin() where it has one. */
struct call_gate {
	/* OK: the call goes on. Else it fails with *err; *ret_cut: and its connection is closed without an answer, where
	 * it has one of its own. May wait, but ends that when call_closing() or call_client_gone(). Thread: the
	 * connection's. */
	enum status (*pass)(void *arg, struct call *call, const struct family *family, bool *ret_cut,
			    struct error *err);
	void *arg;
};

struct listener;

struct listener_options {
	const char *address; /* "127.0.0.1" or "::1" …; NULL: @path is set */
	uint16_t port;       /* 0: any free */
	/* Where a unix socket is made, mode 0600, and removed at the end. One that is there is replaced if nobody
	 * listens there. */
	const char *path;
	const struct family *families; /* ends with a NULL name */
	const struct clock *clock;
	const struct call_gate *gate; /* NULL: none */
	size_t body_limit_bytes;      /* 0: 10 MiB; larger ones are drained, then answered 413 */
	unsigned connection_limit;    /* 0: 512 */
	/* 0: 75; every byte received or sent starts it anew. What a handler or a stream takes to come up with
	 * something does not count. */
	unsigned idle_timeout_s;
	/* 0: no deadlines. Else how long the whole head of a request may take, and how long a body may arrive at less
	 * than 240 bytes a second (counted as a time that grows to idle_timeout_s while more arrives). A late connection is cut
	 * off, and so is one that waits for a head when places run out. */
	unsigned head_limit_ms;
	unsigned address_limit; /* connections of one address but this machine's own; 0: no limit */
	/* Names that a Host header may carry besides localhost, *.localhost, 127.0.0.0/8, ::1 and the
	 * address itself; ends with NULL; may be NULL. With a wildcard address any IP literal will do. */
	const char *const *hosts;
	bool any_host; /* neither Host nor Origin is checked: no browser can reach this listener */
	/* The network device that clients must come in by (SO_BINDTODEVICE), or NULL. Without it every container of
	 * the machine reaches an address of the host. This machine's own programs do so all the same: to the kernel
	 * they come in by the device that has the address. */
	const char *device;
	bool borrowed; /* @address is not this machine's, but packets to it come here (IP_TRANSPARENT: CAP_NET_ADMIN) */
	/* So many IPv4 addresses from this one on (host byte order) are served, others find a closed door; a count of 0:
	 * all are. */
	uint32_t first_peer, peer_count;
	/* Clients of this IPv4 network are refused with 403 ("10.213.0.0/16"); NULL: nobody is. */
	const char *refused_network;
	struct caller_rule caller; /* asked of each request but those of open rows */
	struct session_rule session;
	int64_t owner;             /* of the work on its requests (daemon/base/work.h) */
	struct ledger *ledger;     /* where requests are counted (ledger.h); NULL: nowhere */
	/* A server's key and certificate, PEM. Such a listener speaks TLS and listens nowhere: connections are brought to
	 * it (listener_adopt). Copies are kept. NULL: a plain one. */
	const char *tls_key, *tls_certificate;
	bool adopts_only; /* a plain one that listens nowhere either */
};

/* Serves from the moment it returns. Families, clock and hosts must live until the listener is closed.
 * Outcomes: INVALID_ARGUMENT: @address is no IP address, @path too long, @refused_network no network; UNAVAILABLE: it
 * cannot be bound. */
enum status listener_open(const struct listener_options *options, struct listener **ret_listener,
			  struct error *err);
uint16_t listener_port(const struct listener *listener);
/* Serves a connection that somebody else accepted, and has read nothing of; @fd is the listener's, also when it has no
 * room for it. Thread: any, until listener_close(). */
void listener_adopt(struct listener *listener, int fd, const struct sockaddr *peer, size_t size);
/* Takes no more connections, answers new requests on old ones with 503, lets those under way end (at
 * most @wait_ms), cuts what streams are left, closes. It then joins every handler still running, so nothing that
 * a handler or a stream waits for may be stopped before it, or the wait must be bounded; handlers that ask
 * daemon/base/work.h give up. NULL is harmless. */
void listener_close(struct listener *listener, unsigned wait_ms);

/* "libmicrohttpd 0.9.75, zlib 1.2.13": what runs below the listener. @text is appended to. */
void listener_versions_write(struct text *text);
