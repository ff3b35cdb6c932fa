/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_write.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/message/message.h"
#include "tests/unit/api/message/json_testing.h"

static const struct enum_value color_values[] = { { "NONE", 0, NULL }, { "RED", 1, NULL }, { .name = NULL } };
static const struct enum_type color = { .full_name = "Color", .values = color_values };
static const struct field part_fields[] = {
	{ .name = "id", .type = FIELD_STRING },
	{ .name = "share", .type = FIELD_DOUBLE },
	{ .name = NULL },
};
static const struct message part = { .full_name = "Part", .fields = part_fields };
static const struct field thing_fields[] = {
	{ .name = "name", .type = FIELD_STRING },
	{ .name = "count", .type = FIELD_INT32 },
	{ .name = "size", .type = FIELD_INT64 },
	{ .name = "color", .type = FIELD_ENUM, .enum_type = &color },
	{ .name = "begin", .type = FIELD_TIMESTAMP },
	{ .name = "isDone", .type = FIELD_BOOL },
	{ .name = "part", .type = FIELD_MESSAGE, .message = &part },
	{ .name = "parts", .type = FIELD_MESSAGE, .flags = FIELD_REPEATED, .message = &part },
	{ .name = "labels", .type = FIELD_STRING, .flags = FIELD_MAP },
	{ .name = "given", .type = FIELD_STRUCT },
	{ .name = NULL },
};
static const struct message thing = { .full_name = "Thing", .fields = thing_fields };

static void a_member_travels_as_its_row_says(void **state)
{
	struct text text AUTO_TEXT = { 0 };
	struct writer writer = message_open(&text, &thing), inner;

	(void)state;
	member_text(&writer, "name", "a \"b\"");
	member_int(&writer, "count", -12);
	member_int(&writer, "size", INT64_MIN);
	member_text(&writer, "color", "RED");
	member_time(&writer, "begin", 1700000000123456, TIME_SECONDS);
	member_time(&writer, "begin", 1700000000123456, TIME_MILLISECONDS);
	member_time(&writer, "begin", 1700000000123456, TIME_MICROSECONDS);
	member_bool(&writer, "isDone", false);
	inner = member_message(&writer, "part");
	member_int(&inner, "id", 7);
	member_double(&inner, "share", 0.25);
	message_close(&inner);
	member_printf(&writer, "name", "%s/%d", "x", 3);
	message_close(&writer);
	assert_string_equal(
		text.data, "{\"name\":\"a \\\"b\\\"\",\"count\":-12,\"size\":\"-9223372036854775808\","
			   "\"color\":\"RED\",\"begin\":\"2023-11-14T22:13:20Z\","
			   "\"begin\":\"2023-11-14T22:13:20.123Z\",\"begin\":\"2023-11-14T22:13:20.123456Z\","
			   "\"isDone\":false,\"part\":{\"id\":\"7\",\"share\":0.25},\"name\":\"x/3\"}");
}

static void what_is_absent_is_not_written(void **state)
{
	struct text text AUTO_TEXT = { 0 };
	struct writer writer = message_open(&text, &thing), inner;

	(void)state;
	member_text(&writer, "name", NULL);
	member_time(&writer, "begin", 0, TIME_SECONDS);
	member_json(&writer, "given", NULL);
	member_value(&writer, "given", NULL);
	members_json(&writer, NULL);
	members_json(&writer, "{}");
	inner = member_list(&writer, "parts");
	message_close(&inner);
	inner = member_map(&writer, "labels");
	message_close(&inner);
	inner = member_message(&writer, "part");
	message_close(&inner);
	message_close(&writer);
	assert_string_equal(text.data, "{\"part\":{}}");
}

static void lists_and_maps_begin_with_their_first_element(void **state)
{
	struct text text AUTO_TEXT = { 0 };
	struct writer writer = message_open(&text, &thing), list, element, map;

	(void)state;
	members_json(&writer, "{\"kept\":1}");
	list = member_list(&writer, "parts");
	for (int i = 0; i < 2; i++) {
		element = element_message(&list);
		member_int(&element, "id", i);
		message_close(&element);
	}
	element_json(&list, "{}", 2);
	message_close(&list);
	map = member_map(&writer, "labels");
	member_text(&map, "k\"", "v");
	member_text(&map, "l", "w");
	message_close(&map);
	members_json(&writer, "{\"last\":[]}");
	message_close(&writer);
	assert_string_equal(text.data, "{\"kept\":1,\"parts\":[{\"id\":\"0\"},{\"id\":\"1\"},{}],"
				       "\"labels\":{\"k\\\"\":\"v\",\"l\":\"w\"},\"last\":[]}");
}

static void write_unknown_name(struct writer *writer)
{
	member_text(writer, "nmae", "x");
}

static void write_wrong_type(struct writer *writer)
{
	member_text(writer, "count", "x");
}

static void write_wrong_number(struct writer *writer)
{
	member_int(writer, "isDone", 1);
}

static void write_unknown_value(struct writer *writer)
{
	member_text(writer, "color", "BLUE");
}

static void write_list_of_one(struct writer *writer)
{
	member_list(writer, "part");
}

/* Whether the call ends the program. */
static bool ends_program(void (*write_wrongly)(struct writer *))
{
	int status = 0;
	const pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		struct text text = { 0 };
		struct writer writer = message_open(&text, &thing);

		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		write_wrongly(&writer);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void what_the_table_does_not_have_ends_the_program(void **state)
{
	(void)state;
	assert_true(ends_program(write_unknown_name));
	assert_true(ends_program(write_wrong_type));
	assert_true(ends_program(write_wrong_number));
	assert_true(ends_program(write_unknown_value));
	assert_true(ends_program(write_list_of_one));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_member_travels_as_its_row_says),
		cmocka_unit_test(what_is_absent_is_not_written),
		cmocka_unit_test(lists_and_maps_begin_with_their_first_element),
		cmocka_unit_test(what_the_table_does_not_have_ends_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
