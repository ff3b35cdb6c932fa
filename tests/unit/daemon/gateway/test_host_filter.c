/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/host_filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/client_hello.h"
#include "tests/unit/testing.h"

enum { LOOPBACK = 0x7f000001, WAIT_MS = 10000 };

static struct {
	pthread_mutex_t lock;
	char hosts[1024];
	unsigned count;
} told = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void on_tried(void *arg, const char *host)
{
	(void)arg;
	pthread_mutex_lock(&told.lock);
	snprintf(told.hosts + strlen(told.hosts), sizeof(told.hosts) - strlen(told.hosts), "[%s]", host);
	told.count++;
	pthread_mutex_unlock(&told.lock);
}

static struct host_filter *start(unsigned patience_ms)
{
	struct host_filter *host_filter = NULL;

	told.hosts[0] = '\0';
	told.count = 0;
	assert_int_equal(host_filter_open(&(struct host_filter_options){ .protocol = &host_protocol_tls,
								       .address = LOOPBACK,
								       .patience_ms = patience_ms,
								       .tried = on_tried },
					 &host_filter, NULL),
			 STATUS_OK);
	return host_filter;
}

static int call(const struct host_filter *host_filter)
{
	const struct sockaddr_in place = { .sin_family = AF_INET,
					   .sin_port = htons(host_filter_port(host_filter)),
					   .sin_addr = { .s_addr = htonl(LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&place, sizeof(place)), 0);
	return fd;
}

/* Reads until the other side ends. */
static size_t read_all(int fd, char *bytes, size_t size)
{
	size_t length = 0;
	ssize_t got;

	for (;;) {
		struct pollfd polled = { .fd = fd, .events = POLLIN };

		assert_int_equal(poll(&polled, 1, WAIT_MS), 1);
		got = recv(fd, bytes + length, size - length, 0);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	close(fd);
	return length;
}

/* A ClientHello for gcr.io. */
static const char hello[] = "\x16\3\1\0\x3c\1\0\0\x38\3\3"
			    "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr\0\0\2\x13\1\1\0\0\xd\0\0\0\x9\0\7\0\0\4g.io";

static void who_calls_is_told_and_turned_away(void **state)
{
	struct host_filter *host_filter = start(WAIT_MS);
	int first = call(host_filter), second = call(host_filter);
	char bytes[64];

	(void)state;
	assert_int_equal(send(first, hello, 20, 0), 20);
	assert_int_equal(send(second, "GET /", 5, 0), 5);
	assert_int_equal(read_all(second, bytes, sizeof(bytes)), 7);
	assert_int_equal(send(first, hello + 20, sizeof(hello) - 1 - 20, 0), sizeof(hello) - 1 - 20);
	assert_int_equal(read_all(first, bytes, sizeof(bytes)), 7);
	assert_memory_equal(bytes, "\x15\3\3\0\2\2\x31", 7);
	host_filter_close(host_filter);
	assert_string_equal(told.hosts, "[][g.io]");
}

static double cpu_s(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* While no file descriptor is free, accept() is not retried in a loop. */
static void a_lack_of_descriptors_is_waited_out(void **state)
{
	struct host_filter *host_filter = start(WAIT_MS);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	const struct sockaddr_in place = { .sin_family = AF_INET,
					   .sin_port = htons(host_filter_port(host_filter)),
					   .sin_addr = { .s_addr = htonl(LOOPBACK) } };
	struct rlimit before, none;
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	char bytes[64];
	int taken[256];
	size_t taken_count = 0;
	double begin;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = COUNT_OF(taken); /* more than the number of watched connections, which is bounded as well */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	while ((taken[taken_count] = dup(fd)) >= 0)
		taken_count++;
	begin = cpu_s();
	assert_int_equal(connect(fd, (const struct sockaddr *)&place, sizeof(place)), 0);
	assert_int_equal(send(fd, hello, sizeof(hello) - 1, 0), sizeof(hello) - 1);
	assert_int_equal(poll(&polled, 1, 500), 0); /* there is no answer yet */
	assert_true(cpu_s() - begin < 0.2);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	while (taken_count)
		close(taken[--taken_count]);
	assert_int_equal(read_all(fd, bytes, sizeof(bytes)), 7);
	host_filter_close(host_filter);
	assert_string_equal(told.hosts, "[g.io]");
}

/* The thread closes its endpoint when it ends. */
static void await_refusal(const struct host_filter *host_filter)
{
	const struct sockaddr_in place = { .sin_family = AF_INET,
					   .sin_port = htons(host_filter_port(host_filter)),
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

/* poll() must not be retried in a loop after a permanent error. Fails with: host_filter_main() that goes on after an error
 * of poll(). */
static void a_limit_below_what_it_watches_ends_its_thread(void **state)
{
	struct host_filter *host_filter = start(WAIT_MS);
	struct rlimit before, low;
	double begin;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 32;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	close(call(host_filter)); /* this makes the next poll() fail */
	begin = cpu_s();
	await_refusal(host_filter);
	assert_true(cpu_s() - begin < 0.1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	host_filter_close(host_filter);
}

static atomic_int served = -1;

static bool on_called(void *arg, const struct client_hello *called, int fd, const struct sockaddr_in *peer)
{
	assert_int_equal(ntohl(peer->sin_addr.s_addr), LOOPBACK);
	if (strcmp(called->name, arg) != 0)
		return false;
	served = fd;
	return true;
}

/* A ClientHello in two pieces reaches the server of that name unchanged; other names are refused. */
static void whose_name_is_served_is_handed_over_unread(void **state)
{
	struct host_filter *host_filter = NULL;
	char bytes[256], name[] = "g.io", other[] = "h.io";
	int fd;

	(void)state;
	for (int taken = 1; taken >= 0; taken--) {
		told.hosts[0] = '\0';
		served = -1;
		assert_int_equal(
			host_filter_open(&(struct host_filter_options){ .protocol = &host_protocol_tls,
								       .address = LOOPBACK,
								      .patience_ms = WAIT_MS,
								      .serve = on_called,
								      .tried = taken ? NULL : on_tried,
								      .arg = taken ? name : other },
					&host_filter, NULL),
			STATUS_OK);
		fd = call(host_filter);
		assert_int_equal(send(fd, hello, 20, 0), 20);
		assert_int_equal(send(fd, hello + 20, sizeof(hello) - 1 - 20, 0), sizeof(hello) - 1 - 20);
		if (taken) {
			for (int i = 0; i < WAIT_MS && served < 0; i++)
				usleep(1000);
			host_filter_close(host_filter);
			assert_true(served >= 0);
			/* The filter itself sends nothing: only the server does. */
			assert_int_equal(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), -1);
			assert_int_equal(errno, EAGAIN);
			assert_int_equal(recv(served, bytes, sizeof(bytes), 0), sizeof(hello) - 1);
			assert_memory_equal(bytes, hello, sizeof(hello) - 1);
			close(served);
			close(fd);
		} else {
			assert_int_equal(read_all(fd, bytes, sizeof(bytes)), 7);
			host_filter_close(host_filter);
			assert_int_equal(served, -1);
			assert_string_equal(told.hosts, "[g.io]");
		}
	}
}

static void who_says_nothing_is_not_waited_for(void **state)
{
	struct host_filter *host_filter = start(1);
	char bytes[64];

	(void)state;
	assert_int_equal(read_all(call(host_filter), bytes, sizeof(bytes)), 7);
	host_filter_close(host_filter);
	assert_string_equal(told.hosts, "[]");
}

static void many_at_once_do_not_keep_others_out_for_good(void **state)
{
	struct host_filter *host_filter = start(50);
	int silent[40];
	char bytes[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(silent); i++)
		silent[i] = call(host_filter);
	for (size_t i = 0; i < COUNT_OF(silent); i++)
		read_all(silent[i], bytes, sizeof(bytes));
	assert_int_equal(read_all(call(host_filter), bytes, sizeof(bytes)), 7);
	host_filter_close(host_filter);
	assert_true(told.count >= 17);
}

static void it_closes_with_clients_that_are_still_there(void **state)
{
	struct host_filter *host_filter = start(WAIT_MS);
	int fd = call(host_filter);

	(void)state;
	host_filter_close(host_filter);
	close(fd);
	host_filter_close(NULL);
}

static void a_port_that_is_taken_is_unavailable(void **state)
{
	struct host_filter *host_filter = start(WAIT_MS), *other = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(host_filter_open(&(struct host_filter_options){ .protocol = &host_protocol_tls,
								       .address = LOOPBACK,
								       .port = host_filter_port(host_filter),
								       .tried = on_tried },
					 &other, &err),
			 STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "Address already in use"));
	host_filter_close(host_filter);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_calls_is_told_and_turned_away),
		cmocka_unit_test(whose_name_is_served_is_handed_over_unread),
		cmocka_unit_test(who_says_nothing_is_not_waited_for),
		cmocka_unit_test(a_lack_of_descriptors_is_waited_out),
		cmocka_unit_test(a_limit_below_what_it_watches_ends_its_thread),
		cmocka_unit_test(many_at_once_do_not_keep_others_out_for_good),
		cmocka_unit_test(it_closes_with_clients_that_are_still_there),
		cmocka_unit_test(a_port_that_is_taken_is_unavailable),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host_filter", tests, NULL, NULL);
}
