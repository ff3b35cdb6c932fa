/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_ask.h"

#include <stdio.h>

enum { TIMEOUT_S = 3 };

void reply_deinit(struct reply *reply)
{
	json_decref(reply->value);
}

static void replied(void *arg, const struct http_answer *answer)
{
	struct reply *reply = arg;

	reply->came = true;
	reply->status = answer->status;
	reply->code = answer->code;
	reply->value = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	if (!reply->value)
		reply->value = docker_parse(answer->body, answer->body_length, JSON_ARRAY);
	if (answer->status)
		snprintf(reply->text, sizeof(reply->text), "%s", answer->problem);
	else
		docker_message(answer->body, answer->body_length, reply->text);
}

struct reply docker_ask_for(struct http *http, struct http_request request)
{
	struct reply reply = { 0 };

	request.done = replied;
	request.arg = &reply;
	http_start(http, &request);
	for (http_move(http); !reply.came; http_move(http))
		http_wait(http, TIMEOUT_S * 1000);
	return reply;
}

struct reply docker_ask(struct http *http, const char *method, const char *path, const char *body)
{
	return docker_ask_for(http,
			      (struct http_request){
				      .method = method, .path = path, .body = body, .timeout_s = TIMEOUT_S });
}

enum status reply_failure(const struct reply *reply, struct error *err)
{
	return error_set(err, reply->status ? reply->status : docker_code_status(reply->code), NULL, "%s",
			 reply->text);
}
