/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_ask.h: sends one short request to the engine and waits for the answer. Thread: that of
 * @http. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"

struct reply {
	bool came;
	enum status
		status; /* OK: the engine answered, even if it refused the request; otherwise it did not answer */
	unsigned code;      /* the HTTP status code */
	json_t *value;      /* the answer's JSON object or array; NULL: the body is neither */
	char text[DOCKER_TEXT_SIZE]; /* the reason why there is no answer or why the engine refused; otherwise "" */
};

void reply_deinit(struct reply *reply);
#define AUTO_REPLY __attribute__((cleanup(reply_deinit)))

/* Like docker_ask(), for a request with another timeout or another kind of body. request.done and request.arg are
 * ignored. */
struct reply docker_ask_for(struct http *http, struct http_request request);
/* Sends a request with the JSON @body (NULL: none), and waits for the answer. The caller releases the reply. */
struct reply docker_ask(struct http *http, const char *method, const char *path, const char *body);
/* Sets *err from a reply that is not a success, and returns its status. */
enum status reply_failure(const struct reply *reply, struct error *err);
