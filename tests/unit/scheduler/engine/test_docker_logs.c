/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_logs.c: each line arrives once and in order, even if streams break. */
#include "tests/unit/scheduler/engine/docker_logs_testing.h"

/* Nanoseconds after 2026-11-20T21:29:51Z. */
#define AT_51(nanoseconds) (INT64_C(1795210191) * 1000000000 + (nanoseconds))

/* Adds lines; "1a 2b": "a" 1 ns after 21:29:51, "b" 2 ns after it. */
static void body_add(struct text *body, const char *lines)
{
	lines_add(body, "2026-11-20T21:29:51.00000000?Z", lines);
}

/* Adds eight long lines, which arrive in several pieces. */
static void body_add_long(struct text *body, char letter)
{
	char line[10000];

	memset(line, letter, sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (int digit = '1'; digit <= '8'; digit++) {
		char stamp[] = "2026-11-20T21:29:51.00000000?Z";

		*strchr(stamp, '?') = (char)digit;
		frame_add(body, 1, stamp, line, sizeof(line));
	}
}

/* ---- tests ---- */

/* Fails with: reading_knows() false: "b" came again. stream_resolve() without its retry: no end. */
static void a_stream_that_breaks_is_read_on_where_it_broke(void **state)
{
	struct lab *lab = *state;
	struct text first AUTO_TEXT = { 0 }, second AUTO_TEXT = { 0 }, all AUTO_TEXT = { 0 };

	body_add(&first, "1a 2b");
	text_append(&first, "\1\0\0", 3);
	body_add(&second, "2b 3c");
	body_add(&all, "1a 2b 3c");
	rule_set(lab, 0, stream_rule("follow=1&since=1795210131.000000002 ", &second));
	rule_set(lab, 1, stream_rule("follow=1 ", &first));
	lab->rules[1].cut = true;
	rule_set(lab, 2, stream_rule("/logs?stdout=1&stderr=1&timestamps=1&tail=256 ", &all));
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\n");
	assert_int_equal(rule_asked(lab, 0), 1);
	assert_int_equal(rule_asked(lab, 1), 1);
}

/* The stream ended early, as after a rotation, and more than its last lines are missing. Fails with:
 * open_stream(STAGE_REST) left out: c was lost. */
static void what_a_stream_missed_is_read_after_the_exit(void **state)
{
	struct lab *lab = *state;
	struct text first AUTO_TEXT = { 0 }, last AUTO_TEXT = { 0 }, rest AUTO_TEXT = { 0 };

	body_add(&first, "1a 2b");
	body_add(&last, "4d 5e");
	body_add(&rest, "2b 3c 4d 5e");
	rule_set(lab, 0, stream_rule("follow=1", &first));
	rule_set(lab, 1, stream_rule("tail=256", &last));
	rule_set(lab, 2, stream_rule("timestamps=1&since=1795210131.000000002 ", &rest));
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\nd\ne\n");
}

/* The engine's clock was set back: new lines have earlier times than the last one. Fails with: is_reached() by time alone,
 * as it was: c and d were lost. */
static void lines_of_a_clock_that_was_put_back_come_once(void **state)
{
	struct lab *lab = *state;
	struct text first AUTO_TEXT = { 0 }, all AUTO_TEXT = { 0 };

	body_add(&first, "1a 7b 3c");
	body_add(&all, "1a 7b 3c 4d 8e");
	rule_set(lab, 0, stream_rule("follow=1", &first));
	lab->rules[0].cut = true;
	lab->rules[0].times = 1;
	rule_set(lab, 1,
		 stream_rule("timestamps=1&follow=1 ",
			     &all)); /* an engine may leave out all lines with earlier times */
	rule_set(lab, 2, stream_rule("timestamps=1 ", &all));
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\nd\ne\n");
	assert_int_equal(rule_asked(lab, 1), 1);
}

/* An engine that leaves out lines with earlier times returns them at the end. Fails with: tail_is_astray() false: c and d
 * were taken for lines before b. */
static void lines_of_a_clock_that_was_put_back_are_found_after_the_exit(void **state)
{
	struct lab *lab = *state;
	struct text first AUTO_TEXT = { 0 }, last AUTO_TEXT = { 0 }, all AUTO_TEXT = { 0 };

	body_add(&first, "1a 7b");
	body_add(&last, "3c 4d");
	body_add(&all, "1a 7b 3c 4d");
	rule_set(lab, 0, stream_rule("follow=1", &first));
	rule_set(lab, 1, stream_rule("tail=256", &last));
	rule_set(lab, 2, stream_rule("timestamps=1 ", &all));
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\nd\n");
}

/* The clock was set back so far that the times of the two streams do not show their order. Fails with: reading_knows()
 * without rewound: what came after was asked for from a time on that lies ahead. */
static void a_stream_that_began_before_the_clock_was_put_back_does_not_hide_the_other(void **state)
{
	struct lab *lab = *state;
	struct text first AUTO_TEXT = { 0 }, all AUTO_TEXT = { 0 };

	frame_add(&first, 1, "2026-11-20T22:29:51.1Z", "a\n", 2);
	frame_add(&first, 2, "2026-11-20T21:29:51.2Z", "b\n", 2);
	text_append(&all, first.data, first.length);
	frame_add(&all, 2, "2026-11-20T21:29:51.3Z", "c\n", 2);
	rule_set(lab, 0, stream_rule("follow=1", &first));
	lab->rules[0].cut = true;
	lab->rules[0].times = 1;
	rule_set(lab, 1, stream_rule("follow=1 ", &all));
	rule_set(lab, 2, stream_rule("timestamps=1 ", &all));
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\n");
	assert_false(was_asked(lab, "since="));
}

static void output_without_a_last_newline_comes_at_the_end(void **state)
{
	struct lab *lab = *state;
	struct text body AUTO_TEXT = { 0 };

	body_add(&body, "1a");
	frame_add(&body, 1, "2026-11-20T21:29:51.000000002Z", "half", 4);
	frame_add(&body, 2, "2026-11-20T21:29:51.000000001Z", "other", 5);
	rule_set(lab, 0, stream_rule("/logs", &body));
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nhalf\nother\n");
}

/* Parts of an unfinished line are not repeated when the next stream is read. Fails with: reading_knows() without its parts:
 * the first part came twice. */
static void parts_of_a_long_line_come_once_over_a_broken_stream(void **state)
{
	struct lab *lab = *state;
	struct text first AUTO_TEXT = { 0 }, whole AUTO_TEXT = { 0 }, line AUTO_TEXT = { 0 };
	static const char stamp[] = "2026-11-20T21:29:51.000000001Z";

	for (int i = 0; i < ENGINE_LINE_MAX + 100; i++)
		text_putc(&line, i < ENGINE_LINE_MAX ? 'x' : 'y');
	text_putc(&line, '\n');
	frame_add(&first, 1, stamp, line.data, line.length - 1);
	frame_add(&whole, 1, stamp, line.data, line.length);
	rule_set(lab, 0, stream_rule("follow=1", &first));
	lab->rules[0].cut = true;
	lab->rules[0].times = 1;
	rule_set(lab, 1, stream_rule("/logs", &whole));
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	lab_close(lab); /* so no thread writes */
	assert_int_equal(lab->lines.length, ENGINE_LINE_MAX + 1 + 100 + 1);
	assert_memory_equal(lab->lines.data + ENGINE_LINE_MAX - 1, "x\\y", 3);
}

/* A line of the other stream may be older than the line before it, but only slightly. */
static void reading_on_begins_at_the_older_stream_but_not_long_ago(void **state)
{
	static const struct {
		int64_t stdout_ns, stderr_ns, behind;
		const char *request;
	} cases[] = {
		{ AT_51(0), AT_51(INT64_C(1000000000)), 0, "since=1795210191.000000000 " },
		{ AT_51(INT64_C(1000000000)), AT_51(0), 0, "since=1795210191.000000000 " },
		{ AT_51(INT64_C(100500000000)), AT_51(0), 0, "since=1795210231.500000000 " },
		{ AT_51(7), 0, 0, "since=1795210131.000000007 " },
		{ AT_51(7), 0, 1, "timestamps=1&follow=1 " },
	};
	struct lab *lab = *state;

	up(lab);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct log_position from = { .streams = { { cases[i].stdout_ns, cases[i].behind },
								{ cases[i].stderr_ns, 0 } } };

		lab->engine->ops->follow_logs(lab->engine, &master, &from);
		expect_event(lab, ENGINE_LOGS_ENDED); /* there is no such container */
		assert_true(was_asked(lab, cases[i].request));
		pthread_mutex_lock(&lab->lock);
		text_clear(&lab->requests);
		pthread_mutex_unlock(&lab->lock);
	}
}

/* Fails with: 501 as any failure: asked for ever, and the job never ended. */
static void output_that_cannot_be_had_ends_at_once(void **state)
{
	static const struct rule refusals[] = {
		{ "/logs", 501, "{\"message\":\"configured logging driver does not support reading\"}" },
		{ "/logs", 409, "{\"message\":\"can not get logs from container which is dead\"}" },
		{ "/logs", 404, "{\"message\":\"No such container\"}" },
	};
	struct lab *lab = *state;

	up(lab);
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		rule_set(lab, 0, refusals[i]);
		follow(lab);
		expect_event(lab, ENGINE_LOGS_ENDED);
		assert_int_equal(rule_asked(lab, 0), 1);
	}
	assert_lines(lab, "");
}

/* The end of a stream proves nothing while the container runs; nor does an answer that cannot be parsed. */
static void a_stream_that_ends_while_its_container_runs_is_opened_again(void **state)
{
	static const struct rule accounts[] = {
		{ "/ty-t-1-master-0-a1/json", 200, RUNNING_MASTER, .times = 1 },
		{ "/ty-t-1-master-0-a1/json", 500, "{\"message\":\"busy\"}", .times = 1 },
		{ "/ty-t-1-master-0-a1/json", 200, "{\"State\":7}", .times = 1 },
		{ "/ty-t-1-master-0-a1/json", 200, "", .times = 1 },
		{ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER },
	};
	struct lab *lab = *state;
	struct text body AUTO_TEXT = { 0 };

	body_add(&body, "1a");
	rule_set(lab, 0, stream_rule("/logs", &body));
	for (size_t i = 0; i < COUNT_OF(accounts); i++)
		rule_set(lab, 1 + i, accounts[i]);
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\n");
	assert_int_equal(rule_asked(lab, 0), 5 + 1); /* the last request is for the tail */
}

static void a_container_that_was_never_started_has_no_output(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/logs", 200, "" });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, CREATED_MASTER });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_EXITED), 0);
}

/* Fails with: exit_looked() without replica_is_starting(): ended before the first line. */
static void a_container_that_is_being_started_is_waited_for(void **state)
{
	struct lab *lab = *state;
	struct text body AUTO_TEXT = { 0 };

	rule_set(lab, 0, (struct rule){ "/logs", 200, "" });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, CREATED_MASTER });
	rule_set(lab, 2, (struct rule){ "/start", HOLD });
	up(lab);
	lab->engine->ops->start_replica(lab->engine, &master);
	expect_asked(lab, 2, 1);
	follow(lab);
	expect_asked(lab, 0, 2);
	assert_int_equal(events_count(lab, ENGINE_LOGS_ENDED), 0);
	body_add(&body, "1a");
	rule_set(lab, 0, stream_rule("/logs", &body));
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	rule_set(lab, 2, (struct rule){ "/start", 204 });
	expect_event(lab, ENGINE_REPLICA_STARTED);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\n");
}

static void who_is_followed_already_is_not_followed_twice(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/logs", HOLD });
	up(lab);
	follow(lab);
	expect_asked(lab, 0, 1);
	follow(lab);
	lab->engine->ops->list(lab->engine); /* behind it */
	expect_event(lab, ENGINE_LISTING);
	assert_int_equal(rule_asked(lab, 0), 1);
	rule_set(lab, 0, (struct rule){ "/logs", 404, "{}" });
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_int_equal(events_count(lab, ENGINE_LOGS_ENDED), 1);
}

static void who_is_followed_while_the_engine_is_away_is_read_once_it_is_back(void **state)
{
	struct lab *lab = *state;
	struct text body AUTO_TEXT = { 0 };

	body_add(&body, "1a 2b");
	rule_set(lab, 0, stream_rule("/logs", &body));
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	rule_set(lab, 2, (struct rule){ "/_ping", 0 });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
	follow(lab);
	rule_set(lab, 2, (struct rule){ "/_ping", 200, "OK" });
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\n");
}

/* No line is lost or repeated while the sink has no room, in any stage. */
static void lines_that_find_no_room_are_kept_and_come_later(void **state)
{
	struct lab *lab = *state;
	struct text body AUTO_TEXT = { 0 };

	body_add(&body, "1a 2b 3c 4d");
	rule_set(lab, 0, stream_rule("/logs", &body));
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	lab->room = 0;
	follow(lab);
	room_give(lab, 2, 1);
	assert_lines(lab, "a\nb\n");
	room_give_all(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\nd\n");
}

/* The last reading of the output is done by then. Fails with: stream_done() without is_held(): ended with lines to come. */
static void the_last_lines_are_kept_until_there_is_room(void **state)
{
	struct lab *lab = *state;
	struct text body AUTO_TEXT = { 0 };

	body_add(&body, "1a 2b 3c 4d");
	frame_add(&body, 1, "2026-11-20T21:29:51.000000005Z", "e", 1);
	rule_set(lab, 0, (struct rule){ "follow=1", 200, "" });
	rule_set(lab, 1, stream_rule("/logs", &body));
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	lab->room = 0;
	follow(lab);
	room_give(lab, 2, 1);
	assert_lines(lab, "a\nb\n");
	room_give(lab, 2, 1); /* refuses the line without an end */
	assert_lines(lab, "a\nb\nc\nd\n");
	assert_int_equal(events_count(lab, ENGINE_LOGS_ENDED), 0);
	room_give_all(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\nd\ne\n");
}

static void a_stream_that_turns_out_as_garbage_behind_a_refused_line_is_read_again(void **state)
{
	struct lab *lab = *state;
	struct text bad AUTO_TEXT = { 0 }, good AUTO_TEXT = { 0 };

	body_add(&bad, "1a 2b");
	text_puts(&bad, "this is no frame");
	body_add(&good, "1a 2b 3c");
	rule_set(lab, 0, stream_rule("follow=1 ", &bad));
	rule_set(lab, 1, stream_rule("/logs", &good));
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	lab->room = 0;
	follow(lab);
	room_give(lab, 1, 1);
	assert_lines(lab, "a\n");
	room_give_all(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\n");
}

/* Two replicas that print more than there is room for take turns. Fails with: followers_turn() left out: one had all the
 * room until it was done. */
static void replicas_take_turns_when_there_is_little_room(void **state)
{
	static const struct replica_key worker = { .job = 1, .attempt = 1, .role = ROLE_WORKER };
	struct lab *lab = *state;
	struct text of_master AUTO_TEXT = { 0 }, of_worker AUTO_TEXT = { 0 };
	unsigned refused = 2;
	bool both;

	body_add_long(&of_master, 'm');
	body_add_long(&of_worker, 'w');
	rule_set(lab, 0, stream_rule("master-0-a1/logs", &of_master));
	rule_set(lab, 1, stream_rule("worker-0-a1/logs", &of_worker));
	up(lab);
	lab->room = 0;
	follow(lab);
	lab->engine->ops->follow_logs(lab->engine, &worker, &beginning);
	pthread_mutex_lock(&lab->lock);
	both = changes_await(lab, room_is_used, &refused);
	pthread_mutex_unlock(&lab->lock);
	assert_true(both);
	for (int i = 0; i < 6; i++)
		room_give(lab, 1, 2); /* both stand before it */
	lab_close(lab);               /* no further bytes are read */
	assert_non_null(strchr(lab->lines.data, 'm'));
	assert_non_null(strchr(lab->lines.data, 'w'));
}

/* Closes a follower in each of its stages; the lines that it keeps are freed. */
static void a_close_ends_followers_at_any_stage(void **state)
{
	struct lab *lab = *state;
	struct text body AUTO_TEXT = { 0 };

	body_add(&body, "1a 2b");
	rule_set(lab, 0, (struct rule){ "/logs", 500, "{\"message\":\"no\"}" });
	up(lab);
	follow(lab);
	expect_asked(lab, 0, 2); /* and now it waits */
	lab->engine->ops->close(lab->engine);
	rule_set(lab, 0, (struct rule){ "/logs", HOLD });
	up(lab);
	follow(lab);
	expect_asked(lab, 0, 1);
	lab->engine->ops->close(lab->engine);
	rule_set(lab, 0, stream_rule("/logs", &body));
	up(lab);
	lab->room = 0;
	follow(lab);
	room_give(lab, 1, 1);
	lab_close(lab);
	assert_lines(lab, "a\n");
	assert_int_equal(events_count(lab, ENGINE_LOGS_ENDED), 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_stream_that_breaks_is_read_on_where_it_broke),
		LAB_TEST(what_a_stream_missed_is_read_after_the_exit),
		LAB_TEST(lines_of_a_clock_that_was_put_back_come_once),
		LAB_TEST(lines_of_a_clock_that_was_put_back_are_found_after_the_exit),
		LAB_TEST(a_stream_that_began_before_the_clock_was_put_back_does_not_hide_the_other),
		LAB_TEST(output_without_a_last_newline_comes_at_the_end),
		LAB_TEST(parts_of_a_long_line_come_once_over_a_broken_stream),
		LAB_TEST(reading_on_begins_at_the_older_stream_but_not_long_ago),
		LAB_TEST(output_that_cannot_be_had_ends_at_once),
		LAB_TEST(a_stream_that_ends_while_its_container_runs_is_opened_again),
		LAB_TEST(a_container_that_was_never_started_has_no_output),
		LAB_TEST(a_container_that_is_being_started_is_waited_for),
		LAB_TEST(who_is_followed_already_is_not_followed_twice),
		LAB_TEST(who_is_followed_while_the_engine_is_away_is_read_once_it_is_back),
		LAB_TEST(lines_that_find_no_room_are_kept_and_come_later),
		LAB_TEST(the_last_lines_are_kept_until_there_is_room),
		LAB_TEST(a_stream_that_turns_out_as_garbage_behind_a_refused_line_is_read_again),
		LAB_TEST(replicas_take_turns_when_there_is_little_room),
		LAB_TEST(a_close_ends_followers_at_any_stage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker logs", tests, start, NULL);
}
