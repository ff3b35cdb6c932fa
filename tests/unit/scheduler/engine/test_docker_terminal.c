/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_terminal.c and docker_hijack.c with a simulated engine.
 * tests/integration/engine_contract.c tests real ones. */
#include "tests/unit/scheduler/engine/terminal_testing.h"

/* ---- a stream that opens ---- */

static void a_terminal_carries_bytes_both_ways(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal = open_good(lab);
	char byte;

	assert_true(was_asked(lab, "POST /v1.41/containers/c1/exec HTTP/1.0\r\n"));
	assert_true(was_asked(
		lab, "{\"AttachStdin\":true,\"AttachStdout\":true,\"AttachStderr\":true,\"Tty\":true,"
		     "\"DetachKeys\":\"ctrl-^,"));
	assert_true(
		was_asked(lab, "\"Cmd\":[\"/bin/sh\",\"-l\"],\"Env\":[\"TERM=xterm\",\"TRAINYARD_TERMINAL="));
	assert_true(was_asked(lab, "POST /v1.41/exec/abc/start HTTP/1.1\r\n"));
	assert_true(was_asked(lab, "Connection: Upgrade\r\nUpgrade: tcp\r\n"));
	assert_true(was_asked(lab, "{\"Detach\":false,\"Tty\":true}"));
	assert_true(was_asked(lab, "/exec/abc/resize?h=24&w=80"));
	assert_int_equal(terminal->ops->read(terminal, &byte, 1, 0), 0);
	assert_int_equal(terminal->ops->read(terminal, &byte, 1, 10), 0);
	assert_int_equal(terminal->ops->read(terminal, &byte, 0, 0), 0);
	assert_true(terminal->ops->write(terminal, "echo hi\n", 8));
	expect_output(terminal, "echo hi\n");
	terminal->ops->resize(terminal, 132, 50);
	assert_true(was_asked(lab, "POST /v1.41/exec/abc/resize?h=50&w=132 "));
	terminal->ops->close(terminal);
}

static void what_comes_with_the_head_is_read_first(void **state)
{
	static const char *const heads[] = {
		UPGRADED "/ # ",
		"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n/ # ",
		"HTTP/1.0 200 OK\r\n\r\n/ # ",
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		struct terminal *terminal;
		char byte;

		rule_set(lab, 0,
			 (struct rule){ .request = "/start HTTP/1.1", .answer = heads[i], .then = ECHO });
		terminal = open_good(lab);
		assert_int_equal(terminal->ops->read(terminal, &byte, 1, 10000), 1);
		assert_int_equal(byte, '/');
		expect_output(terminal, " # ");
		assert_true(terminal->ops->write(terminal, "x", 1));
		expect_output(terminal, "x");
		terminal->ops->close(terminal);
	}
}

static void a_head_that_comes_byte_by_byte_is_read(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal;

	rule_set(lab, 0,
		 (struct rule){
			 .request = "/start HTTP/1.1", .answer = UPGRADED "ok", .byte_ms = 1, .then = ECHO });
	terminal = open_good(lab);
	expect_output(terminal, "ok");
	terminal->ops->close(terminal);
}

static void a_program_that_ended_at_once_has_its_output_read(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal;

	rule_set(lab, 0, (struct rule){ .request = "/start", .answer = UPGRADED "bye\r\n" });
	rule_set(lab, 1,
		 (struct rule){ .request = "/json",
				.answer = OK("{\"Running\":false,\"ExitCode\":127,\"Pid\":7}") });
	terminal = open_good(lab);
	expect_output(terminal, "bye\r\n");
	expect_end(terminal);
	assert_false(terminal->ops->write(terminal, "x", 1));
	terminal->ops->close(terminal);
	assert_false(was_asked(lab, "/proc/")); /* nothing is left to end */
}

static void a_slow_start_is_waited_for(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal;

	rule_set(lab, 0, (struct rule){ .request = "/json", .answer = UNDECIDED, .times = 3 });
	terminal = open_good(lab);
	assert_int_equal(lab->asked[0], 3);
	terminal->ops->close(terminal);
}

static void an_engine_that_tells_no_state_is_taken_by_its_output(void **state)
{
	static const char *const answers[] = { UNDECIDED, "HTTP/1.1 404 Not Found\r\n\r\n", OK("null"),
					       OK("") };
	struct lab *lab = *state;

	rule_set(lab, 0,
		 (struct rule){ .request = "/start HTTP/1.1", .answer = UPGRADED "# ", .then = HOLD });
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		struct terminal *terminal;

		rule_set(lab, 1, (struct rule){ .request = "/json", .answer = answers[i] });
		terminal = open_good(lab);
		expect_output(terminal, "# ");
		terminal->ops->close(terminal);
	}
}

/* ---- and one that does not ---- */

static void a_program_that_cannot_be_started_is_refused_in_the_runtimes_words(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ .request = "/json", .answer = NOT_STARTED });
	rule_set(lab, 1,
		 (struct rule){ .request = "/start",
				.answer = UPGRADED "OCI runtime exec failed: no such file\r\n" });
	expect_refusal(lab, PATIENCE_MS, STATUS_FAILED_PRECONDITION, "OCI runtime exec failed: no such file");
	/* A refusal without a text, and one with an endless text. */
	rule_set(lab, 1, (struct rule){ .request = "/start", .answer = UPGRADED });
	expect_refusal(lab, PATIENCE_MS, STATUS_FAILED_PRECONDITION, "");
	rule_set(lab, 1, (struct rule){ .request = "/start", .answer = UPGRADED, .flood = 1 << 20 });
	expect_refusal(lab, PATIENCE_MS, STATUS_FAILED_PRECONDITION, "");
}

static void refusals_are_told_apart(void **state)
{
	static const struct {
		const char *call, *answer;
		enum status status;
		const char *words;
	} refusals[] = {
		{ "/exec ", "HTTP/1.1 404 N\r\n\r\n{\"message\":\"No such container: c1\"}", STATUS_NOT_FOUND,
		  "No such container: c1" },
		{ "/exec ", "HTTP/1.1 409 C\r\n\r\n{\"message\":\"Container c1 is not running\"}",
		  STATUS_FAILED_PRECONDITION, "Container c1 is not running" },
		{ "/exec ", "HTTP/1.1 409 C\r\n\r\n{\"message\":\"Container c1 is paused\"}",
		  STATUS_FAILED_PRECONDITION, "is paused" },
		{ "/exec ", "HTTP/1.1 500 E\r\n\r\n{\"message\":\"container state improper\"}",
		  STATUS_FAILED_PRECONDITION, "state improper" },
		{ "/exec ", "HTTP/1.1 400 B\r\n\r\n{\"message\":\"No exec command specified\"}",
		  STATUS_INVALID_ARGUMENT, "No exec command specified" },
		{ "/exec ", "HTTP/1.1 500 E\r\n\r\nplain words\n", STATUS_INTERNAL, "plain words" },
		{ "/exec ", "HTTP/1.1 503 U\r\n\r\n", STATUS_UNAVAILABLE, "no reason" },
		{ "/start", "HTTP/1.1 404 N\r\n\r\n{\"message\":\"No such container: c1\"}", STATUS_NOT_FOUND,
		  "No such container: c1" },
		{ "/start", "HTTP/1.1 409 C\r\n\r\n{\"message\":\"Container c1 is not running\"}",
		  STATUS_FAILED_PRECONDITION, "not running" },
		{ "/start",
		  "HTTP/1.1 400 B\r\nContent-Length: 26\r\n\r\n{\"message\":\"no such file\"} and more",
		  STATUS_FAILED_PRECONDITION, "no such file" },
		{ "/start", "HTTP/1.1 500 E\r\n\r\n{\"message\":\"exec failed\"}", STATUS_FAILED_PRECONDITION,
		  "exec failed" },
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		rule_set(lab, 0, (struct rule){ .request = refusals[i].call, .answer = refusals[i].answer });
		expect_refusal(lab, PATIENCE_MS, refusals[i].status, refusals[i].words);
	}
}

static void answers_that_cannot_be_understood_are_refused(void **state)
{
	static const char *const answers[] = {
		"garbage\r\n\r\n",
		"HTTP/2 201 Created\r\n\r\n",
		"HTTP/1.1 x\r\n\r\n",
		"\r\n\r\n",
		"HTTP/1.1 201 Created\r\n\r\n",
		"HTTP/1.1 201 Created\r\n\r\n[]",
		"HTTP/1.1 201 Created\r\n\r\n{}",
		"HTTP/1.1 201 Created\r\n\r\n{\"Id\":7}",
		"HTTP/1.1 201 Created\r\n\r\n{\"Id\":\"\"}",
		"HTTP/1.1 201 Created\r\n\r\n{\"Id\":\"../../containers/other\"}",
		"HTTP/1.1 201 Created\r\n\r\n{\"Id\":\"a b\"}",
		("HTTP/1.1 201 Created\r\n\r\n{\"Id\":\"0123456789012345678901234567890123456789"
		 "0123456789012345678901234567890123456789\"}"),
		"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\n{\"Id\":\"abc\"}",
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		rule_set(lab, 0, (struct rule){ .request = "/exec ", .answer = answers[i] });
		expect_refusal(lab, PATIENCE_MS, STATUS_INTERNAL, "");
	}
	assert_false(was_asked(lab, "/start"));
}

static void a_slow_head_ends_the_patience(void **state)
{
	static const char *const calls[] = { "/exec ", "/start" };
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		int64_t begun_us = clock_mono_us(&system_clock);

		rule_set(lab, 0,
			 (struct rule){ .request = calls[i], .answer = UPGRADED UPGRADED, .byte_ms = 10 });
		expect_refusal(lab, SHORT_MS, STATUS_UNAVAILABLE, "did not answer in time");
		rule_set(lab, 0, (struct rule){ .request = calls[i], .then = HOLD });
		expect_refusal(lab, SHORT_MS, STATUS_UNAVAILABLE, "did not answer in time");
		assert_in_range(clock_mono_us(&system_clock) - begun_us, 2 * SHORT_MS * 1000, 5000000);
	}
}

static void a_start_that_is_never_decided_ends_the_patience(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ .request = "/json", .answer = UNDECIDED });
	expect_refusal(lab, SHORT_MS, STATUS_UNAVAILABLE, "did not start the program in time");
	expect_asked(lab, "/proc/"); /* the program may have been started in spite of the error */
}

static void a_giant_answer_is_refused(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0,
		 (struct rule){ .request = "/start", .answer = "HTTP/1.1 101 U\r\nX: ", .flood = 1 << 20 });
	expect_refusal(lab, PATIENCE_MS, STATUS_INTERNAL, "head of the engine's answer is too long");
	rule_set(lab, 0,
		 (struct rule){ .request = "/exec ", .answer = "HTTP/1.1 201 C\r\nX: ", .flood = 1 << 20 });
	expect_refusal(lab, PATIENCE_MS, STATUS_INTERNAL, "head of the engine's answer is too long");
	rule_set(lab, 0,
		 (struct rule){ .request = "/exec ", .answer = "HTTP/1.1 201 C\r\n\r\n", .flood = 2 << 20 });
	expect_refusal(lab, PATIENCE_MS, STATUS_INTERNAL, "the engine's answer is too long");
}

static void a_connection_that_is_cut_anywhere_in_a_head_is_told(void **state)
{
	static const char *const calls[] = { "/exec ", "/start" };
	static const char head[] = UPGRADED;
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(calls); i++)
		for (size_t length = 1; length < strlen(head); length += 3) {
			rule_set(lab, 0,
				 (struct rule){ .request = calls[i], .answer = head, .length = length });
			expect_refusal(lab, PATIENCE_MS, STATUS_UNAVAILABLE, "closed the connection");
		}
	rule_set(lab, 0, (struct rule){ .request = "/start" });
	expect_refusal(lab, PATIENCE_MS, STATUS_UNAVAILABLE, "closed the connection");
}

static void an_engine_that_is_not_there_is_unavailable(void **state)
{
	struct lab *lab = *state;
	char path[sizeof(lab->path)];
	int listener, fillers[64];
	size_t count = 0;

	AUTO(json) json_t *command = json_pack("[s]", "sh");
	AUTO(endpoint) struct endpoint *none = endpoint_at("/nonexistent/docker.sock");
	struct terminal_target place = { none, "1.41", "c1", SHORT_MS };
	struct terminal *terminal = NULL;

	assert_int_equal(docker_terminal_open(&place, command, TERMINAL_SCREEN, &terminal, NULL),
			 STATUS_UNAVAILABLE);
	/* A server with a full queue of connections. */
	snprintf(path, sizeof(path), "%.50s.full", lab->path);
	listener = listener_open(path, 0);
	do {
		struct sockaddr_un address = { .sun_family = AF_UNIX };

		memcpy(address.sun_path, path, sizeof(path));
		fillers[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (connect(fillers[count++], (struct sockaddr *)&address, sizeof(address)) != 0)
			break;
	} while (count < COUNT_OF(fillers));
	AUTO(endpoint) struct endpoint *full = endpoint_at(path);
	place.endpoint = full;
	assert_int_equal(docker_terminal_open(&place, command, TERMINAL_SCREEN, &terminal, NULL),
			 STATUS_UNAVAILABLE);
	while (count > 0)
		close(fillers[--count]);
	close(listener);
	unlink(path);
}

/* ---- the end ---- */

static void a_connection_that_is_cut_is_the_end(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal;

	rule_set(lab, 0, (struct rule){ .request = "/start", .answer = UPGRADED "half a li" });
	terminal = open_good(lab);
	expect_output(terminal, "half a li");
	expect_end(terminal);
	terminal->ops->close(terminal);
}

static void a_close_ends_what_was_begun(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal = open_good(lab);
	char mark[64] = "", *at;

	pthread_mutex_lock(&lab->lock);
	at = strstr(lab->requests.data, "TRAINYARD_TERMINAL=");
	snprintf(mark, sizeof(mark), "%.*s", (int)strcspn(at, "\""), at);
	text_clear(&lab->requests);
	pthread_mutex_unlock(&lab->lock);
	assert_int_equal(strlen(mark), strlen("TRAINYARD_TERMINAL=") + 24);
	terminal->ops->close(terminal);
	assert_true(was_asked(lab, "{\"Cmd\":[\"sh\",\"-c\","));
	assert_true(was_asked(lab, mark));
	assert_true(was_asked(lab, "{\"Detach\":true}"));
	assert_int_equal(lab->typed.length, 0);
}

static void without_a_shell_a_close_types_what_ends_most_prompts(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal = open_good(lab);

	rule_set(lab, 0,
		 (struct rule){ .request = "/start",
				.answer = "HTTP/1.1 400 B\r\n\r\n{\"message\":\"no sh\"}" });
	terminal->ops->close(terminal);
	expect_typed(lab, "\x03\x04", 2);
}

static void a_close_of_what_the_engine_lost_asks_no_more(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal = open_good(lab);

	rule_set(lab, 0,
		 (struct rule){ .request = "/exec ",
				.answer = "HTTP/1.1 404 N\r\n\r\n{\"message\":\"gone\"}" });
	terminal->ops->close(terminal);
	assert_int_equal(lab->typed.length, 0);
	assert_int_equal(lab->asked[0], 1);
}

enum { MUCH = 1 << 20 };

static void *type_much(void *arg)
{
	struct terminal *terminal = arg;
	char line[1000];

	memset(line, 'x', sizeof(line));
	for (size_t sent = 0; sent < MUCH; sent += sizeof(line))
		if (!terminal->ops->write(terminal, line, sizeof(line)))
			return NULL;
	return terminal;
}

static void one_thread_reads_while_another_writes(void **state)
{
	struct lab *lab = *state;
	struct terminal *terminal = open_good(lab);
	char output[5000];
	size_t length = 0;
	pthread_t typist;
	void *typed;

	assert_int_equal(pthread_create(&typist, NULL, type_much, terminal), 0);
	for (size_t reads = 0; length < MUCH; reads++) {
		ssize_t got = terminal->ops->read(terminal, output, sizeof(output), 10000);

		assert_true(got > 0);
		length += (size_t)got;
		if (reads < 20)
			terminal->ops->resize(terminal, 80, 24);
	}
	pthread_join(typist, &typed);
	assert_ptr_equal(typed, terminal);
	terminal->ops->close(terminal);
}

static void a_stream_that_takes_nothing_is_given_up(void **state)
{
	struct lab *lab = *state;
	struct hijack_request request = { lab->endpoint, "POST", "/exec/abc/start", "{}", PATIENCE_MS };
	struct text body AUTO_TEXT = { 0 };
	struct hijack *hijack = NULL;
	char *much = calloc(1, 8 * MUCH);
	unsigned code = 0;

	rule_set(lab, 0, (struct rule){ .request = "/start", .answer = UPGRADED, .then = HOLD });
	assert_int_equal(hijack_open(&request, &hijack, &code, &body, NULL), STATUS_OK);
	assert_int_equal(code, 101);
	assert_false(hijack_write(hijack, much, 8 * MUCH, SHORT_MS));
	hijack_close(hijack);
	hijack_close(NULL);
	free(much);
}

static int start(void **state)
{
	(void)state;
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0;
}

#define LAB_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_terminal_carries_bytes_both_ways),
		LAB_TEST(what_comes_with_the_head_is_read_first),
		LAB_TEST(a_head_that_comes_byte_by_byte_is_read),
		LAB_TEST(a_program_that_ended_at_once_has_its_output_read),
		LAB_TEST(a_slow_start_is_waited_for),
		LAB_TEST(an_engine_that_tells_no_state_is_taken_by_its_output),
		LAB_TEST(a_program_that_cannot_be_started_is_refused_in_the_runtimes_words),
		LAB_TEST(refusals_are_told_apart),
		LAB_TEST(answers_that_cannot_be_understood_are_refused),
		LAB_TEST(a_slow_head_ends_the_patience),
		LAB_TEST(a_start_that_is_never_decided_ends_the_patience),
		LAB_TEST(a_giant_answer_is_refused),
		LAB_TEST(a_connection_that_is_cut_anywhere_in_a_head_is_told),
		LAB_TEST(an_engine_that_is_not_there_is_unavailable),
		LAB_TEST(a_connection_that_is_cut_is_the_end),
		LAB_TEST(a_close_ends_what_was_begun),
		LAB_TEST(without_a_shell_a_close_types_what_ends_most_prompts),
		LAB_TEST(a_close_of_what_the_engine_lost_asks_no_more),
		LAB_TEST(one_thread_reads_while_another_writes),
		LAB_TEST(a_stream_that_takes_nothing_is_given_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker terminal", tests, start, NULL);
}
