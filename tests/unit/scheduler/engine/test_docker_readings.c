/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_logs.c with engines that lose lines of followed streams, like Podman: docker_make.h. */
#include "tests/unit/scheduler/engine/docker_logs_testing.h"

#define PODMAN "{\"ServerVersion\":\"4.3.1\",\"NCPU\":2,\"MemTotal\":1000,\"BuildahVersion\":\"1.28.0\"}"

/* Adds lines with times in whole seconds; "1a 1b 2c": "c" is a second later. */
static void seconds_add(struct text *body, const char *lines)
{
	lines_add(body, "2026-11-20T21:29:5?Z", lines);
}

/* The stream left out "b". The last of a reading comes once the stream has it too, and what is behind it with the rest.
 * Fails with: take_line() that takes from the stream; signal_take() without last_hand_over(): never a second stream that ends;
 * reading_take() without last_hand_over(): only the last; a TAIL of such an engine; open_stream() without whole seconds. */
static void where_streams_lose_lines_they_come_from_readings(void **state)
{
	struct lab *lab = *state;
	struct text lossy AUTO_TEXT = { 0 }, read AUTO_TEXT = { 0 }, all AUTO_TEXT = { 0 };

	seconds_add(&lossy, "1a 1c");
	seconds_add(&read, "1a 1b 1c 2d");
	seconds_add(&all, "1a 1b 1c 2d 2e 3f");
	rule_set(lab, 0, stream_rule("follow=1 ", &lossy));
	lab->rules[0].times = 1;
	rule_set(lab, 1, stream_rule("timestamps=1 ", &read));
	lab->rules[1].times = 1;
	rule_set(lab, 2, stream_rule("follow=1&since=1795210131.000000000 ", &read));
	rule_set(lab, 3, stream_rule("timestamps=1&since=1795210132.000000000 ", &all));
	rule_set(lab, 4, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	rule_set(lab, 5, (struct rule){ "/info", 200, PODMAN });
	up(lab);
	lab->room = 0;
	follow(lab);
	room_give(lab, 1, 1);
	room_give(lab, 1, 1);
	room_give(lab, 1, 1); /* refuses "d", which the stream has too */
	assert_lines(lab, "a\nb\nc\n");
	room_give_all(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nb\nc\nd\ne\nf\n");
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(rule_asked(lab, i), 1);
}

/* Fails with: signal_take() without memcmp() and length: "lo" came, and never "long". */
static void a_line_that_was_being_written_comes_whole(void **state)
{
	struct lab *lab = *state;
	struct text early AUTO_TEXT = { 0 }, all AUTO_TEXT = { 0 };

	seconds_add(&early, "1a");
	frame_add(&early, 1, "2026-11-20T21:29:51Z", "lo\n", 3);
	seconds_add(&all, "1a");
	frame_add(&all, 1, "2026-11-20T21:29:51Z", "long\n", 5);
	rule_set(lab, 0, stream_rule("timestamps=1 ", &early));
	lab->rules[0].times = 1;
	rule_set(lab, 1, stream_rule("/logs", &all));
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	rule_set(lab, 3, (struct rule){ "/info", 200, PODMAN });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "a\nlong\n");
	assert_int_equal(rule_asked(lab, 1), 5); /* follow, follow, read, follow, rest */
}

/* One stream has an unfinished line for minutes, like a progress bar, while the other continues. Fails with: reading_end()
 * without unfinished lines, or without the last one: what follows was asked for without its beginning. */
static void a_line_in_the_making_is_read_from_its_beginning(void **state)
{
	struct lab *lab = *state;
	struct text early AUTO_TEXT = { 0 }, all AUTO_TEXT = { 0 };
	static const char late[] = "2026-11-20T21:33:00Z";

	frame_add(&early, 1, "2026-11-20T21:29:51Z", "be", 2);
	frame_add(&early, 2, late, "x\n", 2);
	frame_add(&early, 2, late, "y\n", 2);
	text_append(&all, early.data, early.length);
	frame_add(&all, 1, late, "gun\n", 4);
	rule_set(lab, 0, stream_rule("timestamps=1 ", &early));
	rule_set(lab, 1, stream_rule("follow=1 ", &early));
	rule_set(lab, 2, stream_rule("since=1795210191.000000000 ", &all));
	rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	rule_set(lab, 4, (struct rule){ "/info", 200, PODMAN });
	up(lab);
	follow(lab);
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_lines(lab, "x\ny\nbegun\n");
	assert_int_equal(rule_asked(lab, 2), 4); /* follow, read, follow, rest */
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(where_streams_lose_lines_they_come_from_readings),
		LAB_TEST(a_line_that_was_being_written_comes_whole),
		LAB_TEST(a_line_in_the_making_is_read_from_its_beginning),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker readings", tests, start, NULL);
}
