/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals in replicas. */
#include "tests/integration/engine_contract.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "tests/integration/engine_api.h"
#include "tests/integration/engine_bench.h"

static struct terminal *terminal_open(struct bench *bench, const char *program)
{
	json_t *command = json_pack("[s]", program);
	struct terminal *terminal = NULL;
	struct error err AUTO_ERROR = { 0 };
	enum status rc = bench->engine->ops->open_terminal(bench->engine, &master, command, TERMINAL_SCREEN,
							   &terminal, &err);

	json_decref(command);
	if (rc)
		fail_msg("%s: %s", status_name(rc), err.text);
	return terminal;
}

static void type(struct terminal *terminal, const char *text)
{
	assert_true(terminal->ops->write(terminal, text, strlen(text)));
}

/* Reads until @wanted was printed; NULL: until the end. */
static void expect_print(struct terminal *terminal, const char *wanted)
{
	int64_t until_us = clock_mono_us(&system_clock) + WAIT_S * INT64_C(1000000);
	struct text printed AUTO_TEXT = { 0 };
	char piece[1024];
	ssize_t got = 0;

	while (got >= 0 && clock_mono_us(&system_clock) < until_us) {
		got = terminal->ops->read(terminal, piece, sizeof(piece), 100);
		text_append(&printed, piece, got > 0 ? (size_t)got : 0);
		if (wanted && strstr(printed.data, wanted))
			return;
	}
	if (wanted || got >= 0)
		fail_msg("\"%s\" came instead of \"%s\"", printed.data, wanted ? wanted : "the end");
}

static void expect_no_terminal(struct bench *bench, const struct replica_key *key, const char *program,
			       enum status status, const char *words)
{
	json_t *command = json_pack("[s]", program);
	struct terminal *terminal = NULL;
	struct error err AUTO_ERROR = { 0 };
	enum status rc = bench->engine->ops->open_terminal(bench->engine, key, command, TERMINAL_SCREEN,
							   &terminal, &err);

	json_decref(command);
	assert_string_equal(status_name(rc), status_name(status));
	assert_non_null(strcasestr(err.text, words));
	assert_null(terminal);
}

/* Counts the processes of the master's container. Podman lists them itself only if the columns are given; else it runs
 * the container's ps. */
static size_t processes_count(struct bench *bench)
{
	char path[128], *answer;
	json_t *top;
	size_t count;

	snprintf(path, sizeof(path), "/containers/ty-%s-1-master-0-a1/top%s", bench->instance,
		 bench->is_podman ? "?ps_args=pid" : "");
	assert_int_equal(api("GET", path, NULL, NULL, 0, &answer), 200);
	top = json_loads(strstr(answer, "\r\n\r\n"), 0, NULL);
	count = json_array_size(json_object_get(top, "Processes"));
	json_decref(top);
	free(answer);
	return count;
}

static void expect_processes(struct bench *bench, size_t wanted)
{
	int64_t until_us = clock_mono_us(&system_clock) + WAIT_S * INT64_C(1000000);
	size_t count;

	while ((count = processes_count(bench)) != wanted && clock_mono_us(&system_clock) < until_us)
		poll(NULL, 0, 50);
	assert_int_equal(count, wanted);
}

static void master_run(struct bench *bench, const char *script)
{
	struct network_status network = network_make(bench, 1);

	replica_make(bench, &master, &network, script);
	replica_run(bench, &master);
}

static void a_terminal_is_a_shell_beside_the_program(void **state)
{
	struct bench *bench = *state;
	struct terminal *terminal;

	master_run(bench, "sleep 1000");
	terminal = terminal_open(bench, "/bin/sh");
	type(terminal, "echo $((6 * 7))-$TERM; busybox stty size\n");
	expect_print(terminal, "42-xterm\r\n24 80\r\n");
	terminal->ops->resize(terminal, 132, 50);
	type(terminal, "busybox stty size\n");
	expect_print(terminal, "50 132\r\n");
	type(terminal, "exit 3\n");
	expect_print(terminal, NULL);
	assert_int_equal(terminal->ops->exit_code(terminal), 3);
	terminal->ops->close(terminal);
	replica_drop(bench, &master);
}

/* Reads a frame, which may arrive in pieces. Returns the stream, or -1 at the end; @ret_text: the contents. */
static int frame_read(struct terminal *terminal, struct text *ret_text)
{
	int64_t until_us = clock_mono_us(&system_clock) + WAIT_S * INT64_C(1000000);
	unsigned char header[8] = { 0 };
	char byte;
	size_t length = 0, have = 0;

	text_clear(ret_text);
	while (have < 8 + length && clock_mono_us(&system_clock) < until_us) {
		const ssize_t got = terminal->ops->read(terminal, &byte, 1, 100);

		if (got < 0)
			return -1;
		if (got && have < 8)
			header[have] = (unsigned char)byte;
		else if (got)
			text_append(ret_text, &byte, 1);
		have += (size_t)got;
		if (got && have == 8)
			length = (size_t)header[6] << 8 | header[7];
	}
	return header[0];
}

/* Fails with: op_end_input() that does nothing: cat never ended. */
static void pipes_tell_streams_apart_and_end(void **state)
{
	struct bench *bench = *state;
	json_t *command = json_pack("[sss]", "/bin/sh", "-c", "echo out; echo err >&2; busybox cat; exit 7");
	struct terminal *terminal = NULL;
	struct text text AUTO_TEXT = { 0 };

	master_run(bench, "sleep 1000");
	assert_int_equal(bench->engine->ops->open_terminal(bench->engine, &master, command, TERMINAL_PIPES,
							   &terminal, NULL),
			 STATUS_OK);
	for (int i = 0; i < 2; i++) {
		const int stream = frame_read(terminal, &text);

		assert_true(stream == 1 || stream == 2);
		assert_string_equal(text.data, stream == 1 ? "out\n" : "err\n");
	}
	type(terminal, "typed");
	assert_int_equal(frame_read(terminal, &text), 1);
	assert_string_equal(text.data, "typed");
	terminal->ops->end_input(terminal);
	assert_int_equal(frame_read(terminal, &text), -1);
	assert_int_equal(terminal->ops->exit_code(terminal), 7);
	terminal->ops->close(terminal);
	json_decref(command);
	replica_drop(bench, &master);
}

static void a_closed_terminal_leaves_no_process(void **state)
{
	/* Typed text, and what is printed for it. */
	static const char *const dialogs[][2] = {
		{ "echo at-$((1 + 1))\n", "at-2" },
		{ "echo at-$((1 + 1))\nhalf a line", "half a line" },
		{ "echo at-$((1 + 1)); sleep 1000\n", "at-2" },
		{ "sleep 1000 & sleep 1000 & echo at-$((1 + 1))\n", "at-2" },
		{ "(trap '' HUP INT TERM; echo at-$((1 + 1)); while :; do sleep 1000; done)\n", "at-2" },
		{ "trap '' HUP; (trap '' HUP; sleep 1000) & echo at-$((1 + 1)); sleep 1000\n", "at-2" },
	};
	struct bench *bench = *state;
	size_t before;

	master_run(bench, "echo up; while :; do sleep 1000; done");
	follow(bench, &master);
	wait_for_lines(bench, 1);
	expect_processes(bench, 3); /* the reaper, the program, and its sleep */
	before = processes_count(bench);
	for (size_t i = 0; i < sizeof(dialogs) / sizeof(dialogs[0]); i++) {
		struct terminal *terminal = terminal_open(bench, "/bin/sh");

		type(terminal, dialogs[i][0]);
		expect_print(terminal, dialogs[i][1]);
		assert_true(processes_count(bench) > before);
		terminal->ops->close(terminal);
		expect_processes(bench, before);
	}
	replica_drop(bench, &master);
}

static void a_terminal_that_cannot_be_opened_says_why(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);

	expect_no_terminal(bench, &master, "/bin/sh", STATUS_NOT_FOUND, "no such container");
	replica_make(bench, &master, &network, "sleep 1000");
	expect_no_terminal(bench, &master, "/bin/sh", STATUS_FAILED_PRECONDITION, "running");
	replica_run(bench, &master);
	expect_no_terminal(bench, &master, "/bin/no-such-shell", STATUS_FAILED_PRECONDITION, "no-such-shell");
	expect_no_terminal(bench, &master, "/tmp", STATUS_FAILED_PRECONDITION, "permission denied");
	relay_cut(&bench->relay, true);
	expect_event(bench, ENGINE_DOWN, NULL, 0);
	expect_no_terminal(bench, &master, "/bin/sh", STATUS_UNAVAILABLE, "cannot reach the engine");
	relay_cut(&bench->relay, false);
	expect_event(bench, ENGINE_UP, NULL, 0);
	bench->engine->ops->stop_replica(bench->engine, &master, 0);
	expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1);
	expect_no_terminal(bench, &master, "/bin/sh", STATUS_FAILED_PRECONDITION, "running");
	replica_drop(bench, &master);
}

static void a_terminal_ends_with_its_container(void **state)
{
	struct bench *bench = *state;
	struct terminal *terminal;

	master_run(bench, "sleep 1000");
	terminal = terminal_open(bench, "/bin/sh");
	bench->engine->ops->stop_replica(bench->engine, &master, 0);
	expect_print(terminal, NULL);
	terminal->ops->close(terminal);
	expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1);
	/* A terminal that is not read, of a container that is gone when it is closed. */
	replica_drop(bench, &master);
	master_run(bench, "sleep 1000");
	terminal = terminal_open(bench, "/bin/sh");
	replica_drop(bench, &master);
	terminal->ops->close(terminal);
}

const struct CMUnitTest contract_terminals[] = {
	ENGINE_TEST(a_terminal_is_a_shell_beside_the_program),
	ENGINE_TEST(pipes_tell_streams_apart_and_end),
	ENGINE_TEST(a_closed_terminal_leaves_no_process),
	ENGINE_TEST(a_terminal_that_cannot_be_opened_says_why),
	ENGINE_TEST(a_terminal_ends_with_its_container),
	{ .name = NULL },
};
