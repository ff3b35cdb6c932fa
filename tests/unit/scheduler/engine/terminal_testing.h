/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/engine/terminal_testing.h: a simulated engine at a local socket, and short functions for tests
 * of terminals in it. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_hijack.h"
#include "scheduler/engine/docker_terminal.h"
#include "tests/unit/testing.h"

enum { CONNECTIONS_MAX = 512, RULES_MAX = 8, PATIENCE_MS = 5000, SHORT_MS = 100 };

/* The answer to requests with this text in their first line. */
struct rule {
	const char *request; /* NULL ends the list of rules */
	const char *answer;  /* the bytes to send; NULL: none */
	size_t length;       /* of the answer; 0: it is a string */
	unsigned times;      /* how often the rule may answer; 0: always */
	unsigned byte_ms;    /* milliseconds between two bytes */
	size_t flood;        /* this many bytes more */
	enum { CLOSE, HOLD, ECHO } then;
};

struct lab {
	char path[64];
	struct endpoint *endpoint;
	int listener;
	pthread_t thread, connections[CONNECTIONS_MAX];
	size_t connection_count;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct rule rules[RULES_MAX];
	unsigned asked[RULES_MAX];
	struct text requests, typed; /* typed: input that was echoed */
	bool stop;
};

struct visit {
	struct lab *lab;
	int fd;
};

#define OK(body)    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" body
#define CREATED     "HTTP/1.1 201 Created\r\nContent-Length: 12\r\n\r\n{\"Id\":\"abc\"}"
#define UPGRADED    "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
#define RUNNING     OK("{\"Running\":true,\"ExitCode\":null,\"Pid\":7}")
#define NOT_STARTED OK("{\"Running\":false,\"ExitCode\":126,\"Pid\":0}")
#define UNDECIDED   OK("{\"Running\":false,\"ExitCode\":null,\"Pid\":0}")

/* ---- the engine ---- */

static const struct rule *rule_find(struct lab *lab, const char *line)
{
	static const struct rule usual[] = {
		{ .request = "/containers/c1/exec", .answer = CREATED },
		{ .request = "/exec/abc/start HTTP/1.1", .answer = UPGRADED, .then = ECHO },
		/* the program was started without a connection */
		{ .request = "/exec/abc/start HTTP/1.0", .answer = OK("") },
		{ .request = "/exec/abc/resize", .answer = OK("") },
		{ .request = "/exec/abc/json", .answer = RUNNING },
		{ .request = "", .answer = "HTTP/1.1 404 Not Found\r\n\r\npage not found\n" },
	};

	for (size_t i = 0; lab->rules[i].request; i++)
		if (strstr(line, lab->rules[i].request) &&
		    (lab->rules[i].times == 0 || lab->asked[i] < lab->rules[i].times)) {
			lab->asked[i]++;
			return &lab->rules[i];
		}
	for (size_t i = 0;; i++)
		if (strstr(line, usual[i].request))
			return &usual[i];
}

/* Waits for the pause, or the end of the test. */
static void pause_ms(struct lab *lab, unsigned milliseconds)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += milliseconds * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lab->lock);
	while (!lab->stop && rc == 0)
		rc = pthread_cond_timedwait(&lab->changed, &lab->lock, &until);
	pthread_mutex_unlock(&lab->lock);
}

static bool answer_send(struct lab *lab, int fd, const struct rule *rule)
{
	static const char zeros[4096];
	size_t length = rule->length || !rule->answer ? rule->length : strlen(rule->answer);
	size_t step = rule->byte_ms ? 1 : length;

	for (size_t sent = 0; sent < length; sent += step) {
		if (send(fd, rule->answer + sent, step, MSG_NOSIGNAL) <= 0)
			return false;
		if (rule->byte_ms)
			pause_ms(lab, rule->byte_ms);
	}
	for (size_t sent = 0; sent < rule->flood; sent += sizeof(zeros))
		if (send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL) <= 0)
			return false;
	return true;
}

/* Waits until there is something to read; false: the test has ended. */
static bool await_bytes(struct lab *lab, int fd, short events)
{
	for (;;) {
		struct pollfd wanted = { fd, events, 0 };
		bool stop;

		pthread_mutex_lock(&lab->lock);
		stop = lab->stop;
		pthread_mutex_unlock(&lab->lock);
		if (stop)
			return false;
		if (poll(&wanted, 1, 10) != 0)
			return true;
	}
}

static void echo(struct lab *lab, int fd)
{
	char typed[4096];
	ssize_t got;

	while (await_bytes(lab, fd, POLLIN) && (got = recv(fd, typed, sizeof(typed), 0)) > 0) {
		pthread_mutex_lock(&lab->lock);
		text_append(&lab->typed, typed, (size_t)got);
		pthread_cond_broadcast(&lab->changed);
		pthread_mutex_unlock(&lab->lock);
		for (ssize_t sent = 0, more; sent < got; sent += more)
			if ((more = send(fd, typed + sent, (size_t)(got - sent), MSG_NOSIGNAL)) <= 0)
				return;
	}
}

static void *visit_main(void *arg)
{
	struct visit visit = *(struct visit *)arg;
	char request[65536];
	ssize_t got = recv(visit.fd, request, sizeof(request) - 1, 0);

	free(arg);
	if (got > 0) {
		struct rule rule;

		request[got] = '\0';
		pthread_mutex_lock(&visit.lab->lock);
		text_printf(&visit.lab->requests, "%s\n", request);
		request[strcspn(request, "\r")] = '\0';
		rule = *rule_find(visit.lab, request);
		pthread_cond_broadcast(&visit.lab->changed);
		pthread_mutex_unlock(&visit.lab->lock);
		if (answer_send(visit.lab, visit.fd, &rule) && rule.then == ECHO)
			echo(visit.lab, visit.fd);
		else if (rule.then == HOLD)
			await_bytes(visit.lab, visit.fd, POLLRDHUP);
	}
	close(visit.fd);
	return NULL;
}

static void *lab_main(void *arg)
{
	struct lab *lab = arg;
	int fd;

	while ((fd = accept4(lab->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		struct visit *visit = malloc(sizeof(*visit));

		*visit = (struct visit){ lab, fd };
		if (lab->connection_count == CONNECTIONS_MAX)
			abort();
		pthread_create(&lab->connections[lab->connection_count++], NULL, visit_main, visit);
	}
	return NULL;
}

static int listener_open(const char *path, int backlog)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

static struct endpoint *endpoint_at(const char *path)
{
	AUTO(string) char *url = memory_printf("unix://%s", path);
	struct endpoint *endpoint = NULL;

	assert_int_equal(endpoint_open(url, &endpoint, NULL), STATUS_OK);
	return endpoint;
}

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	snprintf(lab->path, sizeof(lab->path), "/tmp/ty-test-terminal-%d.sock", (int)getpid());
	pthread_mutex_init(&lab->lock, NULL);
	pthread_cond_init(&lab->changed, NULL);
	lab->endpoint = endpoint_at(lab->path);
	lab->listener = listener_open(lab->path, 64);
	assert_int_equal(pthread_create(&lab->thread, NULL, lab_main, lab), 0);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	pthread_mutex_lock(&lab->lock);
	lab->stop = true;
	pthread_cond_broadcast(&lab->changed);
	pthread_mutex_unlock(&lab->lock);
	shutdown(lab->listener, SHUT_RDWR);
	pthread_join(lab->thread, NULL);
	for (size_t i = 0; i < lab->connection_count; i++)
		pthread_join(lab->connections[i], NULL);
	close(lab->listener);
	unlink(lab->path);
	endpoint_close(lab->endpoint);
	text_deinit(&lab->requests);
	text_deinit(&lab->typed);
	free(lab);
	return 0;
}

static void rule_set(struct lab *lab, size_t index, struct rule rule)
{
	pthread_mutex_lock(&lab->lock);
	lab->rules[index] = rule;
	lab->asked[index] = 0;
	pthread_mutex_unlock(&lab->lock);
}

static bool was_asked(struct lab *lab, const char *what)
{
	bool asked;

	pthread_mutex_lock(&lab->lock);
	asked = lab->requests.data && strstr(lab->requests.data, what);
	pthread_mutex_unlock(&lab->lock);
	return asked;
}

/* Waits for the request: the daemon may have given up the answer before the engine's thread has read it. */
static void expect_asked(struct lab *lab, const char *what)
{
	for (int64_t until_us = clock_mono_us(&system_clock) + 30 * INT64_C(1000000); !was_asked(lab, what);
	     poll(NULL, 0, 1))
		if (clock_mono_us(&system_clock) > until_us)
			fail_msg("the engine was not asked for %s", what);
}

/* Waits until the engine has received this input. */
static void expect_typed(struct lab *lab, const char *what, size_t length)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	pthread_mutex_lock(&lab->lock);
	while (lab->typed.length < length && rc == 0)
		rc = pthread_cond_timedwait(&lab->changed, &lab->lock, &until);
	assert_int_equal(lab->typed.length, length);
	assert_memory_equal(lab->typed.data, what, length);
	pthread_mutex_unlock(&lab->lock);
}

/* ---- short words for what tests do ---- */

static enum status open_within(struct lab *lab, unsigned patience_ms, struct terminal **ret_terminal,
			       struct error *err)
{
	AUTO(json) json_t *command = json_pack("[ss]", "/bin/sh", "-l");

	return docker_terminal_open(&(struct terminal_target){ lab->endpoint, "1.41", "c1", patience_ms },
				    command, TERMINAL_SCREEN, ret_terminal, err);
}

static struct terminal *open_good(struct lab *lab)
{
	struct terminal *terminal = NULL;
	struct error err AUTO_ERROR = { 0 };
	enum status rc = open_within(lab, PATIENCE_MS, &terminal, &err);

	if (rc)
		fail_msg("%s: %s", status_name(rc), err.text);
	return terminal;
}

/* Checks that the refusal's text contains @words. */
static void expect_refusal(struct lab *lab, unsigned patience_ms, enum status status, const char *words)
{
	struct terminal *terminal = NULL;
	struct error err AUTO_ERROR = { 0 };
	enum status rc = open_within(lab, patience_ms, &terminal, &err);

	if (!err.text || !strstr(err.text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, err.text ? err.text : "");
	assert_string_equal(status_name(rc), status_name(status));
	assert_int_equal(err.status, status);
	assert_null(terminal);
}

static void expect_output(struct terminal *terminal, const char *wanted)
{
	char output[256];
	size_t length = 0;

	while (length < strlen(wanted)) {
		ssize_t got = terminal->ops->read(terminal, output + length, sizeof(output) - length, 10000);

		assert_true(got > 0);
		length += (size_t)got;
	}
	assert_int_equal(length, strlen(wanted));
	assert_memory_equal(output, wanted, length);
}

static void expect_end(struct terminal *terminal)
{
	char byte;

	assert_int_equal(terminal->ops->read(terminal, &byte, 1, 10000), -1);
	assert_int_equal(terminal->ops->read(terminal, &byte, 1, 10000), -1);
}
