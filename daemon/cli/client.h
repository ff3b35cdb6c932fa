/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/client.h: an HTTP client for the daemon.
 *
 * Thread: one client belongs to one thread. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct client;
struct invocation;

/* The daemon for a command line: by --endpoint, by --state-dir or --config (the daemon of that state directory); else
 * by $TRAINYARD_ENDPOINT, else that of the default state directory, else the default of `serve`.
 *
 * Its token is in --token-file; else in $TRAINYARD_TOKEN_FILE or, while the daemon of the state directory runs, in the
 * file that it wrote down. The last two are used only without --endpoint, so that a token is never sent to another
 * server. Nothing is sent yet. INVALID_ARGUMENT: bad endpoint or configuration; FAILED_PRECONDITION: the token cannot
 * be read. */
enum status client_of(const struct invocation *invocation, struct client **ret_client, struct error *err);
/* @endpoint: "http://HOST:PORT" or "unix:/PATH"; @token_file: NULL: none. */
enum status client_open(const char *endpoint, const char *token_file, struct client **ret_client,
			struct error *err);
void client_close(struct client *client);
DEFINE_AUTO(client, struct client *, client_close)
const char *client_endpoint(const struct client *client);
bool client_has_token(const struct client *client);
/* NULL: there is none. */
const char *client_token(const struct client *client);
/* The time limit of each later client_call(); 60 s by default. */
void client_limit(struct client *client, int64_t limit_us);

/* After the daemon's first answer, GET calls wait so long for a daemon that does not answer, for example while it
 * restarts; a terminal shows a message meanwhile. 0, the default: no wait. */
void client_wait_out(struct client *client, int64_t away_us);
/* Says that the daemon is away, and how long it is waited for, until @end_us of the monotonic clock: on a terminal as
 * progress, elsewhere one line an absence. */
void client_show_away(struct client *client, int64_t end_us);

/* One request; @body: NULL: none. *ret_answer: the JSON of a 2xx answer; NULL: not wanted; json_null() for an empty
 * answer.
 * Outcomes: the daemon's own error, with its message; UNAVAILABLE without an HTTP status: no answer
 * (client_is_unreached()); INTERNAL: the answer is not JSON. */
enum status client_call(struct client *client, const char *method, const char *path, const json_t *body,
			json_t **ret_answer, struct error *err);
/* Reads the answer of a GET as it comes. @take gets each piece; false stops, which is no failure. Outcomes as above. */
enum status client_read(struct client *client, const char *path,
			bool (*take)(void *arg, const char *data, size_t length), void *arg,
			struct error *err);

/* Likewise for an answer that may last for ever. */
struct client_following {
	bool (*take)(void *arg, const char *data, size_t length);
	bool (*tick)(void *arg); /* called about once a second; false stops, which is no failure; NULL: none */
	void *arg;
	int64_t limit_us; /* then the outcome is UNAVAILABLE, and client_is_late(); 0: none */
};
enum status client_follow(struct client *client, const char *path, const struct client_following *following,
			  struct error *err);

/* A request with headers and a body of bytes; the answer's status and headers are returned. */
struct client_request {
	const char *method, *path;
	const char *const *headers; /* "Content-Range: bytes 0-9/10", ends with NULL; NULL: none */
	const void *body;           /* NULL: none */
	size_t body_bytes;
	/* Or a body made while it is sent: the next bytes, 0: the end, -1: give up (CANCELLED). NULL: @body. */
	ssize_t (*give)(void *arg, char *buffer, size_t size);
	void *give_arg;
	bool (*take)(void *arg, const char *data,
		     size_t length); /* gets the body of a 2xx answer; NULL: the body is JSON */
	void *arg;
	bool quiet; /* the answer may have pauses of any length */
};
struct client_response {
	long http_status;
	char *location; /* NULL: the answer has no such header */
	char *range;    /* likewise */
	json_t *json;   /* NULL: @take got it, or the answer is not JSON */
};
void client_response_deinit(struct client_response *response);
#define AUTO_RESPONSE __attribute__((cleanup(client_response_deinit)))

/* Like client_read(); unless the request is @quiet, a connection is closed after two minutes without data. 308 of a
 * resumable upload is no failure. */
enum status client_send(struct client *client, const struct client_request *request,
			struct client_response *ret_response, struct error *err);

/* Whether the last call failed because no daemon answered; and whether that was because it took too long. */
bool client_is_unreached(const struct client *client);
bool client_is_late(const struct client *client);
