/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_http.c where memory or the taker of a stream fails: what is asked is asked whole or not at
 * all, and each exchange ends once. libcurl's memory fails like all other. */
#include "scheduler/engine/docker_http.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

/* ---- the engine: one connection after the other, and no memory of its own ---- */

static struct {
	char path[64];
	int listener;
	pthread_t thread;
	char asked[4096]; /* on all connections */
	size_t length;
} server;

/* Whether what a connection has said from @begin on is a request, as far as the ends of these are known. */
static bool is_whole(const char *begin)
{
	const char *end = strstr(begin, "\r\n\r\n");

	return end && (strncmp(begin, "POST", 4) != 0 || strstr(begin, "\r\nContent-Length: 0\r\n") ||
		       strchr(end, '}'));
}

static void connection_serve(int fd)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 40000\r\n\r\n";
	static const char body[ANSWER_BYTES];
	const size_t begin = server.length;
	ssize_t got = 1;

	while (got > 0 && !is_whole(server.asked + begin)) {
		got = recv(fd, server.asked + server.length, sizeof(server.asked) - 1 - server.length, 0);
		server.length += got > 0 ? (size_t)got : 0;
	}
	if (got > 0) {
		send(fd, head, strlen(head), MSG_NOSIGNAL);
		send(fd, body, sizeof(body), MSG_NOSIGNAL);
	}
	close(fd);
}

static void *server_main(void *arg)
{
	int fd;

	(void)arg;
	while ((fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		connection_serve(fd);
	return NULL;
}

static int server_open(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)state;
	snprintf(server.path, sizeof(server.path), "/tmp/ty-test-http-%d.sock", (int)getpid());
	memcpy(address.sun_path, server.path, sizeof(server.path));
	unlink(server.path); /* of a run that was killed and had the same id */
	server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server.listener, 64), 0);
	return pthread_create(&server.thread, NULL, server_main, NULL);
}

static int server_close(void **state)
{
	(void)state;
	shutdown(server.listener, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.listener);
	return unlink(server.path);
}

/* Once all connections before this one are over: what they said, which is forgotten the next time. */
static const char *asked_take(void)
{
	static char taken[sizeof(server.asked)];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	memcpy(address.sun_path, server.path, sizeof(server.path));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	shutdown(fd, SHUT_WR);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	memcpy(taken, server.asked, sizeof(taken));
	memset(server.asked, 0, sizeof(server.asked));
	server.length = 0;
	return taken;
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
	assert_int_equal(http_new(server.path, &http, NULL), STATUS_OK);
	exchange_do(http, (struct http_request){ .method = "GET", .path = "/logs", .lane = LANE_STREAM },
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
	{ { .method = "GET", .path = "/containers/c/logs", .lane = LANE_STREAM },
	  "GET /v1.41/containers/c/logs HTTP/1.1\r\n",
	  "\r\n\r\n" },
};

static enum status call_do(const struct call *call, struct error *err)
{
	struct taker taker = { 0 };
	struct http *http = NULL;
	const char *asked;

	if (http_new(server.path, &http, err))
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
	return cmocka_run_group_tests_name("docker http", tests, server_open, server_close);
}
