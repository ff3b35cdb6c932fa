/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_http.c: each kind of call, a stream with a receiver that refuses a piece, and a stream that
 * always has more data. */
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/asked_server.h"
#include "tests/unit/testing.h"

enum { ANSWER_BYTES = 32 << 20, WAIT_MS = 10 };

/* ---- the engine ---- */

static char socket_path[64];
static struct endpoint *endpoint;

static int engine_open(void **state)
{
	static char answer[100 + ANSWER_BYTES];
	char url[80];
	const int head =
		snprintf(answer, sizeof(answer),
			 "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: %d\r\n\r\n", ANSWER_BYTES);

	(void)state;
	snprintf(socket_path, sizeof(socket_path), "/tmp/ty-test-http-%d.sock", (int)getpid());
	snprintf(url, sizeof(url), "unix://%s", socket_path);
	assert_int_equal(endpoint_open(url, &endpoint, NULL), STATUS_OK);
	asked_server_open(socket_path, answer, (size_t)head + ANSWER_BYTES);
	return 0;
}

static int engine_close(void **state)
{
	(void)state;
	asked_server_close();
	endpoint_close(endpoint);
	return 0;
}

/* ---- one exchange ---- */

struct taker {
	unsigned ends, pieces;
	size_t bytes, behind; /* received bytes: all, and those after the refused piece */
	bool paused, refuses; /* the stream is paused, or the second piece refused, which then comes again */
	enum status status;
	char problem[512];
};

static enum http_outcome take(void *arg, const char *data, size_t length)
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

/* Fails with: http_resume() without a look at the outcome: the stream went on behind what was refused, and ended well. */
static void a_stream_ends_with_what_was_refused_after_a_pause(void **state)
{
	struct taker taker = { .refuses = true };
	struct http *http;

	(void)state;
	assert_int_equal(http_new(endpoint, &http, NULL), STATUS_OK);
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

/* ---- floods ---- */

static unsigned pauses;
static bool clock_stands;

/* Replaces the C library's function. While the clock stands, each wait ends at once. */
int clock_gettime(clockid_t id, struct timespec *ret_now)
{
	const struct timespec instant = { .tv_sec = 1 };

	*ret_now = instant;
	return clock_stands ? 0 : (int)syscall(SYS_clock_gettime, id, ret_now);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	const struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };

	pauses += count == 0;
	return ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

static unsigned pauses_of(enum http_lane lane)
{
	struct taker taker = { 0 };
	struct http *http = NULL;

	assert_int_equal(http_new(endpoint, &http, NULL), STATUS_OK);
	pauses = 0;
	clock_stands = true;
	exchange_do(http, (struct http_request){ .method = "GET", .path = "/logs", .lane = lane }, &taker);
	clock_stands = false;
	assert_int_equal(taker.bytes, ANSWER_BYTES);
	http_free(http);
	asked_take();
	return pauses;
}

static void a_log_that_always_has_more_is_paused_for(void **state)
{
	(void)state;
	assert_true(pauses_of(LANE_FOLLOW) > 0);
	assert_int_equal(pauses_of(LANE_READ), 0);
}

/* ---- each kind ---- */

/* One call of each kind, as the engine must see it, without the version. */
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

static void call_check(const struct call *call)
{
	struct taker taker = { 0 };
	struct http *http = NULL;
	const char *asked;

	assert_int_equal(http_new(endpoint, &http, NULL), STATUS_OK);
	http_set_version(http, "1.41");
	exchange_do(http, call->request, &taker);
	http_move(http);
	assert_int_equal(taker.ends, 1);
	assert_int_equal(taker.status, STATUS_OK);
	assert_int_equal(taker.bytes, ANSWER_BYTES);
	assert_false(http_fail_all(http));
	http_free(http);
	asked = asked_take();
	if (strncmp(asked, call->begins, strlen(call->begins)) != 0 || !strstr(asked, call->has))
		fail_msg("%s %s was asked as %s", call->request.method, call->request.path, asked);
}

static void each_kind_of_call_is_asked_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		call_check(&calls[i]);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_ends_with_what_was_refused_after_a_pause),
		cmocka_unit_test(a_log_that_always_has_more_is_paused_for),
		cmocka_unit_test(each_kind_of_call_is_asked_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker http", tests, engine_open, engine_close);
}
