/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/client.h: asks a daemon by HTTP, as any client does.
 *
 * Thread: one client is one thread's. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct client;
struct invocation;

/* The daemon that a verb's command line names: by --endpoint, by --state-dir or --config (the daemon of that state directory);
 * else by $TRAINYARD_ENDPOINT, else the one of the default state directory, else the default of `serve`.
 *
 * Its token is in --token-file; else in $TRAINYARD_TOKEN_FILE or, while the daemon of the state directory runs, in the file
 * that it wrote down. These two are for the daemon that is asked without --endpoint: a token goes to no other server.
 * Nothing is asked yet. INVALID_ARGUMENT: the endpoint is none, the configuration is wrong; FAILED_PRECONDITION: the token
 * cannot be read. */
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
/* How long each later client_call() may take; 60 s unless this is called. */
void client_limit(struct client *client, int64_t limit_us);

/* Once the daemon has answered, calls of GET wait so long for one that does not answer any more, as while it restarts. It is
 * told of on a terminal. 0, as at first: not at all. */
void client_wait_out(struct client *client, int64_t away_us);

/* One request; @body: NULL: none. *ret_answer: the JSON of a 2xx answer; NULL: it is not wanted; json_null() of an empty one.
 * Outcomes: the daemon's own error, with its message; UNAVAILABLE with no HTTP status: nothing answers
 * (client_is_unreached()); INTERNAL: the answer is no JSON. */
enum status client_call(struct client *client, const char *method, const char *path, const json_t *body,
			json_t **ret_answer, struct error *err);
/* Reads the answer of a GET as it comes. @take gets each piece; false ends it, which is no failure. Outcomes as above. */
enum status client_read(struct client *client, const char *path,
			bool (*take)(void *arg, const char *data, size_t length), void *arg,
			struct error *err);

/* A request with headers and a body of bytes, for an answer with a status and headers that matter. */
struct client_request {
	const char *method, *path;
	const char *const *headers; /* "Content-Range: bytes 0-9/10", ends with NULL; NULL: none */
	const void *body;           /* NULL: none */
	size_t body_bytes;
	/* Or a body that is made while it is sent: the next bytes, 0 at its end, -1 to give up (CANCELLED). NULL: @body. */
	ssize_t (*give)(void *arg, char *buffer, size_t size);
	void *give_arg;
	bool (*take)(void *arg, const char *data,
		     size_t length); /* gets the body of a 2xx answer; NULL: it is JSON */
	void *arg;
	bool quiet; /* the answer may come in pieces with any time between them */
};
struct client_response {
	long http_status;
	char *location; /* NULL: the answer has no such header */
	char *range;    /* likewise */
	json_t *json;   /* NULL: @take had it, or the answer is no JSON */
};
void client_response_deinit(struct client_response *response);
#define AUTO_RESPONSE __attribute__((cleanup(client_response_deinit)))

/* As client_read(); unless the request is @quiet a connection ends on which nothing moves for two minutes. 308 of a resumable
 * upload is no failure. */
enum status client_send(struct client *client, const struct client_request *request,
			struct client_response *ret_response, struct error *err);

/* Whether the last call failed because no daemon answered at all; as a part of that, because it took too long. */
bool client_is_unreached(const struct client *client);
bool client_is_late(const struct client *client);
