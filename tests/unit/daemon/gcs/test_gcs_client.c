/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/gcs/gcs_client.c: which requests it sends, and how often. */
#include "daemon/gcs/gcs_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/gcs/gcs_endpoint.h"
#include "daemon/gcs/gcs_wait.h"
#include "tests/support/asked_server.h"
#include "tests/unit/testing.h"

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 18\r\nConnection: close\r\n\r\n"
			     "{\"generation\":\"7\"}";
static char state_dir[] = "/tmp/ty-test-gcs-client-XXXXXX";
static int state_fd, content_fd;
static const struct gcs_call nobody;

static void daemon_serve(const char *text)
{
	char path[sizeof(state_dir) + sizeof(GCS_SOCKET) + 1];

	snprintf(path, sizeof(path), "%s/%s", state_dir, GCS_SOCKET);
	asked_server_open(path, text, strlen(text));
}

static int daemon_open(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(state_dir));
	state_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	content_fd = memfd_create("content", MFD_CLOEXEC);
	assert_int_equal(write(content_fd, "{}", 2), 2);
	daemon_serve(answer);
	return 0;
}

static int daemon_close(void **state)
{
	(void)state;
	asked_server_close();
	close(content_fd);
	close(state_fd);
	return rmdir(state_dir);
}

/* Checks that each request begins with @begins: a request without an answer is repeated. */
static void asked_check(const char *begins, const char *has)
{
	size_t requests = 0;

	for (const char *at = asked_take(); *at; at = strstr(at, has) + strlen(has), requests++)
		if (strncmp(at, begins, strlen(begins)) != 0 || !strstr(at, has))
			fail_msg("it was asked as %s", at);
	if (requests > 2)
		fail_msg("it was asked %zu times", requests);
}

/* Fails with: the path as a part of the URL (as it was): "POST /upload/storage/v1/b/b/o" without its query. */
static void each_call_is_asked_whole(void **state)
{
	struct gcs_client *client = gcs_client_new(state_fd, 60);
	int64_t generation;

	(void)state;
	assert_int_equal(gcs_upload(client, &nobody, "b", "a b",
				    &(struct gcs_content){ .fd = content_fd, .size_bytes = 2 }, &generation),
			 0);
	asked_check("POST /upload/storage/v1/b/b/o?uploadType=media&name=a%20b HTTP/1.1\r\n", "\r\n\r\n{}");
	assert_int_equal(gcs_delete(client, &nobody, "b", "o", 0), 0);
	asked_check("DELETE /storage/v1/b/b/o/o HTTP/1.1\r\n", "\r\n\r\n");
	assert_int_equal(gcs_copy(client, &nobody, "b", "o", "c", "p"), 0);
	asked_check("POST /storage/v1/b/b/o/o/copyTo/b/c/o/p HTTP/1.1\r\n", "\r\n\r\n");
	gcs_client_free(client);
}

static void answer_be(const char *text)
{
	asked_server_close();
	daemon_serve(text);
}

static size_t asked_count(void)
{
	size_t count = 0;

	for (const char *at = asked_take(); (at = strstr(at, " HTTP/1.1\r\n")); at++)
		count++;
	return count;
}

/* Fails with: is_worth_repeating() without 500 (as it was). */
static void an_error_that_passes_is_met_again_and_told_in_the_end(void **state)
{
	static const char *const passing[] = { "429 Too Many Requests", "500 Internal Server Error" };
	struct gcs_client *client = gcs_client_new(state_fd, 1);
	char text[128];

	(void)state;
	assert_non_null(client);
	for (size_t i = 0; i < COUNT_OF(passing); i++) {
		snprintf(text, sizeof(text), "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
			 passing[i]);
		answer_be(text);
		assert_int_equal(gcs_delete(client, &nobody, "b", "o", 0), -EIO);
		assert_true(asked_count() > 1);
	}
	answer_be("HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	assert_int_equal(gcs_delete(client, &nobody, "b", "o", 0), -ENOSPC);
	assert_int_equal(asked_count(), 1);
	answer_be(answer);
	gcs_client_free(client);
}

/* Fails with: ask() that always makes its request; request_make() that waits for NOBODY in each case. */
static void reading_asks_while_there_are_rules_and_a_daemon(void **state)
{
	struct gcs_client *client = gcs_client_new(state_fd, 1);

	(void)state;
	assert_non_null(client);
	assert_int_equal(gcs_ask_object(client, &nobody, "b", "o"), 0);
	assert_string_equal(asked_take(), "");
	close(openat(state_fd, GCS_RULES, O_CREAT | O_CLOEXEC | O_WRONLY, 0600));
	assert_int_equal(gcs_ask_object(client, &nobody, "b", "a b"), 0);
	asked_check("GET /storage/v1/b/b/o/a%20b?fields=name HTTP/1.1\r\n", "\r\n\r\n");
	assert_int_equal(gcs_ask_list(client, &nobody, "b"), 0);
	asked_check("GET /storage/v1/b/b/o?maxResults=1&fields=kind HTTP/1.1\r\n", "\r\n\r\n");
	asked_server_close();
	assert_int_equal(gcs_ask_object(client, &nobody, "b", "o"), 0);
	unlinkat(state_fd, GCS_RULES, 0);
	daemon_serve(answer);
	gcs_client_free(client);
}

enum { SLOW_BYTES = 8 << 20, SLOW_PIECE = 256 << 10, SLOW_PIECE_US = 100 * 1000 };

/* Reads a piece every @piece_us, then answers. Errors are noticed by the uploader. */
static void slowly_answer(int listening, int64_t piece_us, const char *text)
{
	static char piece[SLOW_PIECE];
	const int fd = accept(listening, NULL, NULL);
	ssize_t length = 1;

	for (size_t taken = 0; taken < SLOW_BYTES && length > 0; taken += (size_t)length) {
		usleep((useconds_t)piece_us);
		length = recv(fd, piece, sizeof(piece), MSG_WAITALL);
	}
	send(fd, text, strlen(text), MSG_NOSIGNAL);
	close(fd);
}

static void *slow_main(void *arg)
{
	const int listening = *(int *)arg;

	slowly_answer(listening, SLOW_PIECE_US,
		      "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	slowly_answer(listening, 0, answer);
	return NULL;
}

/* Fails with: progress_look() without gcs_wait_moved() (as it was): the upload has taken its whole patience, and is not tried
 * again. */
static void an_upload_that_took_long_is_tried_again(void **state)
{
	struct gcs_client *client = gcs_client_new(state_fd, 2);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int big_fd = memfd_create("big", MFD_CLOEXEC);
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t generation = 0;
	pthread_t server;

	(void)state;
	asked_server_close();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", state_dir, GCS_SOCKET);
	assert_int_equal(bind(listening, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(ftruncate(big_fd, SLOW_BYTES), 0);
	assert_int_equal(pthread_create(&server, NULL, slow_main, &listening), 0);
	assert_int_equal(gcs_upload(client, &nobody, "b", "o",
				    &(struct gcs_content){ .fd = big_fd, .size_bytes = SLOW_BYTES },
				    &generation),
			 0);
	assert_int_equal(generation, 7);
	pthread_join(server, NULL);
	close(listening);
	close(big_fd);
	unlink(address.sun_path);
	daemon_serve(answer);
	gcs_client_free(client);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_asked_whole),
		cmocka_unit_test(an_error_that_passes_is_met_again_and_told_in_the_end),
		cmocka_unit_test(reading_asks_while_there_are_rules_and_a_daemon),
		cmocka_unit_test(an_upload_that_took_long_is_tried_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs client", tests, daemon_open, daemon_close);
}
