/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_endpoint.c with docker_context.c, docker_carrier.c, docker_wire.c without TLS and
 * docker_ssh.c. TLS with an engine is tested by tests/integration/test_engine_places.py. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_context.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_wire.h"
#include "tests/unit/testing.h"

enum { WAIT_MS = 60 * 1000, MUCH = 3 * 1024 * 1024 };

static char place[64]; /* a directory for this run */
static const char *const variables[] = { "DOCKER_HOST",       "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH",
					 "DOCKER_TLS_VERIFY", "DOCKER_TLS" };

static void file_write(const char *name, const char *text, mode_t mode)
{
	AUTO(string) char *path = memory_printf("%s/%s", place, name);
	FILE *file;

	for (char *slash = path + strlen(place) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
}

static int setup(void **state)
{
	(void)state;
	snprintf(place, sizeof(place), "/tmp/ty-test-endpoint-XXXXXX");
	assert_non_null(mkdtemp(place));
	for (size_t i = 0; i < COUNT_OF(variables); i++)
		unsetenv(variables[i]);
	setenv("DOCKER_CONFIG", place, 1);
	return 0;
}

static int teardown(void **state)
{
	AUTO(string) char *command = memory_printf("rm -r %s", place);

	(void)state;
	return system(command);
}

/* ---- URLs ---- */

static void forms_of_docker_are_taken(void **state)
{
	static const char *const good[] = { "unix:///run/docker.sock", "tcp://docker:2376", "tcp://10.0.0.1",
					    "tcp://[::1]:2375",        "tcp://docker:2376/", "ssh://build",
					    "ssh://me@build:22",       "ssh://me@build/run/user/1000/docker.sock",
					    "swarm:zt44kdx14x0n:ssh://me@build", "swarm:n1:unix:///run/docker.sock",
					    "context://my.ci-1" };
	static const char *const bad[] = {
		"",           "unix://",         "unix://relative",   "/run/docker.sock", "tcp://",
		"tcp://:1",   "tcp://x:port",    "tcp://x:0",         "tcp://x:65536",    "tcp://x:1/path",
		"tcp://[::1", "tcp://a b",       "ssh://",            "ssh://-oProxyCommand=x", "ssh://-l@x",
		"ssh://x/$a", "ssh://me:pw@x:1", "context://",        "context://../x",   "context://-x",
		"swarm:",     "swarm:n1",        "swarm::unix:///a",  "swarm:../n:unix:///a",   "swarm:n1:/a",
		"swarm:n1:swarm:n2:unix:///a",
		"npipe://x",  "http://x:1",      "fd://",             "ssh://me@",        "tcp://-x",
	};
	char longest[200];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++)
		if (!endpoint_url_valid(good[i]))
			fail_msg("%s is refused", good[i]);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (endpoint_url_valid(bad[i]))
			fail_msg("%s is taken", bad[i]);
	snprintf(longest, sizeof(longest), "unix:///%0106d", 0); /* a socket's path takes 107 bytes */
	assert_true(endpoint_url_valid(longest));
	strcat(longest, "0");
	assert_false(endpoint_url_valid(longest));
}

static void the_usual_engine_is_that_of_docker_s_client(void **state)
{
	static const struct {
		const char *host, *context, *config, *url;
	} cases[] = {
		{ NULL, NULL, NULL, "unix:///var/run/docker.sock" },
		{ "", "", NULL, "unix:///var/run/docker.sock" },
		{ "tcp://1.2.3.4:2375", "ci", "{\"currentContext\":\"other\"}", "tcp://1.2.3.4:2375" },
		{ NULL, "ci", "{\"currentContext\":\"other\"}", "context://ci" },
		{ NULL, NULL, "{\"currentContext\":\"other\"}", "context://other" },
		{ NULL, "default", "{\"currentContext\":\"other\"}", "unix:///var/run/docker.sock" },
		{ NULL, NULL, "{\"currentContext\":\"default\"}", "unix:///var/run/docker.sock" },
		{ NULL, NULL, "no JSON", "unix:///var/run/docker.sock" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		unsetenv("DOCKER_HOST");
		unsetenv("DOCKER_CONTEXT");
		if (cases[i].host)
			setenv("DOCKER_HOST", cases[i].host, 1);
		if (cases[i].context)
			setenv("DOCKER_CONTEXT", cases[i].context, 1);
		file_write("config.json", cases[i].config ? cases[i].config : "{}", 0600);
		AUTO(string) char *url = endpoint_default();

		assert_string_equal(url, cases[i].url);
	}
}

/* ---- TLS and contexts ---- */

static void tls_is_what_docker_s_variables_ask_for(void **state)
{
	static const struct {
		const char *url, *path, *verify, *tls;
		enum endpoint_kind kind;
		const char *port;
		bool verifies;
	} cases[] = {
		{ "tcp://x", NULL, NULL, NULL, ENDPOINT_TCP, "2375", false },
		{ "tcp://x", "", "", "", ENDPOINT_TCP, "2375", false },
		{ "tcp://x", NULL, "1", NULL, ENDPOINT_TLS, "2376", true },
		{ "tcp://x:9", "/c", "1", NULL, ENDPOINT_TLS, "9", true },
		{ "tcp://x", "/c", NULL, NULL, ENDPOINT_TLS, "2376", false },
		{ "tcp://x", NULL, NULL, "1", ENDPOINT_TLS, "2376", false },
		{ "unix:///x", "/c", "1", "1", ENDPOINT_UNIX, NULL, false },
		{ "ssh://x", "/c", "1", "1", ENDPOINT_SSH, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(endpoint) struct endpoint *endpoint = NULL;
		const struct endpoint_address *found;

		setenv("DOCKER_CERT_PATH", cases[i].path ? cases[i].path : "", 1);
		setenv("DOCKER_TLS_VERIFY", cases[i].verify ? cases[i].verify : "", 1);
		setenv("DOCKER_TLS", cases[i].tls ? cases[i].tls : "", 1);
		assert_int_equal(endpoint_open(cases[i].url, &endpoint, NULL), STATUS_OK);
		found = endpoint_address(endpoint);
		assert_int_equal(found->kind, cases[i].kind);
		assert_int_equal(found->verifies, cases[i].verifies);
		if (cases[i].port)
			assert_string_equal(found->port, cases[i].port);
		else
			assert_null(found->port);
		if (found->kind == ENDPOINT_TLS)
			assert_string_equal(found->certificates, cases[i].path ? cases[i].path : place);
		assert_string_equal(endpoint_name(endpoint), cases[i].url);
	}
}

static char *hashed_path(const char *kind, const char *name, const char *file)
{
	AUTO(string) char *command = memory_printf("printf %%s %s | sha256sum", name);
	char hash[65] = "";
	FILE *pipe = popen(command, "re");

	assert_int_equal(fscanf(pipe, "%64s", hash), 1);
	pclose(pipe);
	return memory_printf("contexts/%s/%s/%s", kind, hash, file);
}

static enum status context_open(const char *meta, struct endpoint **ret_endpoint, struct error *err)
{
	AUTO(string) char *path = hashed_path("meta", "ci", "meta.json");

	file_write(path, meta, 0600);
	return endpoint_open("context://ci", ret_endpoint, err);
}

/* The variables for certificates have no effect on a context. */
static void a_context_names_an_engine_and_its_certificates(void **state)
{
	AUTO(endpoint) struct endpoint *plain = NULL, *secure = NULL, *lax = NULL;
	AUTO(string) char *authority = hashed_path("tls", "ci", "docker/ca.pem");

	(void)state;
	setenv("DOCKER_TLS_VERIFY", "1", 1);
	assert_int_equal(context_open("{\"Name\":\"ci\",\"Endpoints\":{\"docker\":{\"Host\":\"tcp://build\"}}}", &plain,
				      NULL),
			 STATUS_OK);
	assert_int_equal(endpoint_address(plain)->kind, ENDPOINT_TCP);
	assert_string_equal(endpoint_address(plain)->port, "2375");
	assert_string_equal(endpoint_name(plain), "tcp://build (context ci)");
	file_write(authority, "x", 0600);
	assert_int_equal(context_open("{\"Endpoints\":{\"docker\":{\"Host\":\"tcp://build:1\",\"SkipTLSVerify\":false}}}",
				      &secure, NULL),
			 STATUS_OK);
	assert_int_equal(endpoint_address(secure)->kind, ENDPOINT_TLS);
	assert_true(endpoint_address(secure)->verifies);
	assert_non_null(strstr(endpoint_address(secure)->certificates, "/contexts/tls/"));
	assert_int_equal(context_open("{\"Endpoints\":{\"docker\":{\"Host\":\"tcp://build:1\",\"SkipTLSVerify\":true}}}",
				      &lax, NULL),
			 STATUS_OK);
	assert_false(endpoint_address(lax)->verifies);
}

static void a_context_that_cannot_be_used_is_told(void **state)
{
	static const struct {
		const char *meta, *reported;
	} cases[] = {
		{ "{", "it is not JSON" },
		{ "{}", "names no engine" },
		{ "{\"Endpoints\":{\"docker\":{\"Host\":\"npipe:////./pipe/x\"}}}", "names an engine at npipe:////./pipe/x" },
	};
	struct error none AUTO_ERROR = { 0 };
	struct endpoint *endpoint = NULL;

	(void)state;
	assert_int_equal(endpoint_open("context://none", &endpoint, &none), STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(none.text, "No such file or directory"));
	assert_non_null(strstr(none.text, "docker context ls"));
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(context_open(cases[i].meta, &endpoint, &err), STATUS_FAILED_PRECONDITION);
		if (!strstr(err.text, cases[i].reported))
			fail_msg("%s does not tell of: %s", err.text, cases[i].reported);
	}
}

/* ---- connections ---- */

static bool await(int fd, short events)
{
	struct pollfd polled = { fd, events, 0 };

	return poll(&polled, 1, WAIT_MS) == 1;
}

static void bytes_send(int fd, const char *data, size_t length)
{
	while (length > 0) {
		const ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);

		assert_true(sent > 0);
		data += sent;
		length -= (size_t)sent;
	}
}

/* Reads to the end. */
static void all_read(int fd, struct text *text)
{
	char piece[4096];
	ssize_t got;

	do {
		assert_true(await(fd, POLLIN));
		got = recv(fd, piece, sizeof(piece), 0);
		if (got > 0)
			text_append(text, piece, (size_t)got);
	} while (got > 0);
}

static int listen_at(uint16_t *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 8), 0);
	getsockname(fd, (struct sockaddr *)&address, &size);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

/* Reads to the end of the input, and only then sends it all back. */
static void *echo_late(void *arg)
{
	const int *listener = arg, fd = accept(*listener, NULL, NULL);
	struct text heard AUTO_TEXT = { 0 };

	all_read(fd, &heard);
	bytes_send(fd, heard.data, heard.length);
	close(fd);
	return NULL;
}

/* Fails with: out_move() without wire_end_sending(): the other side waits for more. */
static void bytes_are_carried_both_ways_and_so_is_one_side_s_end(void **state)
{
	uint16_t port;
	int listener = listen_at(&port), fd;
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(string) char *much = memory_calloc(1, MUCH);
	AUTO(string) char *url = memory_printf("tcp://localhost:%u", port);
	struct text heard AUTO_TEXT = { 0 };
	pthread_t thread;
	char problem[ENDPOINT_PROBLEM_SIZE];

	(void)state;
	assert_int_equal(endpoint_open(url, &endpoint, NULL), STATUS_OK);
	pthread_create(&thread, NULL, echo_late, &listener);
	for (size_t i = 0; i < MUCH; i++)
		much[i] = (char)(i % 251);
	fd = endpoint_connect(endpoint, 0);
	bytes_send(fd, much, MUCH);
	shutdown(fd, SHUT_WR);
	all_read(fd, &heard);
	assert_int_equal(heard.length, MUCH);
	assert_memory_equal(heard.data, much, MUCH);
	endpoint_problem(endpoint, problem);
	assert_string_equal(problem, "");
	close(fd);
	pthread_join(thread, NULL);
	close(listener);
}

/* Fails with: carry_wait() that asks for no POLLHUP: the engine's side stays open for good. */
static void a_side_that_is_closed_closes_the_other(void **state)
{
	uint16_t port;
	const int listener = listen_at(&port);
	AUTO(string) char *url = memory_printf("tcp://127.0.0.1:%u", port);
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	char byte;
	int fd, other;

	(void)state;
	assert_int_equal(endpoint_open(url, &endpoint, NULL), STATUS_OK);
	fd = endpoint_connect(endpoint, 0);
	other = accept(listener, NULL, NULL);
	close(fd);
	assert_true(await(other, POLLIN));
	assert_int_equal(recv(other, &byte, 1, 0), 0);
	close(other);
	fd = endpoint_connect(endpoint, 0);
	other = accept(listener, NULL, NULL);
	close(other);
	assert_true(await(fd, POLLIN));
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	close(listener);
}

/* ---- both ends of a carried connection ---- */

struct carried {
	struct wire client, engine;      /* the carrier's connections */
	int client_fd, engine_fd;        /* the other ends of these */
	_Atomic pid_t thread;            /* 0: not started */
	char why[ENDPOINT_PROBLEM_SIZE];
};

static void carried_open(struct carried *carried)
{
	int client[2], engine[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, engine), 0);
	*carried = (struct carried){ .client = { .fd = client[0] },
				     .engine = { .fd = engine[0] },
				     .client_fd = client[1],
				     .engine_fd = engine[1] };
}

static void *carry_main(void *arg)
{
	struct carried *carried = arg;

	carried->thread = gettid();
	wire_carry(&carried->client, &carried->engine, carried->why, sizeof(carried->why));
	wire_close(&carried->engine);
	wire_close(&carried->client);
	return NULL;
}

static bool thread_sleeps(pid_t thread)
{
	AUTO(string) char *path = memory_printf("/proc/self/task/%d/stat", thread);
	FILE *file = fopen(path, "re");
	char state = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state == 'S';
}

/* Fails with: out_move() that ends all when the engine takes no more: the answer was lost. */
static void an_engine_s_early_answer_to_an_upload_arrives(void **state)
{
	static const char answer[] = "HTTP/1.1 413 Too Large\r\n\r\n";
	struct carried carried;
	struct text heard AUTO_TEXT = { 0 };

	(void)state;
	carried_open(&carried);
	bytes_send(carried.client_fd, "upload", 6);
	bytes_send(carried.engine_fd, answer, strlen(answer));
	close(carried.engine_fd);
	carry_main(&carried);
	all_read(carried.client_fd, &heard);
	assert_int_equal(heard.length, strlen(answer));
	assert_memory_equal(heard.data, answer, heard.length);
	assert_string_equal(carried.why, "");
	close(carried.client_fd);
}

/* Fails with: carry_wait() that asks the engine's socket for nothing, rather than not at all: the thread never slept. */
static void an_engine_that_has_ended_costs_nothing_while_the_client_is_slow(void **state)
{
	enum { SMALL = 4096, SENT = 64 * 1024 };
	const int size = SMALL;
	AUTO(string) char *much = memory_calloc(1, SENT);
	struct carried carried;
	struct text heard AUTO_TEXT = { 0 };
	int64_t until_us = clock_mono_us(&system_clock) + WAIT_MS * INT64_C(1000);
	pthread_t thread;

	(void)state;
	carried_open(&carried);
	setsockopt(carried.client.fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	bytes_send(carried.engine_fd, much, SENT);
	close(carried.engine_fd);
	pthread_create(&thread, NULL, carry_main, &carried);
	while (!carried.thread || !thread_sleeps(carried.thread)) {
		assert_true(clock_mono_us(&system_clock) < until_us);
		sched_yield();
	}
	all_read(carried.client_fd, &heard);
	assert_int_equal(heard.length, SENT);
	pthread_join(thread, NULL);
	close(carried.client_fd);
}

static void expect_problem(const char *url, const char *reported)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	char problem[ENDPOINT_PROBLEM_SIZE], byte;
	int fd;

	assert_int_equal(endpoint_open(url, &endpoint, NULL), STATUS_OK);
	fd = endpoint_connect(endpoint, 0);
	assert_true(await(fd, POLLIN));
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	endpoint_problem(endpoint, problem);
	if (!strstr(problem, reported))
		fail_msg("%s does not tell of: %s", problem, reported);
	close(fd);
}

static void why_there_is_no_connection_is_told(void **state)
{
	uint16_t port;
	const int listener = listen_at(&port);
	AUTO(string) char *url = memory_printf("tcp://127.0.0.1:%u", port);

	(void)state;
	close(listener);
	expect_problem(url, "Connection refused: no engine listens there");
	expect_problem("tcp://engine.invalid:1", "no address is known for the host engine.invalid");
}

/* ---- ssh ---- */

/* Makes a program to use in place of ssh; it records its arguments. */
static void ssh_replace(const char *then)
{
	AUTO(string)
	char *script = memory_printf("#!/bin/sh\necho \"$@\" >%s/words\n%s\n", place, then);
	AUTO(string) char *path = memory_printf("%s:/usr/sbin:/usr/bin:/sbin:/bin", place);

	file_write("ssh", script, 0700);
	setenv("PATH", path, 1);
}

static void expect_words(const char *url, const char *words)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(string) char *path = memory_printf("%s/words", place);
	struct text heard AUTO_TEXT = { 0 };
	char line[300] = "";
	FILE *file;
	int fd;

	assert_int_equal(endpoint_open(url, &endpoint, NULL), STATUS_OK);
	fd = endpoint_connect(endpoint, 0);
	bytes_send(fd, "hello", 5);
	shutdown(fd, SHUT_WR);
	all_read(fd, &heard);
	assert_int_equal(heard.length, 5);
	assert_memory_equal(heard.data, "hello", 5);
	close(fd);
	file = fopen(path, "re");
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, words);
}

static void ssh_is_given_the_words_that_docker_gives_it(void **state)
{
	(void)state;
	ssh_replace("exec cat");
	expect_words("ssh://build", "-T -o ConnectTimeout=30 -- build docker system dial-stdio");
	expect_words("ssh://me@build:2222",
		     "-T -o ConnectTimeout=30 -l me -p 2222 -- build docker system dial-stdio");
	expect_words("ssh://build/run/user/7/docker.sock",
		     "-T -o ConnectTimeout=30 -- build docker --host unix:///run/user/7/docker.sock system dial-stdio");
}

static void ssh_s_own_words_are_told(void **state)
{
	(void)state;
	ssh_replace("echo 'me@build: Permission denied (publickey).' >&2; exit 255");
	expect_problem("ssh://me@build", "ssh ended: me@build: Permission denied (publickey).; `ssh me@build docker version`");
	ssh_replace("echo 'sh: docker: not found' >&2; exit 127");
	expect_problem("ssh://build", "on build ended with status 127: sh: docker: not found; Docker's client is wanted there");
}

static void ssh_that_is_not_there_is_told(void **state)
{
	AUTO(string) char *path = memory_printf("%s/ssh", place);

	(void)state;
	unlink(path);
	setenv("PATH", place, 1);
	expect_problem("ssh://build", "the program ssh cannot be run: No such file or directory");
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
}

/* Fails with: run_await() without its kill(): the program reads on. */
static void ssh_ends_with_its_caller(void **state)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(string) char *path = memory_printf("%s/words", place);
	AUTO(string) char *fifo = memory_printf("%s/fifo", place);
	AUTO(string) char *then = memory_printf("exec sleep 1000 3>%s", fifo);
	char byte;
	FILE *end;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	ssh_replace(then);
	assert_int_equal(endpoint_open("ssh://build", &endpoint, NULL), STATUS_OK);
	fd = endpoint_connect(endpoint, 0);
	end = fopen(fifo, "re"); /* opens when the program runs */
	close(fd);
	assert_true(await(fileno(end), POLLIN)); /* ends when the program has ended */
	assert_int_equal(fread(&byte, 1, 1, end), 0);
	fclose(end);
	unlink(path);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(forms_of_docker_are_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(the_usual_engine_is_that_of_docker_s_client, setup, teardown),
		cmocka_unit_test_setup_teardown(tls_is_what_docker_s_variables_ask_for, setup, teardown),
		cmocka_unit_test_setup_teardown(a_context_names_an_engine_and_its_certificates, setup, teardown),
		cmocka_unit_test_setup_teardown(a_context_that_cannot_be_used_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_are_carried_both_ways_and_so_is_one_side_s_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_side_that_is_closed_closes_the_other, setup, teardown),
		cmocka_unit_test(an_engine_s_early_answer_to_an_upload_arrives),
		cmocka_unit_test(an_engine_that_has_ended_costs_nothing_while_the_client_is_slow),
		cmocka_unit_test_setup_teardown(why_there_is_no_connection_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(ssh_is_given_the_words_that_docker_gives_it, setup, teardown),
		cmocka_unit_test_setup_teardown(ssh_s_own_words_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(ssh_ends_with_its_caller, setup, teardown),
		/* This reads why a program cannot be run. */
		cmocka_unit_test_setup_teardown(ssh_that_is_not_there_is_told, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("docker endpoint", tests, COUNT_OF(tests) - is_emulated(), NULL, NULL);
}
