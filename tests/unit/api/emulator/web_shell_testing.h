/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/emulator/web_shell_testing.h: web shells with terminals that echo what is typed, and clients of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "api/emulator/web_shell.h"
#include "daemon/base/log.h"
#include "tests/unit/api/http/http_testing.h"
#include "tests/unit/store/store_testing.h"

enum { STEP_MS = 10 };

/* A terminal with a program that echoes what is typed, and ends at "exit". */
struct echo {
	struct shell_terminal terminal; /* first, so that a pointer to it is one to the echo */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct text typed;
	bool over;
};

/* How the terminals behave, and what was done with them. */
static struct script {
	bool without_bash, without_sh, unreachable;
	bool takes_nothing; /* a write waits until @let_go */
	atomic_bool let_go;
	atomic_uint opened, closed, writes;
	unsigned together; /* a close waits until this many closes have begun */
	atomic_uint closing, alone; /* closes that have begun; closes that have waited without success */
	atomic_uint columns, rows;
	struct replica_key replica; /* the replica of the last terminal */
	char program[32];
} script;

static struct bench *shell_bench;
static struct web_shell_context context;

static ssize_t echo_read(struct shell_terminal *terminal, char *buffer, size_t size, unsigned timeout_ms)
{
	struct echo *echo = (struct echo *)terminal;
	struct timespec until;
	size_t length;
	bool over;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)timeout_ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&echo->lock);
	while (!echo->typed.length && !echo->over)
		if (pthread_cond_timedwait(&echo->changed, &echo->lock, &until))
			break;
	length = echo->typed.length < size ? echo->typed.length : size;
	if (length) {
		memcpy(buffer, echo->typed.data, length);
		memmove(echo->typed.data, echo->typed.data + length, echo->typed.length - length);
		echo->typed.length -= length;
	}
	over = echo->over;
	pthread_mutex_unlock(&echo->lock);
	return length ? (ssize_t)length : over ? -1 : 0;
}

static void step(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000 }, NULL);
}

static bool echo_write(struct shell_terminal *terminal, const char *data, size_t length)
{
	struct echo *echo = (struct echo *)terminal;

	atomic_fetch_add(&script.writes, 1);
	while (script.takes_nothing && !script.let_go)
		step();
	pthread_mutex_lock(&echo->lock);
	text_append(&echo->typed, data, length);
	echo->over = length == 4 && memcmp(data, "exit", 4) == 0;
	pthread_cond_signal(&echo->changed);
	pthread_mutex_unlock(&echo->lock);
	return true;
}

static void echo_resize(struct shell_terminal *terminal, unsigned columns, unsigned rows)
{
	(void)terminal;
	script.columns = columns;
	script.rows = rows;
}

static void echo_close(struct shell_terminal *terminal)
{
	struct echo *echo = (struct echo *)terminal;

	atomic_fetch_add(&script.closing, 1);
	for (int i = 0; i < ANSWER_WAIT_MS / STEP_MS && script.closing < script.together; i++)
		step();
	atomic_fetch_add(&script.alone, script.closing < script.together);
	pthread_mutex_destroy(&echo->lock);
	pthread_cond_destroy(&echo->changed);
	text_deinit(&echo->typed);
	free(echo);
	atomic_fetch_add(&script.closed, 1);
}

static const struct shell_terminal_ops echo_ops = {
	.read = echo_read, .write = echo_write, .resize = echo_resize, .close = echo_close
};

static enum status echo_open(void *arg, const struct replica_key *replica, const json_t *command,
			     enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err)
{
	const char *program = json_string_value(json_array_get(command, 0));
	struct echo *echo;

	assert_ptr_equal(arg, &script);
	assert_int_equal(kind, SHELL_TERMINAL);
	if (script.unreachable)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the engine does not answer");
	if (strcmp(program, "/bin/bash") == 0 ? script.without_bash : script.without_sh)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "there is no %s", program);
	echo = calloc(1, sizeof(*echo));
	echo->terminal.ops = &echo_ops;
	pthread_mutex_init(&echo->lock, NULL);
	pthread_cond_init(&echo->changed, NULL);
	text_puts(&echo->typed, "welcome");
	script.replica = *replica;
	snprintf(script.program, sizeof(script.program), "%s", program);
	atomic_fetch_add(&script.opened, 1);
	*ret_terminal = &echo->terminal;
	return STATUS_OK;
}

static struct family families[] = { { .name = "shell", .routes = web_shell_routes, .context = &context },
				    { .name = NULL } };

static int shell_setup(void **state)
{
	const struct listener_options options = {
		.address = "127.0.0.1",
		.families = families,
		.clock = &system_clock,
		.idle_timeout_s = 20,
	};

	if (bench_open(state))
		return -1;
	shell_bench = *state;
	script = (struct script){ 0 };
	context = (struct web_shell_context){
		.store = shell_bench->store,
		.clock = &system_clock,
		.key = store_secret(shell_bench->store),
		.sessions = shell_sessions_new(),
		.open = echo_open,
		.arg = &script,
	};
	return listener_open(&options, &listener, NULL);
}

static int shell_teardown(void **state)
{
	listener_close(listener, 5000);
	listener = NULL;
	shell_sessions_free(context.sessions);
	assert_int_equal(script.opened, script.closed);
	return bench_close(state);
}

static void job_goes(int64_t id, enum job_state from, enum job_state to)
{
	struct job_change change = { .job = id, .from = from, .to = to };

	assert_int_equal(job_apply(shell_bench->store, &change, 1, &shell_bench->err), STATUS_OK);
	assert_true(change.applied);
}

static int64_t job_with(const char *job_id, bool web_access)
{
	struct job job = job_named(job_id);
	struct job *stored = NULL;
	int64_t id;

	job.web_access = web_access;
	assert_int_equal(job_insert(shell_bench->store, &job, NULL, 0, &stored, &shell_bench->err),
			 STATUS_OK);
	id = stored->id;
	job_free(stored);
	return id;
}

static int64_t job_running(const char *job_id)
{
	int64_t id = job_with(job_id, true);

	job_goes(id, JOB_QUEUED, JOB_PREPARING);
	job_goes(id, JOB_PREPARING, JOB_RUNNING);
	return id;
}

/* The path of a replica's shell; the caller frees. */
static char *shell_path(int64_t job, enum role role, unsigned index)
{
	AUTO(string) char *uri = web_shell_uri(context.key, "localhost", job, role, index);
	static const char start[] = "http://localhost/_trainyard/shell/";

	assert_memory_equal(uri, start, strlen(start));
	return strdup(uri + strlen("http://localhost"));
}

static char *shell_request(const char *method, const char *path, const char *rest, const char *body)
{
	struct text request AUTO_TEXT = { 0 };

	text_printf(&request, "%s %s%s HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n%s", method, path, rest,
		    strlen(body), body);
	return text_take(&request);
}

/* Returns the answer with its status line and headers. */
static char *ask(const char *method, const char *path, const char *rest, const char *body)
{
	AUTO(string) char *request = shell_request(method, path, rest, body);

	return exchange_raw(request);
}

static void assert_status(const char *answer, unsigned status)
{
	char start[32];

	snprintf(start, sizeof(start), "HTTP/1.1 %u ", status);
	if (!answer || strncmp(answer, start, strlen(start)) != 0)
		fail_msg("%s\nis no %u", answer, status);
}

static void asking_gives(const char *method, const char *path, const char *rest, const char *body,
			 unsigned status)
{
	AUTO(string) char *answer = ask(method, path, rest, body);

	assert_status(answer, status);
	if (status >= 400)
		assert_non_null(strstr(answer, "\"error\""));
}

/* Reads until @part was seen. */
static void receive_until(int client, const char *part)
{
	struct text seen AUTO_TEXT = { 0 };

	while (!seen.data || !strstr(seen.data, part))
		if (!client_receive(client, &seen))
			fail_msg("%s\nhas no %s", seen.data, part);
}

/* Opens a session; returns its client. */
static int output_open(const char *path, const char *session)
{
	char rest[96];
	int client = client_open();

	snprintf(rest, sizeof(rest), "output?session=%s", session);
	AUTO(string) char *request = shell_request("GET", path, rest, "");

	client_send(client, request, strlen(request));
	receive_until(client, "welcome");
	return client;
}

static void await_count(const atomic_uint *count, unsigned wanted)
{
	for (int i = 0; i < ANSWER_WAIT_MS / STEP_MS && *count != wanted; i++)
		step();
	assert_int_equal(*count, wanted);
}

/* Reads until this many bytes have arrived. */
static void assert_reads(struct shell_reader *reader, const char *expected)
{
	char printed[64] = "";
	size_t length = 0;

	while (length < strlen(expected)) {
		const ssize_t got = shell_reader_read(reader, printed + length, sizeof(printed) - length, 1000);

		assert_true(got >= 0);
		length += (size_t)got;
	}
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(printed, expected, length);
}
