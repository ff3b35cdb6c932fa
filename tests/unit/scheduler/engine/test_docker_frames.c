/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_frames.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"
#include "scheduler/engine/docker_frames.h"
#include "tests/unit/testing.h"

#define STAMP(second) "2026-11-20T21:29:" second ".000000001Z "

/* The decoded lines: "STREAM@NANOSECONDS-OF-THE-MINUTE:TEXT\n", with "+" before the newline for a part of a line. */
struct got {
	struct text text;
	unsigned refuse; /* how many lines the sink refuses */
};

static bool take(void *arg, const struct frames_line *line)
{
	struct got *got = arg;

	if (got->refuse > 0) {
		got->refuse--;
		return false;
	}
	text_printf(&got->text, "%d@%lld:", line->stream, (long long)(line->time_ns % INT64_C(60000000000)));
	text_append(&got->text, line->data, line->length);
	text_puts(&got->text, line->continues ? "+\n" : "\n");
	return true;
}

static void frame(struct text *stream, int number, const char *payload)
{
	size_t length = strlen(payload);
	const unsigned char header[8] = { (unsigned char)number,
					  0,
					  0,
					  0,
					  (unsigned char)(length >> 24),
					  (unsigned char)(length >> 16),
					  (unsigned char)(length >> 8),
					  (unsigned char)length };

	text_append(stream, header, sizeof(header));
	text_append(stream, payload, length);
}

/* Feeds the stream in pieces of @piece bytes, and again after each refusal. */
static enum frames_result feed(struct frames *frames, const struct text *stream, size_t piece)
{
	for (size_t at = 0; at < stream->length;) {
		size_t length = stream->length - at < piece ? stream->length - at : piece, consumed, from = 0;
		/* Copied to its exact size, so that a sanitizer finds a read beyond it. */
		char *copy = malloc(length);
		enum frames_result result;

		memcpy(copy, stream->data + at, length);
		do {
			result = frames_feed(frames, copy + from, length - from, &consumed);
			from += consumed;
		} while (result == FRAMES_HELD);
		free(copy);
		if (result == FRAMES_BROKEN)
			return result;
		assert_int_equal(from, length);
		at += length;
	}
	return FRAMES_TAKEN;
}

/* The lines must be the same however the stream is cut, and whatever is refused. */
static void expect_lines_at(const struct text *stream, enum frames_times times, size_t line_max, const char *lines)
{
	for (size_t piece = 1; piece <= stream->length + 1; piece += piece < 70 ? 1 : 37) {
		for (unsigned refuse = 0; refuse < 4; refuse += 3) {
			struct got got = { .refuse = refuse };
			struct frames frames;

			frames_init(&frames, line_max, take, &got);
			frames_reset(&frames, times);
			assert_int_equal(feed(&frames, stream, piece), FRAMES_TAKEN);
			while (frames_end(&frames) == FRAMES_HELD)
				;
			text_append(&got.text, "", 0);
			assert_string_equal(got.text.data, lines);
			frames_deinit(&frames);
			text_deinit(&got.text);
		}
	}
}

static void expect_lines(const struct text *stream, size_t line_max, const char *lines)
{
	expect_lines_at(stream, FRAMES_TIMES_EXACT, line_max, lines);
}

static void lines_of_both_streams_come_in_order(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, STAMP("01") "one\n");
	frame(&stream, 2, STAMP("02") "two\n");
	frame(&stream, 1, STAMP("03") "\n");
	frame(&stream, 1, STAMP("04") " four \r\n");
	expect_lines(&stream, 1000,
		     "1@1000000001:one\n2@2000000001:two\n1@3000000001:\n1@4000000001: four \r\n");
}

static void a_long_line_arrives_whole(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, STAMP("01") "abc");
	frame(&stream, 1, STAMP("01") "def");
	frame(&stream, 1, STAMP("01") "ghi\n");
	frame(&stream, 1, STAMP("02") "next\n");
	expect_lines(&stream, 1000, "1@1000000001:abcdefghi\n1@2000000001:next\n");
}

static void long_lines_of_both_streams_do_not_mix(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, STAMP("01") "out");
	frame(&stream, 2, STAMP("02") "err");
	frame(&stream, 1, STAMP("01") "put\n");
	frame(&stream, 2, STAMP("02") "or\n");
	expect_lines(&stream, 1000, "1@1000000001:output\n2@2000000001:error\n");
}

static void a_too_long_line_is_cut_into_parts(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, STAMP("01") "0123456789abcdef");
	frame(&stream, 1, STAMP("01") "ghij\n");
	frame(&stream, 1, STAMP("02") "01234567\n");
	expect_lines(&stream, 8,
		     "1@1000000001:01234567+\n1@1000000001:89abcdef+\n1@1000000001:ghij\n"
		     "1@2000000001:01234567\n");
}

static void a_cut_does_not_split_a_character(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, STAMP("01") "abcdefg\xc3\xa9h\n");
	frame(&stream, 1, STAMP("02") "abcd\xf0\x9f\x9a\x82xy\n");
	frame(&stream, 1, STAMP("03") "abcde\xf0\x9f\x9a\x82y\n");
	frame(&stream, 1, STAMP("04") "\x80\x80\x80\x80\x80\x80\x80\x80\x80\n");
	expect_lines(&stream, 8,
		     "1@1000000001:abcdefg+\n1@1000000001:\xc3\xa9h\n"
		     "1@2000000001:abcd\xf0\x9f\x9a\x82+\n1@2000000001:xy\n"
		     "1@3000000001:abcde+\n1@3000000001:\xf0\x9f\x9a\x82y\n"
		     "1@4000000001:\x80\x80\x80\x80\x80\x80\x80\x80+\n1@4000000001:\x80\n");
}

static void a_last_line_needs_no_newline(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, STAMP("01") "a\n");
	frame(&stream, 2, STAMP("02") "no newline");
	expect_lines(&stream, 1000, "1@1000000001:a\n2@2000000001:no newline\n");
}

static void a_later_line_ends_one_without_a_newline(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, STAMP("01") "cut short");
	frame(&stream, 1, STAMP("02") "next\n");
	expect_lines(&stream, 1000, "1@1000000001:cut short\n1@2000000001:next\n");
}

static void a_reset_forgets_what_was_begun(void **state)
{
	struct text begun AUTO_TEXT = { 0 }, stream AUTO_TEXT = { 0 };
	struct got got = { 0 };
	struct frames frames;

	(void)state;
	frame(&begun, 1, STAMP("01") "begun");
	text_append(&begun, "\1\0\0", 3);
	frame(&stream, 1, STAMP("02") "whole\n");
	frames_init(&frames, 1000, take, &got);
	feed(&frames, &begun, 7);
	frames_reset(&frames, FRAMES_TIMES_EXACT);
	feed(&frames, &stream, 7);
	assert_int_equal(frames_end(&frames), FRAMES_TAKEN);
	assert_string_equal(got.text.data, "1@2000000001:whole\n");
	frames_deinit(&frames);
	text_deinit(&got.text);
}

#define SECOND(second) "2026-11-20T21:29:" second "Z "

/* Fails with: numbered_hand_over() that counts a refused line, or counts on in the next second. */
static void lines_of_one_second_are_a_nanosecond_apart(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, SECOND("01") "a\n");
	frame(&stream, 2, SECOND("01") "b\n");
	frame(&stream, 1, SECOND("01") "c\n");
	frame(&stream, 1, SECOND("02") "d\n");
	expect_lines_at(&stream, FRAMES_TIMES_SECONDS, 1000,
			"1@1000000000:a\n2@1000000001:b\n1@1000000002:c\n1@2000000000:d\n");
}

/* A program prints "ab" and later more of the line. The line's time must be the same if its beginning is not read.
 * Fails with: stamp_finish() that ends it; the time of its first frame; text_feed() without numbered: the parts were not of
 * one time. */
static void where_times_are_seconds_only_a_newline_ends_a_line(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, SECOND("01") "ab");
	frame(&stream, 2, SECOND("02") "x\n");
	frame(&stream, 1, SECOND("02") "cd\n");
	frame(&stream, 1, SECOND("02") "abcdefg");
	frame(&stream, 2, SECOND("02") "y\n");
	frame(&stream, 1, SECOND("03") "h\n");
	frame(&stream, 1, SECOND("03") "last");
	expect_lines_at(&stream, FRAMES_TIMES_SECONDS, 5,
			"2@2000000000:x\n1@2000000001:abcd\n1@2000000002:abcde+\n2@2000000003:y\n1@2000000002:fgh\n"
			"1@3000000000:last\n");
}

/* Fails with: frames_unfinished_ns() of time_ns, or of one stream. */
static void an_unfinished_line_tells_when_it_began(void **state)
{
	struct text stream AUTO_TEXT = { 0 }, rest AUTO_TEXT = { 0 };
	struct got got = { 0 };
	struct frames frames;
	int64_t begun_ns;

	(void)state;
	frame(&stream, 1, SECOND("03") "late");
	frame(&stream, 2, SECOND("01") "ea");
	frame(&stream, 2, SECOND("02") "rly");
	frame(&rest, 1, SECOND("05") "\n");
	frame(&rest, 2, SECOND("05") "\n");
	frames_init(&frames, 1000, take, &got);
	frames_reset(&frames, FRAMES_TIMES_SECONDS);
	assert_true(frames_unfinished_ns(&frames) == INT64_MAX);
	feed(&frames, &stream, stream.length);
	assert_true(frames_parse_stamp(&frames, "2026-11-20T21:29:01Z", 20, &begun_ns));
	assert_int_equal(frames_unfinished_ns(&frames), begun_ns);
	feed(&frames, &rest, rest.length);
	assert_true(frames_unfinished_ns(&frames) == INT64_MAX);
	frames_deinit(&frames);
	text_deinit(&got.text);
}

static void what_is_no_log_stream_is_refused(void **state)
{
	static const struct {
		const char *data;
		size_t length;
	} streams[] = {
		{ "plain text of a terminal\n", 25 },
		{ "\0\0\0\0\0\0\0\5hello", 13 },    /* stdin */
		{ "\3\0\0\0\0\0\0\5hello", 13 },    /* an unknown stream */
		{ "\1\0\0\0\0\0\0\5hello", 13 },    /* no timestamp */
		{ "\1\0\0\0\0\0\0\7hel lo\n", 15 }, /* not a timestamp */
		{ "\1\0\0\0\0\0\0\57"
		  "2026-11-20T21:29:51.000000001Z0123456789abcdef \n",
		  55 }, /* a timestamp without an end */
		{ "\1\0\0\0\377\377\377\377"
		  "0123456789012345678901234567890123456789 1234",
		  53 },
		{ "\1\0\0\0\0\0\0\40"
		  "2026-13-20T21:29:51.000000001Z \n",
		  40 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		for (size_t piece = 1; piece <= streams[i].length; piece++) {
			struct text stream AUTO_TEXT = { 0 };
			struct got got = { 0 };
			struct frames frames;

			text_append(&stream, streams[i].data, streams[i].length);
			frames_init(&frames, 1000, take, &got);
			if (feed(&frames, &stream, piece) != FRAMES_BROKEN)
				fail_msg("stream %zu is taken in pieces of %zu", i, piece);
			frames_deinit(&frames);
			text_deinit(&got.text);
		}
	}
}

static void empty_frames_say_nothing(void **state)
{
	struct text stream AUTO_TEXT = { 0 };

	(void)state;
	frame(&stream, 1, "");
	frame(&stream, 1, STAMP("01"));
	frame(&stream, 1, STAMP("02") "x\n");
	expect_lines(&stream, 1000, "1@2000000001:x\n");
}

static void stamps_are_read_with_any_number_of_digits(void **state)
{
	static const struct {
		const char *stamp;
		int64_t ns;
	} stamps[] = {
		{ "2026-11-20T21:29:51.000000001Z", INT64_C(1795210191000000001) },
		{ "2026-11-20T21:29:51.5Z", INT64_C(1795210191500000000) },
		{ "2026-11-20T21:29:51Z", INT64_C(1795210191000000000) },
		{ "2026-11-20T21:30:00.123456789Z", INT64_C(1795210200123456789) },
		{ "2026-11-20T22:29:51.25+01:00", INT64_C(1795210191250000000) },
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2261-12-31T23:59:59.999999999Z", INT64_C(9214646399999999999) },
		{ "1678-01-01T00:00:00Z", INT64_C(-9214560000000000000) },
	};
	static const char *const none[] = { "",
					    "Z",
					    "2026-11-20",
					    "2026-11-20T21:29:5xZ",
					    "2026-11-20T21:29:60Z",
					    "2026-11-20T21:29:51.Z",
					    "8105-11-20T21:29:51.000000002Z",
					    "8105-11-20T21:29:51.25+01:00",
					    "0001-11-20T21:29:51.000000002Z",
					    "2026-11-20T21:29:51.x5Z",
					    "2026-11-20T21:29:51.0000000001234567890123456789Z",
					    "2026-11-20T21:29:51" };
	struct frames frames;
	int64_t ns;

	(void)state;
	frames_init(&frames, 1000, take, NULL);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++) {
			assert_true(
				frames_parse_stamp(&frames, stamps[i].stamp, strlen(stamps[i].stamp), &ns));
			assert_int_equal(ns, stamps[i].ns);
		}
		for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
			assert_false(frames_parse_stamp(&frames, none[i], strlen(none[i]), &ns));
	}
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_both_streams_come_in_order),
		cmocka_unit_test(a_long_line_arrives_whole),
		cmocka_unit_test(long_lines_of_both_streams_do_not_mix),
		cmocka_unit_test(a_too_long_line_is_cut_into_parts),
		cmocka_unit_test(a_cut_does_not_split_a_character),
		cmocka_unit_test(a_last_line_needs_no_newline),
		cmocka_unit_test(a_later_line_ends_one_without_a_newline),
		cmocka_unit_test(a_reset_forgets_what_was_begun),
		cmocka_unit_test(lines_of_one_second_are_a_nanosecond_apart),
		cmocka_unit_test(where_times_are_seconds_only_a_newline_ends_a_line),
		cmocka_unit_test(an_unfinished_line_tells_when_it_began),
		cmocka_unit_test(what_is_no_log_stream_is_refused),
		cmocka_unit_test(empty_frames_say_nothing),
		cmocka_unit_test(stamps_are_read_with_any_number_of_digits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_frames", tests, NULL, NULL);
}
