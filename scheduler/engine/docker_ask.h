/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_ask.h: sends one short request to the engine and waits for the answer. Thread: that of the
 * http. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"

struct reply {
	bool came;
	enum status
		status; /* OK: the engine answered, even if with a refusal; otherwise there is no answer */
	unsigned code;      /* of HTTP */
	json_t *value;      /* an object or an array; NULL: it is neither */
	char text[DOCKER_TEXT_SIZE]; /* why there is no answer, or why the engine refused */
};

void reply_deinit(struct reply *reply);
#define AUTO_REPLY __attribute__((cleanup(reply_deinit)))

/* One that may take longer, or has another body. done and arg of it are not read. */
struct reply docker_ask_for(struct http *http, struct http_request request);
/* @body: JSON, or NULL. */
struct reply docker_ask(struct http *http, const char *method, const char *path, const char *body);
/* Sets *err from a reply that is a failure. */
enum status reply_failure(const struct reply *reply, struct error *err);
