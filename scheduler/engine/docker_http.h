/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_http.h: HTTP over connections to an engine, with many exchanges at once on one thread.
 *
 * An exchange is queued in a lane, and each lane limits how many of its exchanges run at a time. Every function belongs
 * to the engine's thread, except http_wakeup(). On that thread they may be called anywhere, also inside the callbacks:
 * nothing is passed to curl before http_move(). */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct endpoint;
struct http;
struct http_exchange;

enum http_lane {
	LANE_CALL,   /* short requests */
	LANE_START,  /* starts of containers; more than two at a time per core do not save time */
	LANE_STOP,   /* calls that wait for a program to end */
	LANE_PULL,   /* image pulls */
	LANE_EVENTS, /* the stream of events; without it the other calls have no use */
	LANE_FOLLOW, /* logs that are followed for as long as their containers run */
	LANE_READ,   /* logs that are read to their end */
	LANE_COUNT
};

/* The result of an exchange. It is valid only during done(). */
struct http_answer {
	enum status status;  /* OK: a complete HTTP answer, with any code */
	unsigned code;       /* HTTP status; 0: there was no answer */
	const char *problem; /* why there is no complete answer; "" if OK */
	bool unreachable;    /* no connection could be made */
	const char *body;    /* NUL-terminated; "" if it was passed to data() */
	size_t body_length;
	const char *api_version; /* value of the Api-Version header; "" without one */
};

enum http_outcome {
	HTTP_TAKEN,
	HTTP_PAUSE, /* data() took no bytes: it gets the same bytes again after http_resume() */
	HTTP_BREAK, /* ends the exchange with an error */
};

struct http_request {
	const char *method;
	const char *path;          /* with query, without version; path, body and registry_auth are copied */
	const char *body;          /* JSON, or NULL */
	size_t body_bytes;         /* length of a body that is not JSON; 0: the body ends at its NUL */
	const char *body_header;   /* the whole header line for a body with body_bytes: "Content-Type: …" */
	const char *registry_auth; /* value of X-Registry-Auth, or NULL; wiped afterwards */
	enum http_lane lane;
	unsigned timeout_s;   /* 0: no limit; endpoint_patience_s() is added */
	bool without_version; /* the path gets no version prefix */
	size_t body_max; /* the limit of a body that is collected: a longer one fails the exchange; 0: HTTP_BODY_MAX */
	/* Called when the headers of a good answer have arrived. NULL: not called. */
	void (*opened)(void *arg);
	/* Called with the body of a good answer (below 300) as it arrives; NULL: the body is collected for done(). */
	enum http_outcome (*data)(void *arg, const char *data, size_t length);
	/* Called exactly once, at the exchange's end. If libcurl refuses the request, it is called before
	 * http_start() returns. */
	void (*done)(void *arg, const struct http_answer *answer);
	void *arg;
	/* The caller's pointer to the exchange, for http_cancel() and http_resume(). It is set to NULL before done()
	 * is called, and must live as long as the exchange. NULL: the caller needs none. */
	struct http_exchange **slot;
};

/* The limit is this high, because the inspection of a container has its command twice, and an escaped byte takes six
 * bytes. */
enum { HTTP_BODY_MAX = 64 << 20 };
/* The limit of a listing. It has the whole command of each container, which may be long (PROGRAM_MAX). A limit that
 * real listings exceed would stop all jobs for good. */
enum { DOCKER_LISTING_MAX = 512 << 20 };

/* Makes a client for @endpoint, of which it holds a reference. */
enum status http_new(struct endpoint *endpoint, struct http **ret_http, struct error *err);
/* To be called after all exchanges have ended: http_fail_all(). */
void http_free(struct http *http);
DEFINE_AUTO(http, struct http *, http_free)

/* Sets the API version that becomes the prefix of paths, such as "1.41". */
void http_set_version(struct http *http, const char *version);
void http_set_limit(struct http *http, enum http_lane lane, unsigned limit);

void http_start(struct http *http, const struct http_request *request);
/* Whether the exchange still waits in its lane, so that nothing was sent. */
bool http_is_queued(const struct http_exchange *exchange);
/* Ends the exchange without a call of done(). */
void http_cancel(struct http_exchange *exchange);
/* Continues an exchange after HTTP_PAUSE. Must not be called inside callbacks. */
void http_resume(struct http_exchange *exchange);

/* Runs all exchanges as far as possible without waiting; calls the callbacks. */
void http_move(struct http *http);
/* Waits at most @timeout_ms until an exchange can continue. */
void http_wait(struct http *http, int timeout_ms);
/* Ends the current wait, or the next one. Thread: any. */
void http_wakeup(struct http *http);
/* Ends each exchange with CANCELLED through its done(). True if there was one. */
bool http_fail_all(struct http *http);
