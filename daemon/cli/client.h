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

/* Where clients go unless they are told: $TRAINYARD_ENDPOINT, the address that the daemon of the default state directory
 * wrote down, the default of `serve`. The caller frees. */
char *client_endpoint_default(void);

/* @endpoint: "http://HOST:PORT" or "unix:/PATH"; NULL: client_endpoint_default(). @token_file: NULL: none, or the one that
 * the daemon of the default state directory wrote down. Nothing is asked yet. INVALID_ARGUMENT: the endpoint is none;
 * FAILED_PRECONDITION: the token cannot be read. */
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
/* Whether the last call failed because no daemon answered at all. */
bool client_is_unreached(const struct client *client);
