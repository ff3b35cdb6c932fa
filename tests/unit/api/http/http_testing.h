/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/http/http_testing.h: a client that sends and reads bytes, to a listener under test. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/http.h"
#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

enum { ANSWER_WAIT_MS = 30000 };

static struct listener *listener; /* the listener under test */

/* Handlers that the routes of several files use. */
static inline enum status hello(struct call *call, struct error *err)
{
	(void)err;
	text_puts(&call->answer, "{\"hello\":\"");
	text_puts(&call->answer, call_param(call, "name"));
	text_puts(&call->answer, "\"}");
	return STATUS_OK;
}

static inline enum status nothing(struct call *call, struct error *err)
{
	(void)call, (void)err;
	return STATUS_OK;
}

/* Opens the listener at any free port of the loopback device, with @options for the rest; used by setups. */
static inline int listener_begin(struct listener_options options)
{
	if (!options.address)
		options.address = "127.0.0.1";
	if (!options.idle_timeout_s)
		options.idle_timeout_s = 20;
	options.clock = &system_clock;
	return listener_open(&options, &listener, NULL);
}

static inline int listener_end(void **state)
{
	(void)state;
	listener_close(listener, 2000);
	listener = NULL;
	return 0;
}

/* A test with a listener that the file's listener_setup() opens. */
#define WITH_LISTENER(name) cmocka_unit_test_setup_teardown(name, listener_setup, listener_end)

static inline int client_open(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(listener_port(listener)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(client >= 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	return client;
}

static inline void client_send(int client, const char *data, size_t length)
{
	while (length) {
		ssize_t sent = send(client, data, length, MSG_NOSIGNAL);

		if (sent <= 0)
			return; /* the connection was refused meanwhile: the answer shows it */
		data += sent;
		length -= (size_t)sent;
	}
}

/* Appends received bytes; false: the stream has ended, or was silent for longer than any answer takes. */
static inline bool client_receive(int client, struct text *seen)
{
	struct pollfd wait = { .fd = client, .events = POLLIN };
	char piece[4096];
	ssize_t got;

	if (poll(&wait, 1, ANSWER_WAIT_MS) != 1)
		return false;
	got = recv(client, piece, sizeof(piece), 0);
	if (got > 0)
		text_append(seen, piece, (size_t)got);
	return got > 0;
}

/* Sends @request and reads until the server closes. */
static inline char *exchange_raw(const char *request)
{
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	client_send(client, request, strlen(request));
	shutdown(client, SHUT_WR);
	while (client_receive(client, &seen))
		;
	close(client);
	return text_take(&seen);
}

static inline unsigned count_of(const char *text, const char *part)
{
	unsigned count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

static inline void answers(const char *request, const char *status, const char *part)
{
	AUTO(string) char *seen = exchange_raw(request);

	if (strncmp(seen, status, strlen(status)) != 0)
		fail_msg("%s\nwas answered\n%s\nnot %s", request, seen, status);
	if (!strstr(seen, part))
		fail_msg("%s\nwas answered\n%s\nwithout %s", request, seen, part);
	assert_int_equal(count_of(seen, "HTTP/1."), 1);
	assert_null(strcasestr(seen, "Retry-After"));
}

#define HOST "Host: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"
#define OK_  "HTTP/1.1 200 OK\r\n"
