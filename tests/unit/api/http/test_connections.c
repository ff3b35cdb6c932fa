/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/connections.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "tests/unit/api/http/http_testing.h"

enum { HEAD_MS = 300, IDLE_S = 1, PLACES = 64 };

static enum status echo_length(struct call *call, struct error *err)
{
	(void)err;
	text_printf(&call->answer, "{\"bytes\":%zu}", call->raw_bytes);
	return STATUS_OK;
}

static const struct route routes[] = {
	{ "GET", "/v1/nothing", echo_length, NULL, NULL, NULL, NULL },
	{ "POST", "/v1/things", echo_length, NULL, &raw_body, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
static const struct family families[] = { { .name = "test", .routes = routes }, { .name = NULL } };

static int listener_setup(void **state)
{
	(void)state;
	return listener_begin((struct listener_options){ .families = families,
							 .idle_timeout_s = IDLE_S,
							 .head_limit_ms = HEAD_MS,
							 .connection_limit = PLACES });
}

/* Sends @text repeatedly, one byte every few milliseconds, until the server closes the connection or @most_ms have
 * passed; returns what the server sent. */
static char *trickle(int client, const char *text, int most_ms, bool *ret_ended)
{
	const int64_t end_us = clock_mono_us(&system_clock) + most_ms * INT64_C(1000);
	struct text seen AUTO_TEXT = { 0 };

	*ret_ended = false;
	for (const char *c = text; clock_mono_us(&system_clock) < end_us; c = c[1] ? c + 1 : text) {
		struct pollfd wait = { .fd = client, .events = POLLIN };

		client_send(client, c, 1);
		if (poll(&wait, 1, 20) != 1)
			continue;
		if (!client_receive(client, &seen)) {
			*ret_ended = true;
			break;
		}
	}
	return text_take(&seen);
}

TEST(a_head_that_trickles_is_cut_off_and_told_so)
{
	bool ended;
	int client = client_open();

	(void)state_;
	client_send(client, "GET /v1/nothing HTTP/1.1\r\n", 26);
	AUTO(string) char *seen = trickle(client, "X-A: b\r\n", 10 * HEAD_MS, &ended);
	close(client);
	assert_true(ended);
	assert_non_null(seen);
	assert_non_null(strstr(seen, "HTTP/1.1 408 "));
	assert_non_null(strstr(seen, "DEADLINE_EXCEEDED"));
}

TEST(a_first_line_that_trickles_is_cut_off)
{
	bool ended;
	int client = client_open();

	(void)state_;
	AUTO(string) char *seen = trickle(client, "a", 10 * HEAD_MS, &ended);
	close(client);
	assert_true(ended);
}

TEST(a_second_head_that_trickles_is_cut_off)
{
	struct text seen AUTO_TEXT = { 0 };
	bool ended;
	int client = client_open();

	(void)state_;
	client_send(client, "GET /v1/nothing HTTP/1.1\r\n" HOST "\r\n", 45);
	assert_true(client_receive(client, &seen));
	AUTO(string) char *more = trickle(client, "a", 10 * HEAD_MS + 1000 * IDLE_S, &ended);
	close(client);
	assert_true(ended);
}

TEST(a_body_that_trickles_is_cut_off)
{
	static const char *const heads[] = {
		"POST /v1/things HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n\r\n",
		"POST /v1/things HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
	};
	static const char *const bodies[] = { "a", "1\r\na\r\n" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		bool ended;
		int client = client_open();

		client_send(client, heads[i], strlen(heads[i]));
		AUTO(string) char *seen = trickle(client, bodies[i], 10 * HEAD_MS, &ended);
		close(client);
		assert_true(ended);
	}
}

/* Fails with: connection_received() without its bound: 240 bytes buy a second, without end. */
TEST(what_came_fast_buys_no_time_for_a_trickle)
{
	static const char head[] = "POST /v1/things HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n";
	static char much[200000];
	int client = client_open();
	bool ended;

	(void)state_;
	memset(much, 'a', sizeof(much));
	client_send(client, head, strlen(head));
	client_send(client, much, sizeof(much));
	AUTO(string) char *seen = trickle(client, "a", 10 * HEAD_MS + 1000 * IDLE_S, &ended);
	close(client);
	assert_true(ended);
}

/* Takes longer than a head may, but is above the lowest rate. */
TEST(a_body_that_is_slow_but_not_too_slow_arrives)
{
	static const char head[] =
		"POST /v1/things HTTP/1.1\r\n" HOST "Connection: close\r\nContent-Length: 1600\r\n\r\n";
	struct text seen AUTO_TEXT = { 0 };
	char piece[80];
	int client = client_open();

	(void)state_;
	memset(piece, 'a', sizeof(piece));
	client_send(client, head, strlen(head));
	for (int i = 0; i < 20; i++) {
		poll(NULL, 0, 2 * HEAD_MS / 20);
		client_send(client, piece, sizeof(piece));
	}
	while (client_receive(client, &seen))
		;
	close(client);
	assert_non_null(strstr(seen.data, "\"bytes\": 1600"));
}

TEST(a_connection_may_rest_between_requests)
{
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	(void)state_;
	for (int i = 0; i < 3; i++) {
		text_clear(&seen);
		client_send(client, "GET /v1/nothing HTTP/1.1\r\n" HOST "\r\n", 45);
		while (!seen.length || !strstr(seen.data, "bytes"))
			assert_true(client_receive(client, &seen));
		poll(NULL, 0, HEAD_MS + 50);
	}
	close(client);
}

/* Until earlier clients are disconnected, a client may have to try again. */
static void answered_soon(const char *request)
{
	const int64_t end_us = clock_mono_us(&system_clock) + INT64_C(10000000);
	bool answered = false;

	while (!answered && clock_mono_us(&system_clock) < end_us) {
		AUTO(string) char *seen = exchange_raw(request);

		answered = seen && strncmp(seen, OK_, strlen(OK_)) == 0;
	}
	assert_true(answered);
}

/* Twice as many clients as there are places: those that send nothing make room. */
TEST(a_flood_of_silent_clients_keeps_nobody_out)
{
	int clients[2 * PLACES];

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(clients); i++) {
		clients[i] = client_open();
		if (i % 4 == 3)
			answered_soon("GET /v1/nothing HTTP/1.1\r\n" HOST "\r\n");
	}
	for (size_t i = 0; i < COUNT_OF(clients); i++)
		close(clients[i]);
}

enum { MOST = 16, CROWD = MOST - MOST / 8 };

struct pair {
	int client, server;
	struct connection *connection;
};

static struct pair pair_begin(struct connections *connections)
{
	struct pair pair;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	pair = (struct pair){ .client = fds[0], .server = fds[1] };
	assert_true(connections_admit(connections, NULL, 0));
	pair.connection = connection_begin(connections, pair.server, NULL);
	assert_non_null(pair.connection);
	return pair;
}

static bool pair_is_cut(const struct pair *pair)
{
	char data[256];
	ssize_t got;

	do
		got = recv(pair->client, data, sizeof(data), 0);
	while (got > 0);
	return got == 0;
}

static void pair_end(struct connections *connections, struct pair *pair)
{
	connection_end(connections, pair->connection);
	close(pair->client);
	close(pair->server);
}

/* Waits for its next request, from a different microsecond for each. */
static void pair_serve(struct pair *pair)
{
	const int64_t now_us = clock_mono_us(&system_clock);

	while (clock_mono_us(&system_clock) == now_us)
		;
	connection_body_begins(pair->connection);
	connection_busy(pair->connection);
	connection_request_over(pair->connection);
}

/* With each of @pairs connected, two more clients connect. Checks which connections are closed for the first and the
 * second of them. */
static void two_make_room(void (*prepare)(struct pair *pairs), int first, int second)
{
	struct connections *connections;
	struct pair pairs[CROWD], next[2];

	assert_int_equal(
		connections_open(
			&(struct connection_limits){ .most = MOST, .head_ms = 60000, .idle_ms = 60000 },
			&connections, NULL),
		STATUS_OK);
	for (int i = 0; i < CROWD; i++)
		pairs[i] = pair_begin(connections);
	prepare(pairs);
	for (int i = 0; i < 2; i++)
		next[i] = pair_begin(connections);
	for (int i = 0; i < CROWD; i++)
		if (pair_is_cut(&pairs[i]) != (i == first || i == second))
			fail_msg("number %d", i);
	assert_true(first >= 0 || pair_is_cut(&next[0])); /* only then is it the one that has waited longest */
	assert_true(first < 0 || !pair_is_cut(&next[0]));
	assert_false(pair_is_cut(&next[1]));
	for (int i = 0; i < CROWD; i++)
		pair_end(connections, &pairs[i]);
	for (int i = 0; i < 2; i++)
		pair_end(connections, &next[i]);
	connections_close(connections);
}

static void all_are_served(struct pair *pairs)
{
	for (int i = CROWD; i-- > 0;)
		pair_serve(&pairs[i]);
}

static void two_have_sent(struct pair *pairs)
{
	client_send(pairs[0].client, "G", 1);
	client_send(pairs[2].client, "G", 1);
}

static void all_have_sent(struct pair *pairs)
{
	for (int i = 0; i < CROWD; i++)
		client_send(pairs[i].client, "G", 1);
}

/* Fails with: by deadlines, as it was: the next request may come later than a first one, so that all new ones were cut. */
TEST(who_is_waited_for_longest_makes_room)
{
	(void)state_;
	two_make_room(all_are_served, CROWD - 1, CROWD - 2);
}

/* Fails with: is_awaited() that does not ask how much is unread. */
TEST(who_has_sent_what_was_not_read_yet_makes_no_room)
{
	(void)state_;
	two_make_room(two_have_sent, 1, 3);
}

/* Fails with: room_make() that begins with the first. */
TEST(the_newest_keeps_a_place_while_there_is_one)
{
	(void)state_;
	two_make_room(all_have_sent, -1, -1);
}

/* Three connections with a pending action: part of a body unread, an answer unread, and one client that has
 * authenticated. */
static void three_are_not_known(struct pair *pairs)
{
	for (int i = 0; i < CROWD; i++)
		connection_body_begins(pairs[i].connection);
	connection_known(pairs[3].connection, false);
	connection_known(pairs[5].connection, false);
	connection_known(pairs[7].connection, false);
	connection_known(pairs[7].connection, true);
	client_send(pairs[3].client, "x", 1);
	connection_busy(pairs[5].connection);
}

/* Fails with: is_awaited() that asks for the phase alone, as it was; that asks all how much is unread. */
TEST(who_is_not_known_makes_room_whatever_he_does)
{
	(void)state_;
	two_make_room(three_are_not_known, 3, 5);
}

static struct sockaddr_storage address_of(const char *text)
{
	struct sockaddr_storage storage = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		storage.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
		storage.ss_family = AF_INET6;
	else
		storage.ss_family = AF_UNIX;
	return storage;
}

TEST(one_address_has_so_many_places_and_this_machine_all)
{
	static const struct {
		const char *first, *second;
		bool admitted; /* the second request, while the first client has its two connections */
	} cases[] = {
		{ "192.0.2.1", "192.0.2.1", false },
		{ "192.0.2.1", "192.0.2.2", true },
		{ "2001:db8::1", "2001:db8::2", false },
		{ "2001:db8::1", "2001:db8:0:1::1", true },
		{ "127.0.0.1", "127.0.0.1", true },
		{ "127.0.0.1", "127.0.0.2", true },
		{ "::1", "::1", true },
		{ "path", "path", true },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct sockaddr_storage first = address_of(cases[i].first),
					      second = address_of(cases[i].second);
		const struct sockaddr *address = (const struct sockaddr *)&first;
		struct connections *connections;
		struct connection *held[2];

		assert_int_equal(connections_open(&(struct connection_limits){ .most = 10, .per_address = 2 },
						  &connections, NULL),
				 STATUS_OK);
		for (size_t j = 0; j < COUNT_OF(held); j++) {
			assert_true(connections_admit(connections, address, sizeof(first)));
			held[j] = connection_begin(connections, -1, address);
		}
		if (connections_admit(connections, (const struct sockaddr *)&second, sizeof(second)) !=
		    cases[i].admitted)
			fail_msg("%s after %s", cases[i].second, cases[i].first);
		connection_end(connections, held[0]);
		assert_true(connections_admit(connections, address, sizeof(first)));
		connection_end(connections, held[1]);
		connections_close(connections);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LISTENER(a_head_that_trickles_is_cut_off_and_told_so),
		WITH_LISTENER(a_first_line_that_trickles_is_cut_off),
		WITH_LISTENER(a_second_head_that_trickles_is_cut_off),
		WITH_LISTENER(a_body_that_trickles_is_cut_off),
		WITH_LISTENER(what_came_fast_buys_no_time_for_a_trickle),
		WITH_LISTENER(a_body_that_is_slow_but_not_too_slow_arrives),
		WITH_LISTENER(a_connection_may_rest_between_requests),
		WITH_LISTENER(a_flood_of_silent_clients_keeps_nobody_out),
		cmocka_unit_test(who_is_waited_for_longest_makes_room),
		cmocka_unit_test(who_has_sent_what_was_not_read_yet_makes_no_room),
		cmocka_unit_test(the_newest_keeps_a_place_while_there_is_one),
		cmocka_unit_test(who_is_not_known_makes_room_whatever_he_does),
		cmocka_unit_test(one_address_has_so_many_places_and_this_machine_all),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("connections", tests, NULL, NULL);
}
