/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_ask.h: one short question to the engine; the caller waits for the answer. Thread: that of the http. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"

struct reply {
	bool came;
	enum status status; /* OK also of an answer that refuses; else there is none */
	unsigned code;      /* of HTTP */
	json_t *value;      /* NULL: it is no object */
	char text[DOCKER_TEXT_SIZE]; /* why there is no answer, or why the engine refuses */
};

void reply_deinit(struct reply *reply);
#define AUTO_REPLY __attribute__((cleanup(reply_deinit)))

/* @body: JSON, or NULL. */
struct reply docker_ask(struct http *http, const char *method, const char *path, const char *body);
/* Sets *err by a reply that is not what was wanted. */
enum status reply_failure(const struct reply *reply, struct error *err);
