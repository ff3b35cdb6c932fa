/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_http.c where memory or the taker of a stream fails: what is asked is asked whole or not at
 * all, and each exchange ends once. libcurl's memory fails like all other. */
#include "scheduler/engine/docker_http.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/asked_server.h"
#include "tests/support/memory_faults.h"

enum { ANSWER_BYTES = 40000, WAIT_MS = 10 };

/* ---- libcurl ---- */

CURLcode __wrap_curl_global_init(long flags);
CURLcode __wrap_curl_global_init(long flags)
{
	return curl_global_init_mem(flags, malloc, free, realloc, strdup, calloc);
}

/* That of other versions asks for memory. */
CURLMcode __real_curl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode __wrap_curl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode __wrap_curl_multi_add_handle(CURLM *multi, CURL *easy)
{
	void *asked = malloc(1);
	CURLMcode rc = asked ? __real_curl_multi_add_handle(multi, easy) : CURLM_OUT_OF_MEMORY;

	free(asked);
	return rc;
}

/* ---- the engine ---- */

static char socket_path[64];

static int engine_open(void **state)
{
	static char answer[100 + ANSWER_BYTES];
	const int head =
		snprintf(answer, sizeof(answer),
			 "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: %d\r\n\r\n", ANSWER_BYTES);

	(void)state;
	snprintf(socket_path, sizeof(socket_path), "/tmp/ty-test-http-%d.sock", (int)getpid());
	asked_server_open(socket_path, answer, (size_t)head + ANSWER_BYTES);
	return 0;
}

static int engine_close(void **state)
{
	(void)state;
	asked_server_close();
	return 0;
}

/* ---- one exchange ---- */

struct taker {
	unsigned ends, pieces;
	size_t bytes, behind; /* all; after the piece that it refused */
	bool paused, refuses; /* all from the second piece on, which is the first once more */
	enum status status;
	char problem[512];
};

static enum http_verdict take(void *arg, const char *data, size_t length)
{
	struct taker *taker = arg;

	(void)data;
	taker->paused = taker->refuses && taker->pieces++ == 0;
	if (taker->paused)
		return HTTP_PAUSE;
	if (taker->refuses && taker->pieces == 2)
		return HTTP_BREAK;
	taker->bytes += length;
	taker->behind += taker->refuses ? length : 0;
	return HTTP_TAKEN;
}

static void note_end(void *arg, const struct http_answer *answer)
{
	struct taker *taker = arg;

	taker->ends++;
	taker->status = answer->status;
	snprintf(taker->problem, sizeof(taker->problem), "%s", answer->problem);
}

static void exchange_do(struct http *http, struct http_request request, struct taker *taker)
{
	struct http_exchange *slot = NULL;

	request.done = note_end;
	request.data = take;
	request.arg = taker;
	request.slot = &slot;
	request.timeout_s = 60;
	http_start(http, &request);
	while (!taker->ends) {
		http_move(http);
		if (!taker->ends && taker->paused)
			http_resume(slot);
		else if (!taker->ends)
			http_wait(http, WAIT_MS);
	}
	assert_null(slot);
}

/* Broken: http_resume() without a look at the outcome: the stream went on behind what was refused, and ended well. */
static void a_stream_ends_with_what_was_refused_after_a_pause(void **state)
{
	struct taker taker = { .refuses = true };
	struct http *http;

	(void)state;
	assert_int_equal(http_new(socket_path, &http, NULL), STATUS_OK);
	exchange_do(http, (struct http_request){ .method = "GET", .path = "/logs", .lane = LANE_FOLLOW },
		    &taker);
	assert_int_equal(taker.ends, 1);
	assert_int_equal(taker.status, STATUS_INTERNAL);
	assert_string_equal(taker.problem, "the engine's answer could not be taken");
	assert_int_equal(taker.behind, 0);
	assert_false(http_fail_all(http));
	http_free(http);
	asked_take();
}

/* ---- without memory ---- */

/* One of each kind, as the engine is to see it but for the version. */
static const struct call {
	struct http_request request;
	const char *begins, *has;
} calls[] = {
	{ { .method = "DELETE", .path = "/containers/c?force=1" },
	  "DELETE /v1.41/containers/c?force=1 HTTP/1.1\r\n",
	  "\r\n\r\n" },
	{ { .method = "POST", .path = "/images/create", .registry_auth = "secret", .lane = LANE_PULL },
	  "POST /v1.41/images/create HTTP/1.1\r\n",
	  "\r\nX-Registry-Auth: secret\r\n" },
	{ { .method = "POST", .path = "/networks/create", .body = "{\"Name\":\"n\"}" },
	  "POST /v1.41/networks/create HTTP/1.1\r\n",
	  "\r\n\r\n{\"Name\":\"n\"}" },
	{ { .method = "GET", .path = "/containers/c/logs", .lane = LANE_FOLLOW },
	  "GET /v1.41/containers/c/logs HTTP/1.1\r\n",
	  "\r\n\r\n" },
};

static enum status call_do(const struct call *call, struct error *err)
{
	struct taker taker = { 0 };
	struct http *http = NULL;
	const char *asked;

	if (http_new(socket_path, &http, err))
		return err->status;
	http_set_version(http, "1.41");
	exchange_do(http, call->request, &taker);
	http_move(http);
	assert_int_equal(taker.ends, 1);
	assert_false(http_fail_all(http));
	http_free(http);
	asked = asked_take();
	assert_null(strstr(taker.problem, "resolve")); /* a host of the network */
	if (asked[0] || taker.status == STATUS_OK) {
		if (strncmp(asked, call->begins, strlen(call->begins)) != 0 || !strstr(asked, call->has))
			fail_msg("%s %s was asked as %s", call->request.method, call->request.path, asked);
	}
	if (taker.status)
		return error_set(err, taker.status, NULL, "%s", taker.problem);
	assert_int_equal(taker.bytes, ANSWER_BYTES);
	return STATUS_OK;
}

#define CALL(name, index)                                                                                    \
	MEMORY_RUN(name)                                                                                     \
	{                                                                                                    \
		(void)arg;                                                                                   \
		return call_do(&calls[index], err);                                                          \
	}

CALL(container_remove, 0)
CALL(image_pull, 1)
CALL(network_create, 2)
CALL(logs_follow, 3)

/* Broken: the path as a part of the URL (as it was): curl asked for /containers/c without "?force=1".
 * Broken: easy_configure() that takes each option for set: GET for DELETE, and "Could not resolve host: docker".
 * Broken: exchange_run() that takes each for added: it never ended. */
static void what_is_asked_is_asked_whole_or_not_at_all(void **state)
{
	static const struct memory_operation operations[] = {
		{ .name = "DELETE", .run = container_remove },
		{ .name = "POST with credentials", .run = image_pull },
		{ .name = "POST with a body", .run = network_create },
		{ .name = "GET of a stream", .run = logs_follow },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(operations); i++)
		memory_sweep(&operations[i], NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_ends_with_what_was_refused_after_a_pause),
		cmocka_unit_test(what_is_asked_is_asked_whole_or_not_at_all),
	};

	memory_faults_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker http", tests, engine_open, engine_close);
}
