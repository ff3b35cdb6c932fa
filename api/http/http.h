/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/http.h: HTTP for the families of the API: routes, calls, answers.
 *
 * The guard refuses requests that no handler may get, the router finds the row, the listener reads the whole body, the
 * row's message tables check query and body, and only then the handler runs, on the connection's own thread; it may
 * block for a commit but never for a job. The body of a row with begin() is not collected: it goes to the call's intake
 * while it comes. */
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

/* Receives a request's body while it arrives, on the connection's thread. If take is set, close() is called exactly
 * once: after the handler; or without a call of the handler, if the client left or the body was refused. */
struct intake {
	/* Takes a piece. If it fails, the call fails: the rest of the body is dropped, and the handler does not run. */
	enum status (*take)(void *arg, const char *data, size_t length, struct error *err);
	void (*close)(void *arg);
	void *arg;
};

/* Writes compact JSON to call->answer (left empty: "{}"), or fails with *err set. */
typedef enum status (*call_handler)(struct call *call, struct error *err);

/* A page may send a few content types to other sites without asking the server first (a preflight of CORS). These are
 * the ones among them that a row accepts. */
enum page_types {
	PAGE_TYPES_NONE = 0,
	PAGE_TYPES_TEXT, /* text/plain: objects may have this type */
	PAGE_TYPES_ALL,  /* the row expects forms, or no page can know its path */
};

struct route {
	const char *method; /* "GET" */
	/* Full path. {name} is one whole segment except "." and "..", decoded. A last {name=**} takes the rest, at
	 * least one byte, with slashes and dots as they were sent, decoded. A verb stands after the last colon, which
	 * is the only one: "/v1/projects/{project}/jobs/{job}:cancel". A GET row also answers HEAD unless a HEAD row
	 * comes before it. */
	const char *path;
	call_handler handler;
	/* The row's query parameters; NULL: only the system parameters. A parameter with the name of a system
	 * parameter (alt, uploadType) replaces the latter. */
	const struct message *query;
	const struct message *body; /* NULL: no body is read; &raw_body: the body is not parsed */
	const char *
		body_root; /* the request field that is the body ("job"); "": the body is the request itself */
	const struct method_doc *doc; /* NULL: the method is not in the discovery document */
	/* For a row with a streamed body, where body is NULL: called before the body arrives, with the head and the
	 * checked query; sets call->intake or fails. Of the listener's limits, only the idle timeout applies to such
	 * a body. */
	call_handler begin;
	/* The row also answers clients that have not authenticated, even if clients must: its answers have no user's
	 * data, or the row's own path or body proves the client's identity. */
	bool open;
	/* For rows that change something: the content types accepted from clients that may be browsers. */
	enum page_types page_types;
	/* For rows without doc: the answer's message, which checks masks of fields; NULL: a mask may name any field. */
	const struct message *response;
	/* For the family's own use: lets one handler serve several kinds of resources. */
	const void *methods;
	/* The gRPC method that is the same as this row (api/grpc/rpc.h); NULL: none. */
	const struct rpc *rpc;
};

/* Use as a row's body message: the body is not parsed, and call->raw has its bytes, of any type. */
extern const struct message raw_body;

/* What the discovery document says about a method in addition to its row. */
struct method_doc {
	/* The request field for the path up to and including its last {name}: "parent" for
	 * "/v1/projects/{project}/jobs". NULL: the path has no {name}, or each {name} is a parameter of its own. */
	const char *resource;
	const struct message *response;
	const char *help;
	const char *
		id; /* "objects.list"; each {name} of the path is then a parameter; NULL: derived from the path */
	const struct message
		*request; /* message of the body if the row parses it itself (raw_body); NULL: the row's body */
};

/* The column doc of a row that is in the discovery document. */
#define METHOD_DOC(RESOURCE, RESPONSE, HELP)                                                                 \
	(&(const struct method_doc){ .resource = (RESOURCE), .response = &(RESPONSE), .help = (HELP) })

/* The column doc for an API in which paths are not resource names. */
#define METHOD_DOC_NAMED(ID, REQUEST, RESPONSE, HELP)                                                        \
	(&(const struct method_doc){                                                                         \
		.id = (ID), .request = (REQUEST), .response = &(RESPONSE), .help = (HELP) })

struct family {
	const char *name;
	const struct route *routes; /* ends with a NULL method */
	void *context;              /* the handlers' call->context */
	/* Routes of the real service that this emulator does not have: they get a 404 that says so. Same path form;
	 * only method and path are used, and the method's name is derived from them ("projects.models.list"). Ends with
	 * a NULL method. May be NULL. */
	const struct route *absent;
	/* The family's rows are considered only if no row of another family has the path, with any method. */
	bool last_resort;
	/* With last_resort: true if a path of these segments (at least one) can belong to this family. NULL: any
	 * path can. Pure. */
	bool (*may_have)(const char *const *segments, size_t count);
	/* The common beginning of the paths of all rows of the family, in whole segments, for fast routing. NULL:
	 * there is none. */
	const char *under;
	bool lenient_query; /* unknown query parameters are ignored */
	/* A parameter without a value counts as absent, unless the row uses its mere presence ("?uploads"). */
	bool blank_is_absent;
	/* The beginning of the rows' paths that clients of this family omit ("/storage/v1"); rows with another
	 * beginning cannot be reached. NULL: nothing is omitted. */
	const char *omitted;
	/* Changes the text of a handler's error to the family's style, before the answer is made of it. NULL: not
	 * needed. */
	void (*error_word)(struct error *err);
	/* Writes the error about an invalid mask of fields; NULL: it has the text of the service's front end. */
	mask_refusal fields_refuse;
	/* Appends the body of an error of the family's routes, and returns its media type; NULL: error_body_write(). */
	const char *(*error_render)(const struct call *call, const struct error *err, unsigned http_status,
				    struct text *body);
	/* Returns the HTTP status for an error of a handler() or begin() of the family. NULL: the usual one for the
	 * error's status. Not called for errors that struct call_gate injects. */
	unsigned (*error_status)(const struct call *call, const struct error *err);
};

/* Results of the read() of an answer_stream, besides numbers of bytes. */
enum { STREAM_END = 0, STREAM_CUT = -1, STREAM_QUIET = -2 };

/* An answer that is made while it is sent, on the connection's own thread.
 *
 * read() is called again only when the previous piece was sent: a slow client slows the stream down, and a client that
 * reads nothing for the idle timeout is cut off. HEAD calls no read(). If read is set, close() is called exactly once:
 * at the end, when the client left, when the handler failed, or when the listener closes.
 *
 * A stream that has nothing to send yet returns STREAM_QUIET within a second, and is called again for as long as the
 * client stays, even for days. Between two calls the listener checks whether the client has left (or shut down its
 * side, which counts the same), and whether the time for closing is over. A stream without an end of its own must also
 * check call_closing(), and end itself. */
struct answer_stream {
	/* The number of bytes; STREAM_END at the end; STREAM_CUT: the connection is cut, so that the client notices
	 * that data is missing (the same happens for an end before @length); STREAM_QUIET. */
	ssize_t (*read)(void *arg, char *buffer, size_t size);
	void (*close)(void *arg);
	void *arg;
	int64_t length; /* the total, or -1: unknown (chunked) */
};

struct exchange;

/* One request. Everything in it lives until the answer is sent and its stream is closed, except query, body and raw,
 * which are freed when the handler has returned. */
struct call {
	void *context; /* the family's */
	const struct route *route;
	const char *method;
	const char *user_agent; /* "" when absent */
	const char *host;       /* the Host header, as sent */
	bool secure;            /* it came by TLS */
	bool anonymous;  /* the client has not authenticated: only open rows allow that */
	json_t *query;   /* canonical query message; {} if the row has none */
	json_t *body;    /* canonical body message; NULL if the row has none */
	const char *raw; /* for a row with raw_body; ends with a NUL that raw_bytes does not count */
	size_t raw_bytes;
	struct text answer;
	/* The answer's type, a static text. NULL: application/json; for a stream, application/octet-stream. A
	 * handler may set it, or add a header Content-Type. */
	const char *content_type;
	unsigned http_status;        /* of a success; 0 means 200. 204 and 304 have no body */
	struct answer_stream stream; /* if read is NULL, the answer is call->answer */
	struct intake intake;        /* of a row with begin */
	uint32_t peer; /* the client's IPv4 address, host byte order; 0: another kind of address */
	struct exchange *exchange; /* the listener's */
	struct call_param {
		const char *name; /* points into the row's path; ends at "}" or "=", or as a string */
		const char *value;
	} params[8];
	size_t param_count;
};

/* "https" or "http": the scheme of the request, for links back to this daemon. */
static inline const char *call_scheme(const struct call *call)
{
	return call->secure ? "https" : "http";
}

/* Adds a header to the answer; copies both strings. If the answer fails later, its added headers are dropped. False:
 * there are 256 already, @name is not a token, @value is empty or has a control character (a line end!), or the header
 * is one that the listener sets itself: Connection, Content-Length, Transfer-Encoding. */
bool call_header_add(struct call *call, const char *name, const char *value);
/* Returns a header of the request, by its name in any case; the first if there are several; "" if absent. */
const char *call_header(const struct call *call, const char *name);
/* Calls @seen for every header of the request, in order; never for a request inside another one. */
void call_headers_each(const struct call *call, void (*seen)(void *arg, const char *name, const char *value),
		       void *arg);
/* True if the listener is closing. Thread: any, while the call lives. */
bool call_closing(const struct call *call);
/* True if the client has left, or shut down its side, which counts the same. A handler that waits long checks this now
 * and then. False if it is unknown. Thread: the connection's. */
bool call_client_gone(const struct call *call);

/* Call before a gate waits, so that other calls with large bodies need not wait for this one. Frees the call's query
 * and body; they are parsed again before the handler runs. False: half of the listener's connections wait already,
 * so this call must not wait. */
bool call_wait_begin(struct call *call);
/* Ends a wait that call_wait_begin() began. */
void call_wait_end(struct call *call);

/* Answers a request that came inside another one's body (a part of a batch): through the same families, but to @answer
 * instead of the client. @target is raw, as on a request line, with or without scheme and host; @head_text is "Name:
 * value" lines; @body may be NULL. The headers of the outer request count for it too, except Content-* and those that
 * it has itself. An error of the part becomes the part's answer, and the result is OK; rows with begin and streams are
 * thus answered 400. Outcomes: INVALID_ARGUMENT: @outer is itself such a request; UNAVAILABLE: a gate closed the
 * connection, which ends the outer request too, or there is no memory for the answer. @answer is set only for OK, and
 * freed by inner_answer_deinit(). */
struct inner_answer {
	unsigned http_status;
	struct text headers; /* "Name: value\r\n" lines, including Content-Type */
	struct text body;
};
void inner_answer_deinit(struct inner_answer *answer);
enum status call_inner(struct call *outer, const char *method, const char *target, const char *head_text,
		       const char *body, size_t body_bytes, struct inner_answer *answer, struct error *err);

/* Authentication. check() gets the headers Authorization and X-Goog-Api-Key, NULL if absent. UNAUTHENTICATED:
 * refused. Thread: any. check NULL: every client is accepted. */
struct caller_rule {
	enum status (*check)(void *arg, const char *authorization, const char *api_key, struct error *err);
	void *arg;
};

/* Authentication of pages in a browser. A request with a path that begins with @under is treated as if its path did not
 * have that beginning, except that check() may accept it by its headers Cookie and X-Trainyard-Session (NULL if absent)
 * in place of a token. Thread: any. */
struct session_rule {
	const char *under; /* "/_trainyard/console/api"; NULL: there are no sessions */
	bool (*check)(void *arg, const char *cookies, const char *proof); /* NULL: no request is accepted */
	void *arg;
};

/* Serves requests of clients that speak another protocol than HTTP/1, with the same guard, limits and families as a
 * listener. Of an answer that is a stream, only the head is returned. */
struct inner_endpoint;

struct ledger;
struct listener_options;

struct inner_endpoint_request {
	const char *method, *target; /* as on the request line of HTTP */
	const char *head_text;       /* "Name: value" lines; NULL: none */
	const char *body;
	size_t body_bytes;
	uint32_t peer; /* becomes call->peer */
	int client_fd; /* the client's socket, for call_client_gone(); 0: unknown */
};

/* Only these members of @options are used: families, clock (NULL: the system's), gate, address (the one that clients
 * connect to), hosts, any_host, refused_network, caller, owner, ledger, body_limit_bytes (no default) and
 * connection_limit (half as many calls may wait at a time). What they point to must live until the endpoint is closed.
 * INVALID_ARGUMENT: refused_network is not a network. */
enum status inner_endpoint_open(const struct listener_options *options, struct inner_endpoint **ret_endpoint,
				struct error *err);
/* Announces the close: call_closing() becomes true for waiting calls, and new calls are refused. */
void inner_endpoint_end(struct inner_endpoint *endpoint);
/* Closes the endpoint; no call may be running. NULL is harmless. */
void inner_endpoint_close(struct inner_endpoint *endpoint);
/* The number of waiting calls (call_wait_begin()). Thread: any. */
unsigned inner_endpoint_waiting(const struct inner_endpoint *endpoint);
/* The first checks of inner_endpoint_call(), before there is a body. Uses method, head_text and peer of @request.
 * *answer is the refusal; its http_status is 0 if the request is accepted. UNAVAILABLE: no memory for the answer.
 * Thread: any. */
enum status inner_endpoint_admit(struct inner_endpoint *endpoint,
				 const struct inner_endpoint_request *request, struct inner_answer *answer,
				 struct error *err);
/* Answers a request. An error of the request becomes its answer, and the result is OK. UNAVAILABLE: no memory for
 * the answer. Thread: any. */
enum status inner_endpoint_call(struct inner_endpoint *endpoint, const struct inner_endpoint_request *request,
				struct inner_answer *answer, struct error *err);

/* Returns the decoded path segment {name}; never NULL for a name in the row's path. */
const char *call_param(const struct call *call, const char *name);
/* Returns a canonical query parameter that is a string in JSON; NULL: absent. Read parameters of other types from
 * call->query: json_int_at(call->query, "pageSize", 0). */
const char *call_query(const struct call *call, const char *name);

/* The page size of a request: pageSize of @request (the call's query or body), @otherwise if that is missing or 0, and
 * never more than @most. INVALID_ARGUMENT: field page_size. */
enum status page_size_read(const json_t *request, unsigned otherwise, unsigned most, unsigned *ret_size,
			   struct error *err);
/* Ends the answer of a list with "nextPageToken" (unless NULL: the last page) and the closing brace. */
void page_end_write(struct text *text, const char *next_page_token);

/* Called for each call for which a row was found: before the row's begin() or, without one, before its handler. */
struct call_gate {
	/* OK: the call proceeds. Otherwise it fails with *err; *ret_cut: the connection, if it is the call's own, is
	 * closed without an answer. May wait, but must return once call_closing() or call_client_gone() is true.
	 * Thread: the connection's. */
	enum status (*pass)(void *arg, struct call *call, const struct family *family, bool *ret_cut,
			    struct error *err);
	void *arg;
};

struct listener;

struct listener_options {
	const char *address; /* "127.0.0.1" or "::1" …; NULL: @path is set */
	uint16_t port;       /* 0: any free */
	/* Path of a unix socket, made with mode 0600 and removed at the end. An existing socket is replaced if no
	 * process listens on it. */
	const char *path;
	const struct family *families; /* ends with a NULL name */
	const struct clock *clock;
	const struct call_gate *gate; /* NULL: none */
	size_t body_limit_bytes;      /* 0: 10 MiB; a larger body is read, dropped and answered 413 */
	unsigned connection_limit;    /* 0: 512 */
	/* The idle timeout, restarted by every byte received or sent; 0: 75 s. The time that a handler or a stream
	 * takes does not count. */
	unsigned idle_timeout_s;
	/* 0: no deadlines. Otherwise how long the whole head of a request may take, and how long a body may arrive at
	 * less than 240 bytes a second (a time that grows up to idle_timeout_s while more arrives). A late connection
	 * is cut off, and so is one that waits for a head when places are scarce. */
	unsigned head_limit_ms;
	unsigned address_limit; /* connections per address, without this machine's own; 0: no limit */
	/* Further names for Host headers, beside localhost, *.localhost, 127.0.0.0/8, ::1 and the address itself; ends
	 * with NULL; may be NULL. With a wildcard address any IP literal is accepted. */
	const char *const *hosts;
	bool any_host; /* Host and Origin are not checked, because no browser can reach this listener */
	/* The network device through which clients must connect (SO_BINDTODEVICE), or NULL. Without it every container
	 * of the machine reaches every address of the host. Programs of this machine connect all the same: for the
	 * kernel they use the device that has the address. */
	const char *device;
	/* @address does not belong to this machine, but packets to it are routed here (IP_TRANSPARENT: CAP_NET_ADMIN) */
	bool borrowed;
	/* The listener serves only clients with one of @peer_count IPv4 addresses from @first_peer on (host byte
	 * order), and closes other connections. A count of 0: all clients are served. */
	uint32_t first_peer, peer_count;
	/* Clients of this IPv4 network are refused with 403 ("10.213.0.0/16"); NULL: no network is refused. */
	const char *refused_network;
	struct caller_rule caller; /* checked for each request, except those of open rows */
	struct session_rule session;
	int64_t owner;             /* owner of the work on its requests (daemon/base/work.h) */
	struct ledger *ledger;     /* counts the requests (ledger.h); NULL: they are not counted */
	/* A server's key and certificate, PEM, copied. Such a listener speaks TLS and binds no address: connections are
	 * passed to it (listener_adopt). NULL: no TLS. */
	const char *tls_key, *tls_certificate;
	bool adopts_only; /* binds no address even without TLS: connections are passed to it (listener_adopt) */
};

/* Starts serving. Families, clock and hosts must live until the listener is closed. INVALID_ARGUMENT: @address is
 * not an IP address, @path is too long, or @refused_network is not a network; UNAVAILABLE: the address or path
 * cannot be bound. */
enum status listener_open(const struct listener_options *options, struct listener **ret_listener,
			  struct error *err);
uint16_t listener_port(const struct listener *listener);
/* Serves a connection that the caller accepted and has not read from. Takes over @fd, and closes it if there is no
 * slot. Thread: any, until listener_close(). */
void listener_adopt(struct listener *listener, int fd, const struct sockaddr *peer, size_t size);
/* Accepts no more connections, answers new requests on existing connections with 503, waits at most @wait_ms for
 * running requests to end, cuts the streams that are left, and closes. Then it waits for each handler that still runs;
 * handlers that use daemon/base/work.h give up. So whatever handlers and streams wait for must not be stopped before
 * this has returned, unless their wait has a limit. NULL is harmless. */
void listener_close(struct listener *listener, unsigned wait_ms);

/* Appends the versions of the libraries that the listener uses: "libmicrohttpd 0.9.75, zlib 1.2.13". */
void listener_versions_write(struct text *text);
