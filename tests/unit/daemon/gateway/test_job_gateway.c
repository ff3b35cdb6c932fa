/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways on the loopback device; the rules about addresses are the same as on a bridge. */
#include "daemon/gateway/job_gateway.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <pthread.h>
#include <semaphore.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/device_socket.h"
#include "store/keys/access_token.h"
#include "store/keys/signing_key.h"
#include "store/store.h"
#include "tests/unit/testing.h"

enum { ADDRESS = 0x7f0a0001, STARTED_S = 1700000000 }; /* replicas call from 127.10.0.2 and following */

struct lab {
	char directory[64];
	struct store *store;
	struct signing_key *key;
	struct gateways *gateways;
	struct gateway_ops ops;
	struct plan *plan;
};

static void gateways_make(struct lab *lab, const char *storage_endpoint, bool cut_off)
{
	gateways_free(lab->gateways);
	assert_int_equal(gateways_new(&(struct gateways_options){ .store = lab->store,
								  .key = lab->key,
								  .clock = &system_clock,
								  .project_id = "demo",
								  .project_number = "42",
								  .storage_endpoint = storage_endpoint,
								  .cut_off = cut_off },
				      &lab->gateways, NULL),
			 STATUS_OK);
	lab->ops = gateways_ops(lab->gateways);
}

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	strcpy(lab->directory, "/tmp/trainyard-test-XXXXXX");
	assert_non_null(mkdtemp(lab->directory));
	assert_int_equal(store_open(lab->directory, &system_clock, &lab->store, NULL), STATUS_OK);
	lab->key = signing_key_new(lab->directory);
	lab->plan = plan_new();
	lab->plan->region = strdup("us-central1");
	lab->plan->project = strdup("demo");
	lab->plan->job_id = strdup("job_1");
	lab->plan->cluster_id = strdup("ab12cd34ef");
	lab->plan->pools[ROLE_MASTER].count = 1;
	lab->plan->pools[ROLE_WORKER].count = 1;
	gateways_make(lab, NULL, false);
	*state = lab;
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	return remove(path);
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	gateways_free(lab->gateways);
	plan_free(lab->plan);
	signing_key_free(lab->key);
	store_close(lab->store);
	nftw(lab->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(lab);
	return 0;
}

static struct gateway_request request_of(const struct lab *lab, int64_t job, uint16_t port)
{
	return (struct gateway_request){ .job = job,
					 .plan = lab->plan,
					 .device = "lo",
					 .address = ADDRESS,
					 .first_replica = ADDRESS + 1,
					 .port = port,
					 .started_us = STARTED_S * INT64_C(1000000) + 999999 };
}

static struct gateway_address open_at(struct lab *lab, int64_t job, uint16_t port)
{
	const struct gateway_request request = request_of(lab, job, port);
	struct gateway_address place = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (lab->ops.open(lab->ops.arg, &request, &place, &err))
		fail_msg("not opened: %s", err.text);
	return place;
}

static int socket_from(uint32_t peer)
{
	const struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr = { .s_addr = htonl(peer) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&from, sizeof(from)), 0);
	return fd;
}

/* Makes one request from that address. @answer: the whole answer, or "" if no gateway listens. */
static void ask(uint32_t peer, uint16_t port, const char *target, char *answer, size_t size)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr = { .s_addr = htonl(ADDRESS) } };
	int fd = socket_from(peer), length;
	char request[256];
	size_t got = 0;
	ssize_t more;

	length = snprintf(request, sizeof(request),
			  "GET %s HTTP/1.1\r\nHost: metadata\r\nMetadata-Flavor: Google\r\n"
			  "Connection: close\r\n\r\n",
			  target);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 &&
	    send(fd, request, (size_t)length, 0) == length)
		while (got + 1 < size && (more = recv(fd, answer + got, size - 1 - got, 0)) > 0)
			got += (size_t)more;
	answer[got] = '\0';
	close(fd);
}

static void each_replica_is_known_by_its_address(void **state)
{
	struct lab *lab = *state;
	struct gateway_address place = open_at(lab, 7, 0);
	char answer[4096];

	ask(ADDRESS + 1, place.port, "/computeMetadata/v1/instance/hostname", answer, sizeof(answer));
	assert_non_null(strstr(answer, "200 OK"));
	assert_non_null(strstr(answer, "master"));
	ask(ADDRESS + 2, place.port, "/computeMetadata/v1/instance/hostname", answer, sizeof(answer));
	assert_non_null(strstr(answer, "worker"));
	ask(ADDRESS + 3, place.port, "/computeMetadata/v1/instance/service-accounts/default/token", answer,
	    sizeof(answer));
	assert_null(strstr(answer, "200 OK")); /* 127.10.0.4 belongs to no replica of the job */
	ask(ADDRESS + 1, place.port, "/v1/projects/demo/jobs", answer, sizeof(answer));
	assert_non_null(strstr(answer, "404"));
}

/* As if the daemon had an address of its own in the network, among others. Fails with: replica_of() that counts from the
 * gateway's address on. */
static void replicas_may_be_elsewhere_and_come_in_by_any_device(void **state)
{
	struct lab *lab = *state;
	struct gateway_request request = request_of(lab, 7, 0);
	struct gateway_address place;
	char answer[4096];

	request.device = "";
	request.first_replica = ADDRESS + 40;
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &place, NULL), STATUS_OK);
	ask(ADDRESS + 41, place.port, "/computeMetadata/v1/instance/hostname", answer, sizeof(answer));
	assert_non_null(strstr(answer, "worker"));
	ask(ADDRESS + 1, place.port, "/computeMetadata/v1/instance/hostname", answer, sizeof(answer));
	assert_null(strstr(answer, "200 OK"));
}

/* Programs of this machine use the same device and must be refused. Fails with: listener_start() without peers. */
static void nobody_but_a_replica_is_let_in(void **state)
{
	static const uint32_t others[] = { ADDRESS, ADDRESS + 3, ADDRESS + 200, 0x7f000001 };
	struct lab *lab = *state;
	struct gateway_address place = open_at(lab, 7, 0);
	char answer[4096];

	ask(ADDRESS + 1, place.port, "/", answer, sizeof(answer));
	assert_non_null(strstr(answer, "Metadata-Flavor: Google"));
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		ask(others[i], place.port, "/", answer, sizeof(answer));
		assert_string_equal(answer, "");
	}
}

static void an_identity_token_tells_when_the_job_began(void **state)
{
	struct lab *lab = *state;
	struct gateway_address place = open_at(lab, 7, 0);
	const char *payload;
	char answer[4096], claims[2048];
	size_t length;

	ask(ADDRESS + 2, place.port,
	    "/computeMetadata/v1/instance/service-accounts/default/identity?audience=me&format=full", answer,
	    sizeof(answer));
	payload = strstr(answer, "\r\n\r\n");
	assert_non_null(payload);
	payload = strchr(payload, '.');
	assert_non_null(payload);
	assert_int_equal(sodium_base642bin((unsigned char *)claims, sizeof(claims) - 1, payload + 1,
					   strcspn(payload + 1, "."), NULL, &length, NULL,
					   sodium_base64_VARIANT_URLSAFE_NO_PADDING),
			 0);
	claims[length] = '\0';
	assert_non_null(strstr(claims, "\"instance_creation_timestamp\":1700000000"));
}

static void opening_it_again_says_where_it_is(void **state)
{
	struct lab *lab = *state;
	struct gateway_address first = open_at(lab, 7, 0);

	assert_int_equal(open_at(lab, 7, 0).port, first.port);
	assert_int_equal(open_at(lab, 7, first.port).port, first.port);
	assert_int_not_equal(open_at(lab, 8, 0).port, first.port);
	lab->ops.close(lab->ops.arg, 7);
	lab->ops.close(lab->ops.arg, 7);
}

/* The attempt that a token of the master names. */
static unsigned attempt_of_token(const struct lab *lab, uint16_t port)
{
	struct access_token token = { 0 };
	char answer[4096];
	char *text;

	ask(ADDRESS + 1, port, "/computeMetadata/v1/instance/service-accounts/default/token", answer,
	    sizeof(answer));
	text = strstr(answer, "ya29.ty-");
	assert_non_null(text);
	text[strcspn(text, "\"")] = '\0';
	assert_int_equal(access_token_read(lab->store, text, 0, &token, NULL), STATUS_OK);
	return token.attempt;
}

/* Fails with: gateway_open() that does not take the attempt of a gateway that is open: the second attempt's tokens were the
 * first's. */
static void the_next_attempt_has_tokens_of_its_own(void **state)
{
	struct lab *lab = *state;
	struct gateway_request request = request_of(lab, 7, 0);
	struct gateway_address place;

	request.attempt = 1;
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &place, NULL), STATUS_OK);
	assert_int_equal(attempt_of_token(lab, place.port), 1);
	request.attempt = 2;
	request.port = place.port;
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &place, NULL), STATUS_OK);
	assert_int_equal(place.port, request.port);
	assert_int_equal(attempt_of_token(lab, place.port), 2);
}

static void after_a_restart_it_is_where_it_was(void **state)
{
	struct lab *lab = *state;
	struct gateway_address first = open_at(lab, 7, 0);
	char answer[4096];

	gateways_make(lab, NULL, false);
	ask(ADDRESS + 1, first.port, "/", answer, sizeof(answer));
	assert_string_equal(answer, "");
	assert_int_equal(open_at(lab, 7, first.port).port, first.port);
	ask(ADDRESS + 1, first.port, "/", answer, sizeof(answer));
	assert_non_null(strstr(answer, "Metadata-Flavor: Google"));
}

static void a_place_that_is_taken_or_not_there_is_unavailable(void **state)
{
	struct lab *lab = *state;
	struct gateway_request request;
	struct gateway_address place;
	struct error err AUTO_ERROR = { 0 };
	int fd;

	assert_int_equal(device_socket_open("lo", ADDRESS, 0, &fd, NULL), STATUS_OK);
	request = request_of(lab, 7, device_socket_port(fd));
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &place, &err), STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "Address already in use"));
	close(fd);
	error_deinit(&err);
	request = request_of(lab, 7, 0);
	request.device = "ty-none";
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &place, &err), STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "No such device"));
	error_deinit(&err);
	request = request_of(lab, 7, 0);
	request.address = 0xc0000201; /* 192.0.2.1 */
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &place, &err), STATUS_UNAVAILABLE);
}

static atomic_bool
	holds;      /* the next listener to close keeps its address until another thread waits for that */
static sem_t waits; /* posted when a thread waits for it */
static _Thread_local bool is_opening; /* other threads wait for other conditions */

void __real_listener_close(struct listener *listener, unsigned wait_ms);
void __wrap_listener_close(struct listener *listener, unsigned wait_ms);
void __wrap_listener_close(struct listener *listener, unsigned wait_ms)
{
	if (listener && atomic_exchange(&holds, false))
		sem_wait(&waits);
	__real_listener_close(listener, wait_ms);
}

/* Waits as long as necessary, whatever the time limit. */
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
	if (!is_opening)
		return __real_pthread_cond_timedwait(cond, lock, until);
	sem_post(&waits);
	return pthread_cond_wait(cond, lock);
}

/* Fails with: address_await() that does nothing: "Address already in use". */
static void who_takes_over_a_network_waits_until_its_address_is_free(void **state)
{
	struct lab *lab = *state;
	const struct gateway_request request = request_of(lab, 8, open_at(lab, 7, 0).port);
	struct gateway_address place;
	struct error err AUTO_ERROR = { 0 };
	enum status rc;

	sem_init(&waits, 0, 0);
	atomic_store(&holds, true);
	lab->ops.close(lab->ops.arg, 7);
	is_opening = true;
	rc = lab->ops.open(lab->ops.arg, &request, &place, &err);
	is_opening = false;
	sem_post(&waits); /* the thread has waited without success */
	if (rc)
		fail_msg("not opened: %s", err.text);
	assert_int_equal(place.port, request.port);
}

static void storage_elsewhere_is_at_the_next_port(void **state)
{
	struct lab *lab = *state;
	struct gateway_address place;

	gateways_make(lab, "http://127.0.0.1:1", true);
	place = open_at(lab, 7, 0);
	assert_int_equal(place.storage_port, place.port + 1);
	assert_true(place.cut_off);
	gateways_make(lab, "http://127.0.0.1:1", false);
	assert_int_equal(open_at(lab, 7, place.port).storage_port, place.port + 1);
}

/* Hands the sink a connection from replica 0; returns whether the gateway answers it. */
static bool sink_answers(const struct connection_sink *sink)
{
	const struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = { .s_addr = htonl(ADDRESS + 1) } };
	static const char request[] = "GET / HTTP/1.1\r\nHost: metadata\r\nMetadata-Flavor: Google\r\n"
				      "Connection: close\r\n\r\n";
	struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0), near = socket(AF_INET, SOCK_STREAM, 0), far;
	socklen_t size = sizeof(place);
	char first = '\0';
	ssize_t got;

	assert_int_equal(bind(listener, (struct sockaddr *)&place, sizeof(place)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&place, &size), 0);
	assert_int_equal(connect(near, (struct sockaddr *)&place, sizeof(place)), 0);
	far = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(far >= 0);
	close(listener);
	sink->take(sink->arg, sink->key, GATEWAY_PORT, &peer, far);
	send(near, request, sizeof(request) - 1, MSG_NOSIGNAL);
	got = recv(near, &first, 1, 0);
	close(near);
	return got == 1 && first == 'H';
}

/* A job that lost its node has a gateway for its next attempt, while a tunnel of the lost attempt may come back.
 * Fails with: sinks named after the job: the tunnel of the first gateway led to the second one. */
static void connections_of_an_earlier_gateway_are_closed(void **state)
{
	struct lab *lab = *state;
	struct gateway_request request = request_of(lab, 7, 0);
	struct gateway_address first = { 0 }, second = { 0 };

	request.is_carried = true;
	request.device = "";
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &first, NULL), STATUS_OK);
	assert_true(sink_answers(&first.sink));
	lab->ops.close(lab->ops.arg, 7);
	assert_int_equal(lab->ops.open(lab->ops.arg, &request, &second, NULL), STATUS_OK);
	assert_true(sink_answers(&second.sink));
	assert_false(sink_answers(&first.sink));
}

static void an_endpoint_that_is_not_known_is_told_with_its_option(void **state)
{
	struct gateways *gateways = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(gateways_new(&(struct gateways_options){ .storage_endpoint =
									  "http://no.such.host.invalid:1" },
				      &gateways, &err),
			 STATUS_UNAVAILABLE);
	assert_ptr_equal(strstr(err.text, "--storage-endpoint: http://no.such.host.invalid:1: "), err.text);
}

#define LAB_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(each_replica_is_known_by_its_address),
		LAB_TEST(replicas_may_be_elsewhere_and_come_in_by_any_device),
		LAB_TEST(nobody_but_a_replica_is_let_in),
		LAB_TEST(an_identity_token_tells_when_the_job_began),
		LAB_TEST(opening_it_again_says_where_it_is),
		LAB_TEST(the_next_attempt_has_tokens_of_its_own),
		LAB_TEST(after_a_restart_it_is_where_it_was),
		LAB_TEST(a_place_that_is_taken_or_not_there_is_unavailable),
		LAB_TEST(who_takes_over_a_network_waits_until_its_address_is_free),
		LAB_TEST(storage_elsewhere_is_at_the_next_port),
		LAB_TEST(connections_of_an_earlier_gateway_are_closed),
		cmocka_unit_test(an_endpoint_that_is_not_known_is_told_with_its_option),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests_name("job_gateway", tests, NULL, NULL);
}
