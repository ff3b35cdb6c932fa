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

/* Makes a client of the daemon that a command line means. That is the daemon of --endpoint, or of the state directory
 * that --state-dir or --config names; without these options the daemon of $TRAINYARD_ENDPOINT, else that of the default
 * state directory, else the one at the address where `serve` listens by default.
 *
 * The token is in the file of --token-file; else in that of $TRAINYARD_TOKEN_FILE or, while the daemon of the state
 * directory runs, in the file that this daemon has named in its address file; else it is $TRAINYARD_TOKEN. With
 * --state-dir both variables are ignored. If --endpoint names another server than would be used without it, only
 * --token-file counts, so that no other token is sent there. Nothing is sent yet. INVALID_ARGUMENT: bad endpoint or
 * configuration; FAILED_PRECONDITION: the token cannot be read. */
enum status client_of(const struct invocation *invocation, struct client **ret_client, struct error *err);
/* Makes a client. @endpoint: "http://HOST:PORT" or "unix:/PATH"; @token_file NULL: calls have no token. */
enum status client_open(const char *endpoint, const char *token_file, struct client **ret_client,
			struct error *err);
void client_close(struct client *client);
DEFINE_AUTO(client, struct client *, client_close)
const char *client_endpoint(const struct client *client);
bool client_has_token(const struct client *client);
/* Returns the token of the calls; NULL: there is none. */
const char *client_token(const struct client *client);
/* Sets the time limit of each later client_call(); the default is 60 s. */
void client_limit(struct client *client, int64_t limit_us);

/* After the daemon's first answer, GET calls wait up to @away_us for a daemon that does not answer, for example while it
 * restarts; a terminal shows a message meanwhile. 0, the default: no wait. */
void client_wait_out(struct client *client, int64_t away_us);
/* Reports that the daemon does not answer, and how long the caller still waits for it: until @end_us of the monotonic
 * clock. On a terminal this is a line of progress; otherwise it is printed once for each absence. */
void client_show_away(struct client *client, int64_t end_us);

/* Makes one request. @body NULL: no body. *ret_answer: the JSON of a 2xx answer, json_null() if it is empty; NULL: the
 * caller does not want it. Outcomes: the daemon's own error, with its message; UNAVAILABLE without an HTTP status: no
 * answer (client_is_unreached()); INTERNAL: the answer is not JSON. */
enum status client_call(struct client *client, const char *method, const char *path, const json_t *body,
			json_t **ret_answer, struct error *err);
/* Reads the answer of a GET while it arrives. @take gets each piece; if it returns false, reading stops, which is no
 * failure. Outcomes as client_call(). */
enum status client_read(struct client *client, const char *path,
			bool (*take)(void *arg, const char *data, size_t length), void *arg,
			struct error *err);

/* Options for an answer that may never end. */
struct client_following {
	bool (*take)(void *arg, const char *data, size_t length);
	bool (*tick)(void *arg); /* called about once a second; if it returns false, reading stops, which is no failure;
	                          * NULL: none */
	void *arg;
	int64_t limit_us; /* time limit, after which the outcome is UNAVAILABLE and client_is_late() is true; 0: no limit */
};
enum status client_follow(struct client *client, const char *path, const struct client_following *following,
			  struct error *err);

/* A request with headers and a body of bytes; the caller gets the answer's status and headers. */
struct client_request {
	const char *method, *path;
	const char *const *headers; /* "Content-Range: bytes 0-9/10", ends with NULL; NULL: none */
	const void *body;           /* NULL: none */
	size_t body_bytes;
	/* Makes the body while it is sent: returns the number of bytes written to @buffer, 0 at the end, or -1 to give
	 * up (CANCELLED). NULL: the body is @body. */
	ssize_t (*give)(void *arg, char *buffer, size_t size);
	void *give_arg;
	bool (*take)(void *arg, const char *data,
		     size_t length); /* gets the body of a 2xx answer; NULL: the body is JSON */
	void *arg;
	bool quiet; /* the answer may pause for any time; no time limit applies to pauses */
};
struct client_response {
	long http_status;
	char *location; /* NULL: the answer has no such header */
	char *range;    /* NULL: the answer has no such header */
	json_t *json;   /* the answer's JSON; NULL: @take got the body, or it is not JSON */
};
void client_response_deinit(struct client_response *response);
#define AUTO_RESPONSE __attribute__((cleanup(client_response_deinit)))

/* Like client_read(); unless the request is @quiet, a connection is closed after two minutes without data. 308 of a
 * resumable upload is no failure. */
enum status client_send(struct client *client, const struct client_request *request,
			struct client_response *ret_response, struct error *err);

/* client_is_unreached(): the last call failed because no daemon answered. client_is_late(): it failed because a time
 * limit was over. */
bool client_is_unreached(const struct client *client);
bool client_is_late(const struct client *client);
