/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/work.h"
#include "tests/unit/api/http/http_testing.h"

/* A handler that waits until the test releases it. */
static struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool entered, open;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void gate_set(bool *flag)
{
	pthread_mutex_lock(&gate.lock);
	*flag = true;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static void gate_wait(const bool *flag)
{
	pthread_mutex_lock(&gate.lock);
	while (!*flag)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

static enum status slow(struct call *call, struct error *err)
{
	gate_set(&gate.entered);
	gate_wait(&gate.open);
	text_puts(&call->answer, "{\"slow\":true}");
	return work_check(err);
}

/* Takes a piece of a body while the listener is being closed. */
static enum status piece_hold(void *unused, const char *data, size_t length, struct error *err)
{
	(void)unused, (void)data, (void)length, (void)err;
	gate_set(&gate.entered);
	gate_wait(&gate.open);
	return STATUS_OK;
}

static void pieces_end(void *unused)
{
	(void)unused;
}

static enum status pieces_hold(struct call *call, struct error *err)
{
	(void)err;
	call->intake = (struct intake){ piece_hold, pieces_end, NULL };
	return STATUS_OK;
}

/* Works until it is told that its client is gone. */
static enum status work(struct call *call, struct error *err)
{
	enum status rc = STATUS_OK;

	(void)call;
	gate_set(&gate.entered);
	while (!rc) {
		usleep(1000);
		rc = work_check(err);
	}
	gate_set(&gate.open);
	return rc;
}

static const struct route routes[] = {
	{ "GET", "/v1/hello/{name}", hello, NULL, NULL, NULL, NULL },
	{ "GET", "/v1/nothing", nothing, NULL, NULL, NULL, NULL },
	{ "GET", "/v1/slow", slow, NULL, NULL, NULL, NULL },
	{ "GET", "/v1/work", work, NULL, NULL, NULL, NULL },
	{ "PUT", "/v1/pieces", nothing, NULL, NULL, NULL, NULL, pieces_hold },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct family families[] = { { .name = "test", .routes = routes }, { .name = NULL } };

static int listener_setup(void **state)
{
	(void)state;
	gate.entered = gate.open = false;
	return listener_begin((struct listener_options){ .families = families });
}

static void *close_listener(void *unused)
{
	listener_close(listener, 5000);
	return unused;
}

TEST(a_request_under_way_is_answered_before_the_listener_closes)
{
	const char *request = "GET /v1/slow HTTP/1.1\r\n" HOST "\r\n";
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();
	int idle = client_open();
	pthread_t closer;

	(void)state_;
	client_send(client, request, strlen(request));
	gate_wait(&gate.entered);
	assert_int_equal(pthread_create(&closer, NULL, close_listener, NULL), 0);
	gate_set(&gate.open);
	while (client_receive(client, &seen))
		;
	pthread_join(closer, NULL);
	assert_non_null(strstr(seen.data, "\"slow\": true"));
	close(client);
	close(idle);
	listener = NULL; /* the teardown must not close it again */
}

static int work_begun(void)
{
	static const char request[] = "GET /v1/work HTTP/1.1\r\n" HOST "\r\n";
	int client = client_open();

	gate.entered = gate.open = false;
	client_send(client, request, strlen(request));
	gate_wait(&gate.entered);
	return client;
}

/* Fails with: is_abandoned() without its look at the client: the work goes on for ever. */
TEST(work_ends_when_its_client_has_left)
{
	const struct linger at_once = { .l_onoff = 1 };
	int reset = work_begun();

	(void)state_;
	setsockopt(reset, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(reset);
	gate_wait(&gate.open);
	close(work_begun());
	gate_wait(&gate.open);
}

/* Fails with: is_abandoned() that always says false. */
TEST(work_ends_when_the_listener_closes)
{
	int client = work_begun();
	struct text seen AUTO_TEXT = { 0 };

	(void)state_;
	listener_close(listener, 100);
	listener = NULL; /* the teardown must not close it again */
	assert_true(gate.open);
	assert_false(client_receive(client, &seen));
	close(client);
}

/* Fails with: is_abandoned() that takes an ended side for a client that left. */
TEST(a_client_that_ended_its_side_is_answered)
{
	static const char request[] = "GET /v1/slow HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
	int client = client_open();
	struct text seen AUTO_TEXT = { 0 };

	(void)state_;
	client_send(client, request, strlen(request));
	shutdown(client, SHUT_WR);
	gate_wait(&gate.entered);
	usleep(100 * 1000);
	gate_set(&gate.open);
	while (client_receive(client, &seen))
		;
	assert_non_null(strstr(seen.data, "\"slow\": true"));
	close(client);
}

static void *cut_listener(void *unused)
{
	listener_close(listener, 0);
	return unused;
}

/* libmicrohttpd 0.9.75 would treat its own error answer as queued, and read through NULL. Fails with: listener_close()
 * without connections_drain(): SIGSEGV. */
TEST(a_chunk_that_is_found_broken_while_the_listener_stops_does_no_harm)
{
	const char *request =
		"PUT /v1/pieces HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n";
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();
	pthread_t closer;

	(void)state_;
	client_send(client, request, strlen(request));
	gate_wait(&gate.entered);
	assert_int_equal(pthread_create(&closer, NULL, cut_listener, NULL), 0);
	while (client_receive(client, &seen)) /* the stop ends the connection */
		;
	gate_set(&gate.open);
	pthread_join(closer, NULL);
	close(client);
	listener = NULL; /* the teardown must not close it again */
}

TEST(a_request_that_comes_while_closing_is_told_that_its_connection_ends)
{
	const char *under_way = "GET /v1/slow HTTP/1.1\r\n" HOST "\r\n";
	const char *late = "GET /v1/nothing HTTP/1.1\r\n" HOST "\r\n";
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();
	int other = client_open();
	pthread_t closer;

	(void)state_;
	client_send(other, late, strlen(late));
	assert_true(client_receive(other, &seen)); /* so the connection is no longer in the backlog */
	client_send(client, under_way, strlen(under_way));
	gate_wait(&gate.entered);
	assert_int_equal(pthread_create(&closer, NULL, close_listener, NULL), 0);
	do {
		text_clear(&seen);
		client_send(other, late, strlen(late));
		assert_true(client_receive(other, &seen));
	} while (!strstr(seen.data, "Connection: close\r\n"));
	gate_set(&gate.open);
	pthread_join(closer, NULL);
	/* A request that arrived just before the stop may still succeed. */
	assert_true(strstr(seen.data, "HTTP/1.1 503 ") || strstr(seen.data, "HTTP/1.1 200 "));
	assert_null(strcasestr(seen.data, "Retry-After"));
	close(client);
	close(other);
	listener = NULL; /* the teardown must not close it again */
}

TEST(a_port_in_use_is_told)
{
	const struct listener_options options = { .address = "127.0.0.1",
						  .port = listener_port(listener),
						  .families = families };
	const struct listener_options nonsense = { .address = "localhost", .families = families };
	struct error err AUTO_ERROR = { 0 };
	struct listener *second = NULL;

	(void)state_;
	assert_int_equal(listener_open(&options, &second, &err), STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "Address already in use"));
	assert_int_equal(listener_open(&nonsense, &second, &err), STATUS_INVALID_ARGUMENT);
	assert_null(second);
}

TEST(an_ipv6_address_is_served)
{
	const struct listener_options options = { .address = "::1", .families = families };
	struct listener *second = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	if (listener_open(&options, &second, &err)) {
		print_message("no IPv6 here: %s\n", err.text);
		skip();
	}
	assert_int_not_equal(listener_port(second), 0);
	listener_close(second, 1000);
}

static void *hammer(void *unused)
{
	static char lost[] = "an answer was lost";

	for (int i = 0; i < 20; i++) {
		AUTO(string)
		char *seen = exchange_raw("GET /v1/hello/a HTTP/1.1\r\n" HOST
					  "\r\nGET /v1/x HTTP/1.1\r\n" HOST "\r\n");

		if (!seen || count_of(seen, "HTTP/1.1 ") != 2)
			return lost;
	}
	return unused;
}

TEST(many_clients_are_served_side_by_side)
{
	pthread_t clients[16];

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(clients); i++)
		assert_int_equal(pthread_create(&clients[i], NULL, hammer, NULL), 0);
	for (size_t i = 0; i < COUNT_OF(clients); i++) {
		void *fault;

		pthread_join(clients[i], &fault);
		assert_null(fault);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LISTENER(a_request_under_way_is_answered_before_the_listener_closes),
		WITH_LISTENER(work_ends_when_its_client_has_left),
		WITH_LISTENER(work_ends_when_the_listener_closes),
		WITH_LISTENER(a_client_that_ended_its_side_is_answered),
		WITH_LISTENER(a_chunk_that_is_found_broken_while_the_listener_stops_does_no_harm),
		WITH_LISTENER(a_request_that_comes_while_closing_is_told_that_its_connection_ends),
		WITH_LISTENER(a_port_in_use_is_told),
		WITH_LISTENER(an_ipv6_address_is_served),
		WITH_LISTENER(many_clients_are_served_side_by_side),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
