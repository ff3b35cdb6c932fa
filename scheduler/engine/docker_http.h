/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_http.h: HTTP over connections to an engine, many exchanges at once on one thread.
 *
 * An exchange is queued in a lane; each lane lets so many of its exchanges run at a time. Every
 * function belongs to the engine's thread, but http_wakeup(). All may be called anywhere on that
 * thread, also inside the callbacks: nothing is handed to curl before http_move(). */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct endpoint;
struct http;
struct http_exchange;

enum http_lane {
	LANE_CALL,   /* short questions and changes */
	LANE_START,  /* container starts: more than two per core at a time gain nothing */
	LANE_STOP,   /* calls that wait for a program to end */
	LANE_PULL,   /* image pulls */
	LANE_EVENTS, /* the stream of them: without it all else is blind */
	LANE_FOLLOW, /* logs that go on for as long as their containers do */
	LANE_READ,   /* logs that come to an end, sooner or later */
	LANE_COUNT
};

/* What came back. Borrowed by done(). */
struct http_answer {
	enum status status;  /* OK: a whole HTTP answer, whatever its code says */
	unsigned code;       /* HTTP status; 0 when none came */
	const char *problem; /* why there is no whole answer; "" when OK */
	bool unreachable;    /* no connection could be made */
	const char *body;    /* NUL-terminated; "" when it went to data() */
	size_t body_length;
	const char *api_version; /* of the Api-Version header; "" without */
};

enum http_outcome {
	HTTP_TAKEN,
	HTTP_PAUSE, /* nothing was taken: the same bytes come again after http_resume() */
	HTTP_BREAK, /* ends the exchange with an error */
};

struct http_request {
	const char *method;
	const char *path;          /* with query, without version; copied, as are body and registry_auth */
	const char *body;          /* JSON, or NULL */
	size_t body_bytes;         /* of a body that is no JSON; 0: it ends with its NUL */
	const char *body_header;   /* of such a body: its "Content-Type: …" */
	const char *registry_auth; /* value of X-Registry-Auth, or NULL; wiped afterwards */
	enum http_lane lane;
	unsigned timeout_s;   /* 0: none; endpoint_patience_s() are added */
	bool without_version; /* the path is used as it is */
	size_t body_max; /* of a body that is collected: a longer one fails the exchange; 0: HTTP_BODY_MAX */
	/* Headers of a good answer are here. NULL: not told. */
	void (*opened)(void *arg);
	/* Body bytes of a good answer (below 300), as they come; NULL: collected for done(). */
	enum http_outcome (*data)(void *arg, const char *data, size_t length);
	/* The end, exactly once; may come before http_start() returns (libcurl does not take the request). */
	void (*done)(void *arg, const struct http_answer *answer);
	void *arg;
	/* Where the caller keeps the exchange for http_cancel() and http_resume(); NULL there before
	 * done() is called. The address must live as long as the exchange, or be NULL. */
	struct http_exchange **slot;
};

/* An inspected container says its command twice, each byte of it in six when it has to be escaped. */
enum { HTTP_BODY_MAX = 64 << 20 };
/* In a list each container comes with all of its command, which may be long (PROGRAM_MAX). A list that is never taken
 * would stop all jobs for good. */
enum { DOCKER_LISTING_MAX = 512 << 20 };

/* Holds @endpoint. */
enum status http_new(struct endpoint *endpoint, struct http **ret_http, struct error *err);
/* Every exchange must have ended: http_fail_all(). */
void http_free(struct http *http);
DEFINE_AUTO(http, struct http *, http_free)

/* The "1.41" that paths are prefixed with from now on. */
void http_set_version(struct http *http, const char *version);
void http_set_limit(struct http *http, enum http_lane lane, unsigned limit);

void http_start(struct http *http, const struct http_request *request);
/* Whether it still waits for its turn: nothing of it was sent. */
bool http_is_queued(const struct http_exchange *exchange);
/* Ends it without done(). */
void http_cancel(struct http_exchange *exchange);
/* After HTTP_PAUSE. Not inside callbacks. */
void http_resume(struct http_exchange *exchange);

/* Moves everything on as far as it goes without waiting; the callbacks are called in here. */
void http_move(struct http *http);
/* Waits until there is something to move, at most @timeout_ms. */
void http_wait(struct http *http, int timeout_ms);
/* Ends a wait, or the next one. Thread: any. */
void http_wakeup(struct http *http);
/* Ends each exchange with CANCELLED through its done(). True when there was one. */
bool http_fail_all(struct http *http);
