/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/forward.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

enum { WAIT_MS = 10000, MUCH = 3 << 20, CHUNK = 4096 };

struct lab {
	struct forwarder *forwarder;
	int endpoint;
	char port[6];
	sem_t failed; /* on_failed() was called */
	char failure[256];
};

static void on_failed(void *arg, const struct forward_target *target, const char *problem)
{
	struct lab *lab = arg;

	snprintf(lab->failure, sizeof(lab->failure), "%s %s:%s %s", target->name, target->host, target->port,
		 problem);
	sem_post(&lab->failed);
}

static int setup(void **state)
{
	struct sockaddr_in place = { .sin_family = AF_INET,
				     .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(place);
	struct lab *lab = calloc(1, sizeof(*lab));

	lab->endpoint = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(lab->endpoint, (const struct sockaddr *)&place, size), 0);
	assert_int_equal(listen(lab->endpoint, 128), 0);
	getsockname(lab->endpoint, (struct sockaddr *)&place, &size);
	snprintf(lab->port, sizeof(lab->port), "%u", ntohs(place.sin_port));
	sem_init(&lab->failed, 0, 0);
	assert_int_equal(forwarder_open(&(struct forwarder_options){ .failed = on_failed, .arg = lab },
					&lab->forwarder, NULL),
			 STATUS_OK);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	forwarder_close(lab->forwarder);
	close(lab->endpoint);
	free(lab);
	return 0;
}

/* Connects a client; its bytes are forwarded to that port. */
static int client_of(const struct lab *lab, const char *host, const char *port)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	forwarder_take(lab->forwarder, ends[1],
		       &(struct forward_target){ .name = "a.googleapis.com", .host = host, .port = port });
	return ends[0];
}

static int server_of(const struct lab *lab)
{
	struct pollfd polled = { .fd = lab->endpoint, .events = POLLIN };

	assert_int_equal(poll(&polled, 1, WAIT_MS), 1);
	return accept4(lab->endpoint, NULL, NULL, SOCK_NONBLOCK);
}

static ssize_t hear(int fd, char *bytes, size_t size)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&polled, 1, WAIT_MS), 1);
	return recv(fd, bytes, size, 0);
}

static void expect_end(int fd)
{
	char byte;

	assert_true(hear(fd, &byte, 1) <= 0);
	close(fd);
}

static void much_goes_both_ways_at_once(void **state)
{
	const struct lab *lab = *state;
	const int client = client_of(lab, "localhost", lab->port), server = server_of(lab);
	const int fds[] = { client, server };
	size_t sent[2] = { 0 }, got[2] = { 0 };

	while (got[0] < MUCH || got[1] < MUCH) {
		struct pollfd polled[2];

		for (int i = 0; i < 2; i++)
			polled[i] = (struct pollfd){
				.fd = fds[i],
				.events = (short)((sent[i] < MUCH ? POLLOUT : 0) | POLLIN),
			};
		assert_true(poll(polled, 2, WAIT_MS) > 0);
		for (int i = 0; i < 2; i++) {
			char bytes[CHUNK];
			ssize_t more;

			if (polled[i].revents & POLLOUT) {
				for (size_t k = 0; k < CHUNK; k++)
					bytes[k] = (char)((sent[i] + k) % 251);
				more = send(fds[i], bytes, CHUNK, 0);
				sent[i] += more > 0 ? (size_t)more : 0;
			}
			if (!(polled[i].revents & POLLIN))
				continue;
			more = recv(fds[i], bytes, CHUNK, 0);
			assert_true(more > 0);
			for (ssize_t k = 0; k < more; k++)
				assert_int_equal(bytes[k], (char)((got[i] + (size_t)k) % 251));
			got[i] += (size_t)more;
		}
	}
	close(server);
	expect_end(client);
}

/* Fails with: flow_move() that takes full buffers for a broken connection, or a part for all; connection_wait() that does not wait
 * for room. */
static void a_server_that_reads_late_gets_all(void **state)
{
	enum { STUCK_MS = 200 }; /* if nothing moves for this long, all buffers on the way are full */
	const struct lab *lab = *state;
	const int client = client_of(lab, "localhost", lab->port), server = server_of(lab);
	struct pollfd room = { .fd = client, .events = POLLOUT };
	size_t sent = 0, got = 0;
	char bytes[CHUNK];
	ssize_t more;

	do {
		for (size_t k = 0; k < CHUNK; k++)
			bytes[k] = (char)((sent + k) % 251);
		more = send(client, bytes, CHUNK, 0);
		sent += more > 0 ? (size_t)more : 0;
	} while (poll(&room, 1, STUCK_MS) > 0);
	shutdown(client, SHUT_WR);
	while ((more = hear(server, bytes, CHUNK)) > 0) {
		for (ssize_t k = 0; k < more; k++)
			assert_int_equal(bytes[k], (char)((got + (size_t)k) % 251));
		got += (size_t)more;
	}
	assert_int_equal(got, sent);
	close(server);
	expect_end(client);
}

static void a_client_that_said_all_still_gets_its_answer(void **state)
{
	const struct lab *lab = *state;
	const int client = client_of(lab, "127.0.0.1", lab->port), server = server_of(lab);
	char byte;

	assert_int_equal(send(client, "?", 1, 0), 1);
	shutdown(client, SHUT_WR);
	assert_int_equal(hear(server, &byte, 1), 1);
	assert_int_equal(hear(server, &byte, 1), 0);
	assert_int_equal(send(server, "!", 1, 0), 1);
	close(server);
	assert_int_equal(hear(client, &byte, 1), 1);
	assert_int_equal(byte, '!');
	expect_end(client);
}

static void failure_await(struct lab *lab)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT_MS / 1000;
	assert_int_equal(sem_clockwait(&lab->failed, CLOCK_MONOTONIC, &until), 0);
}

/* Fails with: connection_serve() that keeps a client without a server; failure_report() that tells the log alone. */
static void a_server_that_is_not_there_ends_the_connection(void **state)
{
	struct lab *lab = *state;

	char expected[256];

	close(lab->endpoint);
	lab->endpoint = -1;
	expect_end(client_of(lab, "127.0.0.1", lab->port));
	failure_await(lab);
	snprintf(expected, sizeof(expected), "a.googleapis.com 127.0.0.1:%s Connection refused", lab->port);
	assert_string_equal(lab->failure, expected);
	expect_end(client_of(lab, "no-such-name.invalid", "443"));
	failure_await(lab);
	assert_ptr_equal(strstr(lab->failure, "a.googleapis.com no-such-name.invalid:443 "), lab->failure);
}

/* Fails with: place_take() without a limit. */
static void one_more_than_there_is_room_for_is_closed(void **state)
{
	const struct lab *lab = *state;
	int clients[FORWARD_MAX], servers[FORWARD_MAX];

	for (int i = 0; i < FORWARD_MAX; i++) {
		clients[i] = client_of(lab, "127.0.0.1", lab->port);
		servers[i] = server_of(lab);
	}
	expect_end(client_of(lab, "127.0.0.1", lab->port));
	for (int i = 0; i < FORWARD_MAX; i++) {
		close(servers[i]);
		expect_end(clients[i]);
	}
}

/* Fails with: connection_wait() that does not look at the wake. */
static void what_is_under_way_ends_with_the_forwarder(void **state)
{
	struct lab *lab = *state;
	const int client = client_of(lab, "127.0.0.1", lab->port), server = server_of(lab);

	forwarder_close(TAKE(lab->forwarder));
	expect_end(client);
	expect_end(server);
}

/* Whether a socket in this network namespace waits for its connect() to @port. */
static bool is_connecting(unsigned port)
{
	char line[256];
	bool found = false;
	FILE *sockets = fopen("/proc/net/tcp", "re");

	assert_non_null(sockets);
	while (!found && fgets(line, sizeof(line), sockets)) {
		unsigned to, state;

		found = sscanf(line, " %*u: %*x:%*x %*x:%x %x", &to, &state) == 2 && to == port &&
			state == TCP_SYN_SENT;
	}
	fclose(sockets);
	return found;
}

/* A server that accepts no connections, like one behind a firewall. Fails with: failure_report() without is_closing(). */
static void an_attempt_that_the_end_breaks_off_is_no_failure(void **state)
{
	struct lab *lab = *state;
	const unsigned port = (unsigned)strtoul(lab->port, NULL, 10);
	struct sockaddr_in place = { .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	int fillers[4], client;

	assert_int_equal(listen(lab->endpoint, 0), 0);
	for (size_t i = 0; i < COUNT_OF(fillers); i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fillers[i], (const struct sockaddr *)&place, sizeof(place));
	}
	while (!is_connecting(port))
		sched_yield();
	for (size_t i = 0; i < COUNT_OF(fillers); i++)
		close(fillers[i]);
	while (is_connecting(port))
		sched_yield();
	client = client_of(lab, "127.0.0.1", lab->port);
	while (!is_connecting(port))
		sched_yield();
	forwarder_close(TAKE(lab->forwarder));
	expect_end(client);
	assert_int_equal(sem_trywait(&lab->failed), -1);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(much_goes_both_ways_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_that_reads_late_gets_all, setup, teardown),
		cmocka_unit_test_setup_teardown(a_client_that_said_all_still_gets_its_answer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_server_that_is_not_there_ends_the_connection, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_more_than_there_is_room_for_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_under_way_ends_with_the_forwarder, setup, teardown),
		cmocka_unit_test_setup_teardown(an_attempt_that_the_end_breaks_off_is_no_failure, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
