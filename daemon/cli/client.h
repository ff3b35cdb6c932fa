/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/client.h: asks a daemon by HTTP, as any client does.
 *
 * Thread: one client is one thread's. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct client;

/* @endpoint: "http://HOST:PORT" or "unix:/PATH"; NULL: $TRAINYARD_ENDPOINT, else the address that the daemon of the default
 * state directory wrote down, else the default of `serve`. @token_file: NULL: $TRAINYARD_TOKEN_FILE; else, for the address
 * that a daemon wrote down, the file that stands beside it: a token goes to no other server than its own. Nothing is asked
 * yet. INVALID_ARGUMENT: the endpoint is none; FAILED_PRECONDITION: the token cannot be read. */
enum status client_open(const char *endpoint, const char *token_file, struct client **ret_client,
			struct error *err);
void client_close(struct client *client);
DEFINE_AUTO(client, struct client *, client_close)
const char *client_endpoint(const struct client *client);

/* One request; @body: NULL: none. *ret_answer: the JSON of a 2xx answer; NULL: it is not wanted; json_null() of an empty one.
 * Outcomes: the daemon's own error, with its message; UNAVAILABLE with no HTTP status: nothing answers
 * (client_is_unreached()); INTERNAL: the answer is no JSON. */
enum status client_call(struct client *client, const char *method, const char *path, const json_t *body,
			json_t **ret_answer, struct error *err);
/* Reads the answer of a GET as it comes. @take gets each piece; false ends it, which is no failure. Outcomes as above. */
enum status client_read(struct client *client, const char *path,
			bool (*take)(void *arg, const char *data, size_t length), void *arg,
			struct error *err);
/* Whether the last call failed because no daemon answered at all. */
bool client_is_unreached(const struct client *client);
