/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/emulator/web_shell_testing.h"

TEST(an_address_is_of_one_replica_and_stays_after_a_restart)
{
	BENCH(state_);
	AUTO(string) char *first = shell_path(12, ROLE_MASTER, 0);
	AUTO(string) char *again = NULL;
	const char *const others[] = {
		shell_path(13, ROLE_MASTER, 0),
		shell_path(12, ROLE_WORKER, 0),
		shell_path(12, ROLE_MASTER, 1),
	};
	static const char start[] = "/_trainyard/shell/12-master-0-";

	assert_memory_equal(first, start, strlen(start));
	assert_int_equal(strlen(first), strlen(start) + 32 + 1);
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		assert_string_not_equal(first + strlen(first) - 33, others[i] + strlen(others[i]) - 33);
		free((char *)(uintptr_t)others[i]);
	}
	bench_reopen(bench);
	context.key = store_secret(bench->store);
	again = shell_path(12, ROLE_MASTER, 0);
	assert_string_equal(first, again);
}

TEST(only_the_address_to_the_letter_opens)
{
	const int64_t job = job_running("j");
	AUTO(string) char *path = shell_path(job, ROLE_WORKER, 3);
	const size_t start = strlen("/_trainyard/shell/"), end = strlen(path) - 1;
	static const char *const nonsense[] = { "x",
						"1-master-0-",
						"--",
						"1-master",
						"1-cook-0-00",
						"%31-worker-3-00",
						"99999999999999999999-master-0-0" };

	(void)state_;
	asking_gives("GET", path, "", "", 200);
	for (size_t i = start; i < end; i++) {
		AUTO(string) char *wrong = strdup(path);

		wrong[i] = wrong[i] == '1' ? '2' : '1';
		asking_gives("GET", wrong, "", "", 404);
		asking_gives("GET", wrong, "output?session=a", "", 404);
		asking_gives("POST", wrong, "input?session=a", "x", 404);
	}
	for (size_t i = 0; i < COUNT_OF(nonsense); i++) {
		char wrong[128];

		snprintf(wrong, sizeof(wrong), "/_trainyard/shell/%s/", nonsense[i]);
		asking_gives("GET", wrong, "", "", 404);
		snprintf(wrong, sizeof(wrong), "/_trainyard/shell/0%s", path + start);
		asking_gives("GET", wrong, "", "", 404);
		snprintf(wrong, sizeof(wrong), "/_trainyard/shell/+%s", path + start);
		asking_gives("GET", wrong, "", "", 404);
	}
	assert_int_equal(script.opened, 0);
}

TEST(a_job_that_does_not_run_or_did_not_ask_has_no_shell)
{
	const int64_t waiting = job_with("waiting", true);
	const int64_t plain = job_with("plain", false);
	const int64_t ended = job_running("ended");
	const int64_t all[] = { waiting, plain, ended, ended + 100 };

	(void)state_;
	job_goes(plain, JOB_QUEUED, JOB_PREPARING);
	job_goes(plain, JOB_PREPARING, JOB_RUNNING);
	job_goes(ended, JOB_RUNNING, JOB_SUCCEEDED);
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		AUTO(string) char *path = shell_path(all[i], ROLE_MASTER, 0);

		asking_gives("GET", path, "", "", 404);
		asking_gives("GET", path, "page.js", "", 404);
		asking_gives("GET", path, "output?session=a", "", 404);
	}
}

TEST(the_page_is_for_nobody_else)
{
	static const struct {
		const char *file, *type;
	} files[] = {
		{ "", "text/html" },
		{ "page.js", "text/javascript" },
		{ "grid.js", "text/javascript" },
		{ "screen.js", "text/javascript" },
		{ "terminal.js", "text/javascript" },
		{ "terminal.css", "text/css" },
		{ "page.css", "text/css" },
	};
	static const char *const headers[] = {
		"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n",
		"Referrer-Policy: no-referrer\r\n",
		"Cache-Control: no-store\r\n",
		"X-Content-Type-Options: nosniff\r\n",
	};
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		AUTO(string) char *answer = ask("GET", path, files[i].file, "");
		char type[64];

		assert_status(answer, 200);
		snprintf(type, sizeof(type), "Content-Type: %s; charset=UTF-8\r\n", files[i].type);
		assert_non_null(strstr(answer, type));
		for (size_t j = 0; j < COUNT_OF(headers); j++)
			assert_non_null(strstr(answer, headers[j]));
		assert_null(strstr(answer, "://cdn"));
	}
	asking_gives("GET", path, "page.html", "", 404);
	asking_gives("GET", path, "../page.js", "", 400);
}

TEST(an_address_without_its_slash_leads_to_the_page)
{
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);
	AUTO(string) char *bare = strndup(path, strlen(path) - 1);
	AUTO(string) char *answer = ask("GET", bare, "", "");
	char location[160];

	(void)state_;
	assert_status(answer, 308);
	snprintf(location, sizeof(location), "Location: %s\r\n", path);
	assert_non_null(strstr(answer, location));
}

TEST(what_is_typed_arrives_and_what_is_printed_comes)
{
	const int64_t job = job_running("j");
	AUTO(string) char *path = shell_path(job, ROLE_EVALUATOR, 0);
	int client = output_open(path, "a&columns=132&rows=43");

	(void)state_;
	assert_string_equal(script.program, "/bin/bash");
	assert_int_equal(script.replica.job, job);
	assert_int_equal(script.replica.attempt, 1);
	assert_int_equal(script.replica.role, ROLE_EVALUATOR);
	assert_int_equal(script.columns, 132);
	assert_int_equal(script.rows, 43);
	asking_gives("POST", path, "input?session=a", "{\"not\": json\xff", 200);
	receive_until(client, "{\"not\": json\xff");
	asking_gives("POST", path, "resize?session=a&columns=1&rows=1000", "", 200);
	assert_int_equal(script.columns, 1);
	assert_int_equal(script.rows, 1000);
	asking_gives("POST", path, "input?session=a", "exit", 200);
	receive_until(client, "exit\r\n0\r\n\r\n");
	await_count(&script.closed, 1);
	asking_gives("POST", path, "input?session=a", "x", 404);
	close(client);
}

/* A client may ask for the next session before libmicrohttpd frees this one's output. Fails with: shell_reader_read() that
 * only reads. */
TEST(who_has_read_the_end_of_a_session_may_begin_it_again)
{
	static const struct replica_key replica = { .job = 1, .attempt = 1 };
	AUTO(json) json_t *program = json_pack("[s]", "/bin/sh");
	struct shell_sessions *sessions = shell_sessions_new();
	struct shell_session *first, *second;
	struct shell_reader reader = { 0 };
	struct shell_terminal *terminal;
	char printed[16];

	(void)state_;
	assert_int_equal(shell_session_begin(sessions, &replica, "a", 0, &first, NULL), STATUS_OK);
	assert_int_equal(echo_open(&script, &replica, program, SHELL_TERMINAL, &terminal, NULL), STATUS_OK);
	shell_session_start(first, terminal);
	reader.session = first;
	terminal->ops->write(terminal, "exit", 4);
	assert_int_equal(shell_reader_read(&reader, printed, sizeof(printed), 1000), strlen("welcomeexit"));
	assert_int_equal(shell_session_begin(sessions, &replica, "a", 0, &second, NULL), STATUS_ALREADY_EXISTS);
	assert_int_equal(shell_reader_read(&reader, printed, sizeof(printed), 1000), -1);
	assert_null(shell_session_hold(sessions, &replica, "a"));
	assert_int_equal(shell_session_begin(sessions, &replica, "a", 0, &second, NULL), STATUS_OK);
	shell_session_end(first);
	shell_session_end(second);
	shell_sessions_free(sessions);
	assert_int_equal(script.closed, 1);
}

static struct shell_session *session_named(struct shell_sessions *sessions, const char *id, unsigned keep_s)
{
	static const struct replica_key replica = { .job = 1, .attempt = 1 };
	AUTO(json) json_t *program = json_pack("[s]", "/bin/sh");
	struct shell_session *session;
	struct shell_terminal *terminal;

	assert_int_equal(shell_session_begin(sessions, &replica, id, keep_s, &session, NULL), STATUS_OK);
	assert_int_equal(echo_open(&script, &replica, program, SHELL_TERMINAL, &terminal, NULL), STATUS_OK);
	shell_session_start(session, terminal);
	return session;
}

#define session_opened(sessions, keep_s) session_named(sessions, "a", keep_s)

/* Fails with: shell_reader_leave() that ends the session; shell_reader_read() without one of its three is_present(); kept_read()
 * from the first byte kept; shell_session_type() that knows no position; keeper_main() that ends none; a shell_reader_leave() of
 * which a keeper that waits hears nothing. */
TEST(a_session_goes_on_without_a_reader_for_a_time)
{
	struct shell_sessions *sessions = shell_sessions_new();
	struct shell_reader first = { .session = session_opened(sessions, 1) }, second, third;
	char printed[16];

	(void)state_;
	assert_reads(&first, "welcome");
	shell_reader_leave(&first);
	assert_true(shell_session_resume(sessions, "a", 3, &second));
	assert_int_equal(second.at, 3);
	assert_true(shell_session_type(second.session, 0, "abc", 3));
	assert_reads(&second, "comeabc");
	assert_true(shell_session_type(second.session, 1, "bcd", 3));
	assert_true(shell_session_type(second.session, 0, "ab", 2));
	assert_false(shell_session_type(second.session, 5, "x", 1));
	assert_reads(&second, "d");
	/* The connection of the second reader is lost, but the session has not noticed that yet. */
	assert_true(shell_session_resume(sessions, "a", 7, &third));
	assert_int_equal(shell_reader_read(&second, printed, sizeof(printed), 0), -1);
	assert_reads(&third, "abcd");
	assert_true(shell_session_type(third.session, INPUT_NEXT, "ef", 2));
	assert_reads(&third, "ef");
	assert_int_equal(shell_reader_read(&second, printed, sizeof(printed), 0), -1);
	shell_reader_leave(&second);
	assert_true(shell_session_resume(sessions, "a", 13, &second));
	shell_reader_leave(&third);
	assert_int_equal(script.closed, 0);
	shell_reader_leave(&second);
	await_count(&script.closed, 1);
	assert_false(shell_session_resume(sessions, "a", 0, &third));
	first.session = session_named(sessions, "b", 1);
	first.number = 0;
	shell_reader_leave(&first);
	await_count(&script.closed, 2);
	shell_sessions_free(sessions);
}

/* Fails with: reader_place() without its limit; output_keep() that does not go around. */
TEST(of_much_output_the_end_is_kept)
{
	struct shell_sessions *sessions = shell_sessions_new();
	struct shell_reader first = { .session = session_opened(sessions, 60) }, second;
	char piece[1000], last[1000];
	size_t length = 0;

	(void)state_;
	assert_reads(&first, "welcome");
	for (int i = 0; i < 300; i++) {
		memset(piece, 'a' + i % 26, sizeof(piece));
		assert_true(shell_session_type(first.session, INPUT_NEXT, piece, sizeof(piece)));
		for (size_t got = 0; got < sizeof(piece);)
			got += (size_t)shell_reader_read(&first, last, sizeof(last), 1000);
	}
	shell_reader_leave(&first);
	assert_true(shell_session_resume(sessions, "a", 0, &second));
	assert_int_equal(second.at, 7 + 300 * 1000 - 256 * 1024);
	while (second.at < 7 + 300 * 1000) {
		const uint64_t at = second.at;
		const ssize_t got = shell_reader_read(&second, last, sizeof(last), 1000);

		assert_true(got > 0);
		assert_int_equal(last[0], 'a' + (int)((at - 7) / 1000 % 26));
		length += (size_t)got;
	}
	assert_int_equal(length, 256 * 1024);
	shell_session_stop(second.session);
	assert_int_equal(shell_reader_read(&second, last, sizeof(last), 0), -1);
	shell_reader_leave(&second);
	assert_int_equal(script.closed, 1);
	shell_sessions_free(sessions);
}

/* Fails with: shell_session_stop() that only removes it; shell_sessions_free() that does not wait. */
TEST(a_session_that_was_left_is_stopped_or_ends_with_all)
{
	struct shell_sessions *sessions = shell_sessions_new();
	struct shell_reader reader = { .session = session_opened(sessions, 300) };
	struct shell_session *held;

	(void)state_;
	shell_reader_leave(&reader);
	held = shell_session_find(sessions, "a");
	assert_non_null(held);
	shell_session_stop(held);
	shell_session_release(held);
	assert_int_equal(script.closed, 1);
	reader.session = session_opened(sessions, 300);
	shell_reader_leave(&reader);
	assert_int_equal(script.closed, 1);
	shell_sessions_free(sessions);
	assert_int_equal(script.closed, 2);
}

/* Each session waits for an engine that does not answer. Fails with: overdue_end() without its threads. */
TEST(sessions_that_were_left_end_side_by_side)
{
	struct shell_sessions *sessions = shell_sessions_new();

	(void)state_;
	for (const char *id = "a\0b\0c\0"; *id; id += 2) {
		struct shell_reader reader = { .session = session_named(sessions, id, 300) };

		shell_reader_leave(&reader);
	}
	script.together = 3;
	shell_sessions_free(sessions);
	assert_int_equal(script.closed, 3);
	assert_int_equal(script.alone, 0);
}

/* Fails with: place_find() that looks at the ids of the replica's sessions alone: what was typed went to the other one. */
TEST(an_id_is_in_use_for_every_replica)
{
	static const struct replica_key other = { .job = 2, .attempt = 1 };
	struct shell_session *session = session_opened(context.sessions, 0), *second;

	(void)state_;
	assert_int_equal(shell_session_begin(context.sessions, &other, "a", 0, &second, NULL), STATUS_ALREADY_EXISTS);
	shell_session_end(session);
	assert_int_equal(shell_session_begin(context.sessions, &other, "a", 0, &second, NULL), STATUS_OK);
	shell_session_end(second);
}

TEST(an_image_without_bash_gets_sh)
{
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);
	int client;

	(void)state_;
	script.without_bash = true;
	client = output_open(path, "a");
	assert_string_equal(script.program, "/bin/sh");
	close(client);
	await_count(&script.closed, 1);
	script.without_sh = true;
	asking_gives("GET", path, "output?session=a", "", 400);
	script.unreachable = true;
	asking_gives("GET", path, "output?session=a", "", 503);
	script.without_bash = script.without_sh = script.unreachable = false;
	close(output_open(path, "a")); /* the session's slot is free again */
}

TEST(what_no_terminal_can_have_is_refused)
{
	static const struct {
		const char *method, *rest;
		unsigned status;
	} cases[] = {
		{ "GET", "output", 400 },
		{ "GET", "output?session=", 400 },
		{ "GET", "output?session=a/b", 400 },
		{ "GET", "output?session=a%0d%0ab", 400 },
		{ "GET", "output?session=a12345678901234567890123456789012345678901234567890123456789012345",
		  400 },
		{ "GET", "output?session=a&columns=0&rows=24", 400 },
		{ "GET", "output?session=a&columns=80", 400 },
		{ "GET", "output?session=a&columns=1001&rows=24", 400 },
		{ "GET", "output?session=a&columns=-1&rows=24", 400 },
		{ "GET", "output?session=a&nonsense=1", 400 },
		{ "POST", "output?session=a", 405 },
		{ "GET", "input?session=a", 405 },
		{ "POST", "input?session=a", 404 },
		{ "POST", "input", 404 },
		{ "POST", "resize?session=a", 400 },
		{ "POST", "resize?session=a&columns=80&rows=24", 404 },
	};
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		asking_gives(cases[i].method, path, cases[i].rest, "", cases[i].status);
	assert_int_equal(script.opened, 0);
}

TEST(head_opens_no_shell)
{
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);
	AUTO(string) char *answer = ask("HEAD", path, "output?session=a", "");

	(void)state_;
	assert_status(answer, 200);
	assert_int_equal(script.opened, 0);
}

TEST(other_web_sites_get_nowhere)
{
	static const struct {
		const char *headers;
		unsigned status;
	} cases[] = {
		{ "Host: 127.0.0.1:1234\r\nOrigin: http://127.0.0.1:1234\r\nSec-Fetch-Site: same-origin\r\n",
		  404 },
		{ HOST "Origin: http://localhost\r\n", 404 },
		{ HOST "Origin: https://evil.com\r\n", 403 },
		{ HOST "Origin: null\r\n", 403 },
		{ HOST "Sec-Fetch-Site: cross-site\r\n", 403 },
		{ "Host: evil.com\r\nOrigin: http://evil.com\r\nSec-Fetch-Site: same-origin\r\n", 403 },
	};
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct text request AUTO_TEXT = { 0 };

		text_printf(&request, "POST %sinput?session=a HTTP/1.1\r\n%sContent-Length: 1\r\n\r\nx", path,
			    cases[i].headers);
		AUTO(string) char *answer = exchange_raw(request.data);

		assert_status(answer, cases[i].status);
	}
}

TEST(a_shell_ends_with_its_client_and_with_its_job)
{
	const int64_t job = job_running("j");
	AUTO(string) char *path = shell_path(job, ROLE_MASTER, 0);
	int client = output_open(path, "a");

	(void)state_;
	close(client);
	await_count(&script.closed, 1);
	client = output_open(path, "a");
	job_goes(job, JOB_RUNNING, JOB_SUCCEEDED);
	receive_until(client, "0\r\n\r\n");
	await_count(&script.closed, 2);
	close(client);
}

TEST(a_shell_ends_when_the_daemon_stops)
{
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);
	int client = output_open(path, "a");

	(void)state_;
	listener_close(listener, 30000);
	assert_int_equal(script.closed, 1);
	receive_until(client, "0\r\n\r\n");
	close(client);
	listener = NULL; /* the teardown must not close it again */
}

TEST(a_replica_has_few_sessions_each_with_its_own_id)
{
	const int64_t job = job_running("j");
	AUTO(string) char *path = shell_path(job, ROLE_MASTER, 0);
	AUTO(string) char *other = shell_path(job, ROLE_WORKER, 0);
	static const char *const ids[] = { "a", "b", "c", "d" };
	int clients[COUNT_OF(ids)], another;

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(ids); i++)
		clients[i] = output_open(path, ids[i]);
	asking_gives("GET", path, "output?session=a", "", 409);
	asking_gives("GET", path, "output?session=e", "", 429);
	asking_gives("POST", other, "input?session=a", "x", 404);
	another = output_open(other, "g");
	asking_gives("POST", path, "input?session=b", "to b", 200);
	receive_until(clients[1], "to b");
	close(clients[0]);
	await_count(&script.closed, 1);
	clients[0] = output_open(path, "e");
	for (size_t i = 0; i < COUNT_OF(ids); i++)
		close(clients[i]);
	close(another);
	await_count(&script.closed, 6);
}

TEST(too_much_at_once_is_not_typed)
{
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);
	AUTO(string) char *much = calloc(1, (1 << 20) + 2);
	int client = output_open(path, "a");
	int typist = client_open();

	(void)state_;
	memset(much, 'x', (1 << 20) + 1);
	AUTO(string) char *request = shell_request("POST", path, "input?session=a", much);

	client_send(typist, request, strlen(request));
	receive_until(typist, "At most 1048576 bytes");
	assert_int_equal(script.writes, 0);
	close(typist);
	close(client);
}

TEST(a_program_that_takes_nothing_holds_nobody_but_its_typist)
{
	AUTO(string) char *path = shell_path(job_running("j"), ROLE_MASTER, 0);
	AUTO(string) char *request = shell_request("POST", path, "input?session=a", "x");
	int client = output_open(path, "a");
	int typist = client_open();

	(void)state_;
	script.takes_nothing = true;
	client_send(typist, request, strlen(request));
	await_count(&script.writes, 1);
	close(client);
	/* Its slot is free again while the other client is still sending. */
	for (int i = 0; i < ANSWER_WAIT_MS / STEP_MS && script.opened < 2; i++) {
		AUTO(string) char *answer = ask("GET", path, "output?session=a", "");

		step();
	}
	await_count(&script.closed, 1);
	script.let_go = true;
	await_count(&script.closed, 2);
	close(typist);
}

static void *crowd(void *arg)
{
	const char *path = arg;
	unsigned accepted = 0;
	int clients[32];

	for (size_t i = 0; i < COUNT_OF(clients); i++) {
		struct text seen AUTO_TEXT = { 0 };
		char rest[64];

		clients[i] = client_open();
		snprintf(rest, sizeof(rest), "output?session=%zx-%zu", (uintptr_t)path, i);
		AUTO(string) char *request = shell_request("GET", path, rest, "");

		client_send(clients[i], request, strlen(request));
		client_receive(clients[i], &seen);
		accepted += seen.data && strncmp(seen.data, "HTTP/1.1 200 ", 13) == 0;
	}
	for (size_t i = 0; i < COUNT_OF(clients); i++)
		close(clients[i]);
	return (void *)(uintptr_t)accepted;
}

TEST(a_crowd_gets_as_many_shells_as_there_are_places)
{
	enum { REPLICAS = 10 };
	const int64_t job = job_running("j");
	pthread_t threads[REPLICAS];
	char *paths[REPLICAS];

	(void)state_;
	for (unsigned i = 0; i < REPLICAS; i++) {
		paths[i] = shell_path(job, ROLE_WORKER, i);
		assert_int_equal(pthread_create(&threads[i], NULL, crowd, paths[i]), 0);
	}
	for (unsigned i = 0; i < REPLICAS; i++) {
		void *accepted;

		pthread_join(threads[i], &accepted);
		assert_in_range((uintptr_t)accepted, 1, SESSIONS_PER_REPLICA);
		free(paths[i]);
	}
	await_count(&script.closed, script.opened);
}

#define WITH_SHELL(name) cmocka_unit_test_setup_teardown(name, shell_setup, shell_teardown)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SHELL(an_address_is_of_one_replica_and_stays_after_a_restart),
		WITH_SHELL(only_the_address_to_the_letter_opens),
		WITH_SHELL(a_job_that_does_not_run_or_did_not_ask_has_no_shell),
		WITH_SHELL(the_page_is_for_nobody_else),
		WITH_SHELL(an_address_without_its_slash_leads_to_the_page),
		WITH_SHELL(what_is_typed_arrives_and_what_is_printed_comes),
		WITH_SHELL(who_has_read_the_end_of_a_session_may_begin_it_again),
		WITH_SHELL(a_session_goes_on_without_a_reader_for_a_time),
		WITH_SHELL(of_much_output_the_end_is_kept),
		WITH_SHELL(a_session_that_was_left_is_stopped_or_ends_with_all),
		WITH_SHELL(sessions_that_were_left_end_side_by_side),
		WITH_SHELL(an_id_is_in_use_for_every_replica),
		WITH_SHELL(an_image_without_bash_gets_sh),
		WITH_SHELL(what_no_terminal_can_have_is_refused),
		WITH_SHELL(head_opens_no_shell),
		WITH_SHELL(other_web_sites_get_nowhere),
		WITH_SHELL(a_shell_ends_with_its_client_and_with_its_job),
		WITH_SHELL(a_shell_ends_when_the_daemon_stops),
		WITH_SHELL(a_replica_has_few_sessions_each_with_its_own_id),
		WITH_SHELL(too_much_at_once_is_not_typed),
		WITH_SHELL(a_program_that_takes_nothing_holds_nobody_but_its_typist),
		WITH_SHELL(a_crowd_gets_as_many_shells_as_there_are_places),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
