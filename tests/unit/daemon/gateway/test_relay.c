/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/device_socket.h"
#include "tests/unit/testing.h"

enum { LOOPBACK = 0x7f000001, WAIT_MS = 10000, MUCH_BYTES = 8 << 20 };

/* A server that echoes, and closes when its client does. */
struct echo {
	int endpoint;
	pthread_t thread;
	unsigned clients;
};

static void wait_for(int fd, short events)
{
	struct pollfd polled = { .fd = fd, .events = events };

	assert_int_equal(poll(&polled, 1, WAIT_MS), 1);
}

static void *echo_main(void *arg)
{
	struct echo *echo = arg;
	static char piece[64 << 10];

	for (unsigned i = 0; i < echo->clients; i++) {
		struct pollfd polled = { .fd = echo->endpoint, .events = POLLIN };
		ssize_t got;
		int fd;

		poll(&polled, 1, WAIT_MS);
		fd = accept(echo->endpoint, NULL, NULL);
		while ((got = recv(fd, piece, sizeof(piece), 0)) > 0)
			for (ssize_t at = 0; at < got;)
				at += send(fd, piece + at, (size_t)(got - at), MSG_NOSIGNAL);
		close(fd);
	}
	return NULL;
}

static void echo_start(struct echo *echo, unsigned clients)
{
	echo->clients = clients;
	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &echo->endpoint, NULL), STATUS_OK);
	assert_int_equal(pthread_create(&echo->thread, NULL, echo_main, echo), 0);
}

static void echo_end(struct echo *echo)
{
	pthread_join(echo->thread, NULL);
	close(echo->endpoint);
}

static struct relay *relay_for(struct device_peers peers, uint16_t port)
{
	struct relay_options options = { .address = LOOPBACK, .peers = peers };
	struct relay *relay = NULL;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
	assert_int_equal(relay_target_resolve(url, &options, NULL), STATUS_OK);
	assert_int_equal(relay_open(&options, &relay, NULL), STATUS_OK);
	return relay;
}

static struct relay *relay_to(uint16_t port)
{
	return relay_for((struct device_peers){ 0 }, port);
}

static int call_from(uint32_t address, const struct relay *relay)
{
	const struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = { .s_addr = htonl(address) } };
	const struct sockaddr_in place = { .sin_family = AF_INET,
					   .sin_port = htons(relay_port(relay)),
					   .sin_addr = { .s_addr = htonl(LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&place, sizeof(place)), 0);
	return fd;
}

static int call(const struct relay *relay)
{
	return call_from(LOOPBACK, relay);
}

static void read_exactly(int fd, char *bytes, size_t length)
{
	for (size_t at = 0; at < length;) {
		ssize_t got;

		wait_for(fd, POLLIN);
		got = recv(fd, bytes + at, length - at, 0);
		assert_true(got > 0);
		at += (size_t)got;
	}
}

static void expect_end(int fd)
{
	char byte;

	wait_for(fd, POLLIN);
	assert_true(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
}

static void bytes_go_both_ways_until_both_have_ended(void **state)
{
	struct echo echo;
	struct relay *relay;
	char said[6] = { 0 };
	int fd;

	(void)state;
	echo_start(&echo, 1);
	relay = relay_to(device_socket_port(echo.endpoint));
	fd = call(relay);
	assert_int_equal(send(fd, "hello", 5, 0), 5);
	read_exactly(fd, said, 5);
	assert_string_equal(said, "hello");
	assert_int_equal(send(fd, "again", 5, 0), 5);
	shutdown(fd, SHUT_WR); /* the server still answers */
	read_exactly(fd, said, 5);
	assert_string_equal(said, "again");
	expect_end(fd);
	echo_end(&echo);
	relay_close(relay);
}

/* Fails with: device_socket_accept_peer() that closes no connection. */
static void who_is_not_served_finds_a_closed_endpoint(void **state)
{
	struct echo echo;
	struct relay *relay;
	char said[6] = { 0 };
	int fd;

	(void)state;
	echo_start(&echo, 1);
	relay = relay_for((struct device_peers){ LOOPBACK + 1, 2 }, device_socket_port(echo.endpoint));
	expect_end(call(relay));
	expect_end(call_from(LOOPBACK + 3, relay));
	fd = call_from(LOOPBACK + 2, relay);
	assert_int_equal(send(fd, "hello", 5, 0), 5);
	read_exactly(fd, said, 5);
	assert_string_equal(said, "hello");
	close(fd);
	echo_end(&echo);
	relay_close(relay);
}

/* Hands the relay a connection of this machine as one from @address. */
static int bring(struct relay *relay, uint32_t address)
{
	const struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = { .s_addr = htonl(address) } };
	int listener, fd, other;

	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &listener, NULL), STATUS_OK);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	{
		const struct sockaddr_in place = { .sin_family = AF_INET,
						   .sin_port = htons(device_socket_port(listener)),
						   .sin_addr = { .s_addr = htonl(LOOPBACK) } };

		assert_int_equal(connect(fd, (const struct sockaddr *)&place, sizeof(place)), 0);
	}
	other = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(other >= 0);
	close(listener);
	relay_put(relay, &peer, other);
	return fd;
}

/* Fails with: pair_accept() that tells another peer, or keeps the descriptor; device_socket_put() that sends none. */
static void connections_may_be_brought_with_their_peers(void **state)
{
	struct relay_options options = { .port = 81, .is_carried = true, .peers = { 0x0ad50103, 2 } };
	struct echo echo;
	struct relay *relay = NULL;
	char url[64], said[6] = { 0 };
	int fd;

	(void)state;
	echo_start(&echo, 1);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", device_socket_port(echo.endpoint));
	assert_int_equal(relay_target_resolve(url, &options, NULL), STATUS_OK);
	assert_int_equal(relay_open(&options, &relay, NULL), STATUS_OK);
	assert_int_equal(relay_port(relay), 81);
	expect_end(bring(relay, 0x0ad50102));
	expect_end(bring(relay, LOOPBACK));
	fd = bring(relay, 0x0ad50104);
	assert_int_equal(send(fd, "hello", 5, 0), 5);
	read_exactly(fd, said, 5);
	assert_string_equal(said, "hello");
	close(fd);
	echo_end(&echo);
	relay_close(relay);
}

static void *much_send(void *arg)
{
	int fd = *(int *)arg;
	char *bytes = malloc(MUCH_BYTES);

	for (size_t i = 0; i < MUCH_BYTES; i++)
		bytes[i] = (char)(i % 251);
	for (size_t at = 0; at < MUCH_BYTES;) {
		ssize_t sent = send(fd, bytes + at, MUCH_BYTES - at, MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		at += (size_t)sent;
	}
	shutdown(fd, SHUT_WR);
	free(bytes);
	return NULL;
}

static void more_than_buffers_hold_arrives_whole(void **state)
{
	char *bytes = malloc(MUCH_BYTES);
	struct relay *relay;
	struct echo echo;
	pthread_t sender;
	int fd;

	(void)state;
	echo_start(&echo, 1);
	relay = relay_to(device_socket_port(echo.endpoint));
	fd = call(relay);
	pthread_create(&sender, NULL, much_send, &fd);
	read_exactly(fd, bytes, MUCH_BYTES);
	for (size_t i = 0; i < MUCH_BYTES; i++)
		assert_int_equal((unsigned char)bytes[i], i % 251);
	pthread_join(sender, NULL);
	expect_end(fd);
	echo_end(&echo);
	relay_close(relay);
	free(bytes);
}

/* Fails with: pair_watch() without POLLOUT: it stands still once the target's buffers are full. */
static void much_that_nobody_answers_arrives_whole(void **state)
{
	char *bytes = malloc(MUCH_BYTES);
	struct relay *relay;
	pthread_t sender;
	int fd, taken, endpoint;

	(void)state;
	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &endpoint, NULL), STATUS_OK);
	relay = relay_to(device_socket_port(endpoint));
	fd = call(relay);
	wait_for(endpoint, POLLIN);
	taken = accept(endpoint, NULL, NULL);
	pthread_create(&sender, NULL, much_send, &fd);
	read_exactly(taken, bytes, MUCH_BYTES);
	for (size_t i = 0; i < MUCH_BYTES; i++)
		assert_int_equal((unsigned char)bytes[i], i % 251);
	expect_end(taken);
	pthread_join(sender, NULL);
	close(fd);
	relay_close(relay);
	close(endpoint);
	free(bytes);
}

/* Fails with: pair_find_room() that takes the one that ended last. */
static void the_client_that_ended_first_gives_way_first(void **state)
{
	enum { CLIENTS = 64 };
	int fds[CLIENTS], taken[CLIENTS + 1], endpoint, late;
	struct pollfd second;
	struct relay *relay;
	char byte;

	(void)state;
	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &endpoint, NULL), STATUS_OK);
	relay = relay_to(device_socket_port(endpoint));
	for (size_t i = 0; i < CLIENTS; i++) {
		fds[i] = call(relay);
		wait_for(endpoint, POLLIN);
		taken[i] = accept(endpoint, NULL, NULL);
		shutdown(fds[i], SHUT_WR);
		wait_for(taken[i], POLLIN);
		assert_int_equal(recv(taken[i], &byte, 1, 0), 0);
	}
	late = call(relay);
	wait_for(endpoint, POLLIN);
	taken[CLIENTS] = accept(endpoint, NULL, NULL);
	expect_end(fds[0]);
	second = (struct pollfd){ .fd = fds[1], .events = POLLIN };
	assert_int_equal(poll(&second, 1, 0), 0);
	for (size_t i = 1; i < CLIENTS; i++)
		close(fds[i]);
	for (size_t i = 0; i <= CLIENTS; i++)
		close(taken[i]);
	close(late);
	relay_close(relay);
	close(endpoint);
}

static void a_target_that_is_not_there_ends_the_connection(void **state)
{
	struct relay *relay;
	uint16_t port;
	int endpoint;

	(void)state;
	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &endpoint, NULL), STATUS_OK);
	port = device_socket_port(endpoint);
	close(endpoint);
	relay = relay_to(port);
	expect_end(call(relay));
	relay_close(relay);
}

/* Clients beyond the limit wait until another one leaves. */
static void clients_past_the_limit_have_their_turn(void **state)
{
	enum { CLIENTS = 70 };
	int fds[CLIENTS], taken[64], endpoint;
	struct relay *relay;
	struct pollfd polled;

	(void)state;
	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &endpoint, NULL), STATUS_OK);
	relay = relay_to(device_socket_port(endpoint));
	for (size_t i = 0; i < CLIENTS; i++)
		fds[i] = call(relay);
	for (size_t i = 0; i < 64; i++) {
		wait_for(endpoint, POLLIN);
		taken[i] = accept(endpoint, NULL, NULL);
	}
	polled = (struct pollfd){ .fd = endpoint, .events = POLLIN };
	assert_int_equal(poll(&polled, 1, 0), 0);
	for (size_t i = 64; i < CLIENTS; i++) {
		close(fds[i - 64]);
		expect_end(taken[i - 64]);
		wait_for(endpoint, POLLIN);
		close(accept(endpoint, NULL, NULL));
	}
	for (size_t i = CLIENTS - 64; i < 64; i++)
		close(taken[i]);
	for (size_t i = CLIENTS - 64; i < CLIENTS; i++)
		close(fds[i]);
	relay_close(relay);
	close(endpoint);
}

static double cpu_s(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* The thread closes its endpoint when it ends. */
static void await_refusal(const struct relay *relay)
{
	const struct sockaddr_in place = { .sin_family = AF_INET,
					   .sin_port = htons(relay_port(relay)),
					   .sin_addr = { .s_addr = htonl(LOOPBACK) } };
	bool refused = false;

	for (int i = 0; i < WAIT_MS && !refused; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		refused = connect(fd, (const struct sockaddr *)&place, sizeof(place)) != 0;
		close(fd);
		if (!refused)
			usleep(1000);
	}
	assert_true(refused);
}

/* poll() must not be retried in a loop after a permanent error. Fails with: relay_main() that goes on after an error of
 * poll(). */
static void a_limit_below_what_it_watches_ends_its_thread(void **state)
{
	int endpoint, opened = device_socket_open(NULL, LOOPBACK, 0, &endpoint, NULL);
	struct relay *relay = relay_to(device_socket_port(endpoint));
	struct rlimit before, low;
	double begin;

	(void)state;
	assert_int_equal(opened, STATUS_OK);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 32;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	close(call(relay)); /* this makes the next poll() fail */
	begin = cpu_s();
	await_refusal(relay);
	assert_true(cpu_s() - begin < 0.1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	relay_close(relay);
	close(endpoint);
}

/* The target never answers, and these clients have disconnected: their slots must be freed for others. */
static void clients_that_went_away_give_way_to_those_that_come(void **state)
{
	enum { CLIENTS = 70 };
	int taken[CLIENTS], endpoint;
	struct relay *relay;
	char byte;

	(void)state;
	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &endpoint, NULL), STATUS_OK);
	relay = relay_to(device_socket_port(endpoint));
	for (size_t i = 0; i < CLIENTS; i++) {
		int fd = call(relay);

		assert_int_equal(send(fd, "?", 1, 0), 1);
		close(fd);
		wait_for(endpoint, POLLIN);
		taken[i] = accept(endpoint, NULL, NULL);
		read_exactly(taken[i], &byte, 1);
	}
	for (size_t i = 0; i < CLIENTS; i++)
		close(taken[i]);
	relay_close(relay);
	close(endpoint);
}

static void it_closes_with_connections_that_are_still_there(void **state)
{
	struct relay *relay;
	int fd, endpoint;

	(void)state;
	assert_int_equal(device_socket_open(NULL, LOOPBACK, 0, &endpoint, NULL), STATUS_OK);
	relay = relay_to(device_socket_port(endpoint));
	fd = call(relay);
	wait_for(endpoint, POLLIN);
	relay_close(relay);
	expect_end(fd);
	close(endpoint);
	relay_close(NULL);
}

static void targets_are_names_and_addresses(void **state)
{
	struct relay_options options = { 0 };
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(relay_target_resolve("http://localhost:4443", &options, NULL), STATUS_OK);
	assert_int_equal(relay_target_resolve("http://[::1]:4443", &options, NULL), STATUS_OK);
	assert_int_equal(options.to.ss_family, AF_INET6);
	assert_int_equal(relay_target_resolve("http://no.such.host.invalid:1", &options, &err),
			 STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "no.such.host.invalid"));
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_not_served_finds_a_closed_endpoint),
		cmocka_unit_test(connections_may_be_brought_with_their_peers),
		cmocka_unit_test(bytes_go_both_ways_until_both_have_ended),
		cmocka_unit_test(more_than_buffers_hold_arrives_whole),
		cmocka_unit_test(much_that_nobody_answers_arrives_whole),
		cmocka_unit_test(the_client_that_ended_first_gives_way_first),
		cmocka_unit_test(a_target_that_is_not_there_ends_the_connection),
		cmocka_unit_test(clients_past_the_limit_have_their_turn),
		cmocka_unit_test(clients_that_went_away_give_way_to_those_that_come),
		cmocka_unit_test(a_limit_below_what_it_watches_ends_its_thread),
		cmocka_unit_test(it_closes_with_connections_that_are_still_there),
		cmocka_unit_test(targets_are_names_and_addresses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
