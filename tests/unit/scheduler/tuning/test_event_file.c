/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "daemon/base/text.h"
#include "scheduler/tuning/event_file.h"
#include "tests/support/event_writing.h"
#include "tests/unit/scheduler/tuning/reader_testing.h"

/* By tensorboard 2.21.0, tensorboard.summary.writer.event_file_writer: accuracy as tensors with the plugin's name at
 * steps 1 and 2, loss and accuracy as simple values in one event at step 3. */
static const char tensorboard_file[] =
	"4800000000000000fe92489d0900001040fc54d9411a0d627261696e2e4576656e743a32522e0a2c74656e736f72626f6172642e7375"
	"6d6d6172792e7772697465722e6576656e745f66696c655f77726974657275711fd63200000000000000241956ec0900006040fc54d9"
	"4110012a250a230a086163637572616379420a080112002a040000003f4a0b0a090a077363616c617273c67590353200000000000000"
	"241956ec090000a040fc54d94110022a250a230a086163637572616379420a080112002a040000403f4a0b0a090a077363616c617273"
	"85f2319e2b00000000000000861bc34b090000e040fc54d94110032a1e0a0b0a046c6f7373150000003e0a0f0a086163637572616379"
	"150000603f68c8b85d";
static const struct expected tensorboard_expected[] = {
	{ 1, 1.5, 0.5, NAN },
	{ 2, 2.5, 0.75, NAN },
	{ 3, 3.5, 0.875, 0.125 },
};

/* By tensorboardX 2.6.5: accuracy at steps 1 and 2, between them loss as NaN. */
static const char tensorboardx_file[] =
	"1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe91e00000000000000d9dc12320900"
	"006040fc54d94110012a110a0f0a086163637572616379150000003fc11c30d21a00000000000000129bd82d0900007040fc54d94110"
	"012a0d0a0b0a046c6f7373150000c07f54e6034b1e00000000000000d9dc1232090000a040fc54d94110022a110a0f0a086163637572"
	"616379150000403f99b0dd11";

struct reading {
	struct event_file file;
	struct metric_report report;
};

static int reading_setup(void **state)
{
	struct reading *reading = calloc(1, sizeof(*reading));

	assert_non_null(reading);
	metric_report_init(&reading->report, two_metrics, 2, STARTED_S);
	event_file_init(&reading->file, 0);
	*state = reading;
	return 0;
}

static int reading_teardown(void **state)
{
	struct reading *reading = *state;

	event_file_deinit(&reading->file);
	metric_report_deinit(&reading->report);
	free(reading);
	return 0;
}

static struct reading *reading_renew(void **state)
{
	reading_teardown(state);
	reading_setup(state);
	return *state;
}

/* In a block of its own, so that a sanitizer sees a step beyond it. */
static enum status piece_feed(struct reading *reading, const char *data, size_t length, struct error *err)
{
	AUTO(string) char *copy = malloc(length ? length : 1);

	assert_non_null(copy);
	memcpy(copy, data, length);
	return event_file_feed(&reading->file, &reading->report, reading->file.offset, copy, length, err);
}

static void text_feed(struct reading *reading, const struct text *text)
{
	assert_int_equal(piece_feed(reading, text->data, text->length, NULL), STATUS_OK);
	assert_int_equal(reading->file.whole_bytes, reading->file.offset);
}

static unsigned digit_of(char digit)
{
	return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a') + 10;
}

static void hex_read(struct text *text, const char *hex)
{
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		text_putc(text, (char)(digit_of(hex[0]) << 4 | digit_of(hex[1])));
		hex++;
	}
}

/* ---- writing ---- */

static void scalar_write(struct text *text, int64_t step, const char *tag, float number)
{
	scalar_event_write(text, STARTED_S + 1, step, tag, number);
}

/* ---- real files ---- */

static void the_writers_own_files_are_read(void **state)
{
	static const struct expected x_expected[] = { { 1, 1.5, 0.5, NAN }, { 2, 2.5, 0.75, NAN } };
	struct reading *reading = *state;
	struct text text AUTO_TEXT = { 0 };

	hex_read(&text, tensorboard_file);
	text_feed(reading, &text);
	expect_measurements(&reading->report, tensorboard_expected, COUNT_OF(tensorboard_expected));
	text_clear(&text);
	hex_read(&text, tensorboardx_file);
	reading = reading_renew(state);
	text_feed(reading, &text);
	expect_measurements(&reading->report, x_expected, COUNT_OF(x_expected));
	assert_true(reading->report.is_unusable[1] && !reading->report.is_broken);
}

static void a_growing_file_is_read_in_pieces_of_any_size(void **state)
{
	struct text text AUTO_TEXT = { 0 };

	hex_read(&text, tensorboard_file);
	for (size_t size = 1; size <= text.length; size++) {
		struct reading *reading = reading_renew(state);

		for (size_t at = 0; at < text.length; at += size)
			assert_int_equal(piece_feed(reading, text.data + at,
						    text.length - at < size ? text.length - at : size, NULL),
					 STATUS_OK);
		expect_measurements(&reading->report, tensorboard_expected, COUNT_OF(tensorboard_expected));
		assert_int_equal(reading->file.whole_bytes, text.length);
	}
}

static void a_reader_may_go_on_where_another_ended(void **state)
{
	struct text text AUTO_TEXT = { 0 };

	hex_read(&text, tensorboard_file);
	for (size_t cut = 0; cut <= text.length; cut++) {
		struct reading *reading = reading_renew(state);
		int64_t whole;

		assert_int_equal(piece_feed(reading, text.data, cut, NULL), STATUS_OK);
		whole = reading->file.whole_bytes;
		assert_true(whole <= (int64_t)cut);
		event_file_deinit(&reading->file);
		event_file_init(&reading->file, whole);
		assert_int_equal(piece_feed(reading, text.data + whole, text.length - (size_t)whole, NULL),
				 STATUS_OK);
		expect_measurements(&reading->report, tensorboard_expected, COUNT_OF(tensorboard_expected));
	}
}

static void each_wrong_byte_is_noticed_and_nothing_after_it_is_taken(void **state)
{
	struct text text AUTO_TEXT = { 0 };

	hex_read(&text, tensorboard_file);
	for (size_t i = 0; i < text.length; i++) {
		struct reading *reading = reading_renew(state);
		struct error err AUTO_ERROR = { 0 };
		size_t taken;

		text.data[i] ^= 0x10;
		assert_int_equal(piece_feed(reading, text.data, text.length, &err), STATUS_DATA_LOSS);
		assert_non_null(strstr(err.text, "wrong checksum"));
		assert_true(reading->report.is_broken && reading->file.whole_bytes <= (int64_t)i);
		taken = reading->report.measurement_count;
		assert_true(taken < COUNT_OF(tensorboard_expected));
		expect_measurements(&reading->report, tensorboard_expected, taken);
		text.data[i] ^= 0x10;
		assert_int_equal(piece_feed(reading, text.data, text.length, NULL), STATUS_DATA_LOSS);
		assert_int_equal(reading->report.measurement_count, taken);
	}
}

static void bytes_from_elsewhere_are_refused(void **state)
{
	struct reading *reading = *state;
	struct text text AUTO_TEXT = { 0 };

	hex_read(&text, tensorboard_file);
	assert_int_equal(event_file_feed(&reading->file, &reading->report, 1, text.data, 1, NULL),
			 STATUS_OUT_OF_RANGE);
	assert_int_equal(event_file_feed(&reading->file, &reading->report, 0, text.data, 20, NULL),
			 STATUS_OK);
	assert_int_equal(event_file_feed(&reading->file, &reading->report, 0, text.data, 20, NULL),
			 STATUS_OUT_OF_RANGE);
	assert_int_equal(
		event_file_feed(&reading->file, &reading->report, 20, text.data + 20, text.length - 20, NULL),
		STATUS_OK);
	expect_measurements(&reading->report, tensorboard_expected, COUNT_OF(tensorboard_expected));
}

static void expect_no_event_file(void **state, const struct text *text, const char *words)
{
	struct reading *reading = reading_renew(state);
	struct error err AUTO_ERROR = { 0 };

	assert_int_equal(piece_feed(reading, text->data, text->length, &err), STATUS_DATA_LOSS);
	assert_non_null(strstr(err.text, words));
	assert_non_null(strstr(err.text, "at byte 0 "));
	expect_measurements(&reading->report, NULL, 0);
}

static void a_file_without_version_is_no_event_file(void **state)
{
	struct text text AUTO_TEXT = { 0 }, event AUTO_TEXT = { 0 };

	scalar_write(&text, 1, "accuracy", 0.5F);
	expect_no_event_file(state, &text, "does not name the version");
	text_clear(&text);
	record_write(&text, "", 0);
	expect_no_event_file(state, &text, "does not name the version");
	text_clear(&text);
	bytes_write(&event, 3, "brain.Event", 11);
	record_write(&text, event.data, event.length);
	expect_no_event_file(state, &text, "does not name the version");
	text_clear(&text);
	text_puts(&text, "{\"accuracy\": \"0.5\"}\n");
	expect_no_event_file(state, &text, "length with a wrong checksum");
}

static void a_record_longer_than_any_event_is_refused_at_once(void **state)
{
	struct text text AUTO_TEXT = { 0 };

	fixed_write(&text, EVENT_RECORD_BYTES_MAX, 8);
	masked_crc_write(&text, text.data, 8);
	assert_int_equal(piece_feed(*state, text.data, text.length, NULL), STATUS_OK);
	text_clear(&text);
	fixed_write(&text, EVENT_RECORD_BYTES_MAX + 1, 8);
	masked_crc_write(&text, text.data, 8);
	expect_no_event_file(state, &text, "longer than an event can be");
	text_clear(&text);
	fixed_write(&text, UINT64_MAX, 8);
	masked_crc_write(&text, text.data, 8);
	expect_no_event_file(state, &text, "longer than an event can be");
}

/* A graph of @size bytes in all, and then a scalar. */
static void graph_write(struct text *text, size_t size)
{
	struct text event AUTO_TEXT = { 0 }, graph AUTO_TEXT = { 0 };

	while (graph.length < size - 5)
		text_putc(&graph, 'g');
	message_write(&event, 4, &graph);
	record_write(text, event.data, size);
	scalar_write(text, 1, "accuracy", 0.5F);
}

static void large_events_are_passed_over_and_checked(void **state)
{
	static const struct expected expected[] = { { 1, 1, 0.5, NAN } };
	static const size_t sizes[] = { 1024 * 1024, EVENT_BYTES_MAX, EVENT_BYTES_MAX + 1 };

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct reading *reading = reading_renew(state);
		struct text text AUTO_TEXT = { 0 };

		version_write(&text);
		graph_write(&text, sizes[i]);
		text_feed(reading, &text);
		expect_measurements(&reading->report, expected, 1);
		assert_true(reading->file.data.size < 1024 * 1024);
		reading = reading_renew(state);
		text.data[1000] ^= 1;
		assert_int_equal(piece_feed(reading, text.data, text.length, NULL), STATUS_DATA_LOSS);
		expect_measurements(&reading->report, NULL, 0);
	}
}

/* ---- what events hold ---- */

/* Tensors as hexadecimal bytes, and what they are. */
static const struct {
	const char *tensor;
	double value; /* NAN: no scalar */
} tensors[] = {
	{ "080112002a040000003f", 0.5 },                                /* DT_FLOAT, float_val packed */
	{ "0801120025", NAN },                                          /* not packed and cut: malformed */
	{ "08012d0000003f", 0.5 },                                      /* not packed, no shape */
	{ "08012d0000003f2d0000003f", NAN },                            /* two */
	{ "08012a080000003f0000003f", NAN },                            /* two, packed */
	{ "080112002a00", NAN },                                        /* none */
	{ "08011200", NAN },                                            /* none at all */
	{ "2a040000003f1200 0801", 0.5 },                               /* the type last */
	{ "08011200 2204 0000003f", 0.5 },                              /* tensor_content */
	{ "08011200 2203 000000", NAN },                                /* too short */
	{ "08011200 2208 0000003f0000003f", NAN },                      /* two */
	{ "0801 120412020801 2204 0000003f", 0.5 },                     /* shape [1] */
	{ "0801 1208 12020801 12020801 2204 0000003f", 0.5 },           /* shape [1, 1] */
	{ "0801 1208 12020801 12020802 2a04 0000003f", NAN },           /* shape [1, 2] */
	{ "0801 12021200 2a04 0000003f", NAN },                         /* shape [0] */
	{ "0801 120d 120b 08ffffffffffffffffff01 2a04 0000003f", NAN }, /* shape [-1] */
	{ "0802 3208 000000000000e03f", 0.5 },                          /* DT_DOUBLE, double_val */
	{ "0802 31 000000000000e0bf", -0.5 },
	{ "0802 2208 000000000000e03f", 0.5 },
	{ "0803 3a01 05", 5 }, /* DT_INT32, int_val */
	{ "0803 38 ffffffffffffffffff01", -1 },
	{ "0803 2204 feffffff", -2 },
	{ "0809 5201 05", 5 }, /* DT_INT64, int64_val */
	{ "0809 5209 ffffffffffffffff7f", 0x1p63 },
	{ "0809 2208 feffffffffffffff", -2 },
	{ "080e 6a02 807e", 0.5 }, /* DT_BFLOAT16, half_val: bits 0x3f00 */
	{ "080e 2202 003f", 0.5 },
	{ "0813 6a02 8070", 0.5 }, /* DT_HALF, half_val: bits 0x3800 */
	{ "0813 2202 0038", 0.5 },
	{ "0813 2202 00b8", -0.5 },
	{ "0813 2202 ff7b", 65504 },
	{ "0813 2202 0100", 0x1p-24 },
	{ "0813 2202 0004", 0x1p-14 },
	{ "0813 2202 0000", 0 },
	{ "0813 2202 007c", NAN }, /* infinite */
	{ "0813 2202 017e", NAN },
	{ "0801 2204 0000807f", NAN }, /* infinite */
	{ "0807 4203 302e35", NAN },   /* DT_STRING */
	{ "080a 5801", NAN },          /* DT_BOOL */
	{ "3a01 05", NAN },            /* no type */
	{ "0803 3a02 8080", NAN },     /* a varint that does not end */
};

static void tensor_event_write(struct text *text, const char *hex)
{
	struct text tensor AUTO_TEXT = { 0 }, rest AUTO_TEXT = { 0 }, values AUTO_TEXT = { 0 };

	hex_read(&tensor, hex);
	message_write(&rest, 8, &tensor);
	value_write(&values, "accuracy", &rest);
	event_write(text, STARTED_S + 1, 1, &values);
}

static void tensors_of_one_element_are_scalars(void **state)
{
	for (size_t i = 0; i < COUNT_OF(tensors); i++) {
		const struct expected expected = { 1, 1, tensors[i].value, NAN };
		struct reading *reading = reading_renew(state);
		struct text text AUTO_TEXT = { 0 };

		version_write(&text);
		tensor_event_write(&text, tensors[i].tensor);
		text_feed(reading, &text);
		expect_measurements(&reading->report, &expected, !isnan(tensors[i].value));
		assert_true(reading->report.is_unusable[0] || reading->report.is_broken ||
			    reading->report.has_arrived[0]);
	}
}

static void plugin_event_write(struct text *text, const char *plugin)
{
	struct text rest AUTO_TEXT = { 0 }, values AUTO_TEXT = { 0 }, data AUTO_TEXT = { 0 },
			 metadata AUTO_TEXT = { 0 };

	if (plugin)
		bytes_write(&data, 1, plugin, strlen(plugin));
	bytes_write(&data, 2, "content", 7);
	message_write(&metadata, 1, &data);
	bytes_write(&metadata, 2, "its name", 8);
	float_write(&rest, 2, 0.5F);
	message_write(&rest, 9, &metadata);
	value_write(&values, "accuracy", &rest);
	event_write(text, STARTED_S + 1, 1, &values);
}

static void values_of_other_plugins_are_no_scalars(void **state)
{
	static const struct {
		const char *plugin;
		bool is_scalar;
	} rows[] = { { "scalars", true }, { NULL, true },    { "", true },
		     { "scalar", false }, { "text", false }, { "scalars2", false } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct reading *reading = reading_renew(state);
		struct text text AUTO_TEXT = { 0 };

		version_write(&text);
		plugin_event_write(&text, rows[i].plugin);
		text_feed(reading, &text);
		assert_int_equal(reading->report.measurement_count, rows[i].is_scalar);
		assert_int_equal(reading->report.is_unusable[0], !rows[i].is_scalar);
	}
}

static void scalars_of_other_tags_are_noted(void **state)
{
	struct reading *reading = *state;
	struct text text AUTO_TEXT = { 0 }, absence AUTO_TEXT = { 0 };

	version_write(&text);
	scalar_write(&text, 1, "epoch_accuracy", 0.5F);
	scalar_write(&text, 1, "epoch_loss", 0.5F);
	scalar_write(&text, -2, "loss", 0.25F);
	text_feed(reading, &text);
	assert_int_equal(reading->report.measurement_count, 1);
	assert_int_equal(reading->report.measurements[0].step, -2);
	metric_absence_text(&absence, &reading->report, 0, METRIC_SOURCE_READ, NULL);
	assert_string_equal(absence.data,
			    "The metric \"accuracy\" was not reported: reports came under other tags "
			    "only: \"epoch_accuracy\", \"epoch_loss\".");
}

/* Messages in hexadecimal that are no event's. */
static const char *const malformed[] = {
	"09",                       /* a double that is not there */
	"0900000000000000",         /* cut */
	"10",                       /* a varint that is not there */
	"10ffffffffffffffffffff01", /* of eleven bytes */
	"2a05",                     /* longer than what is left */
	"2affffffffffffffffff01",   /* the longest */
	"00",                       /* field 0 */
	"0b0c",                     /* groups */
	"0e",                       /* no type */
	"8080808080800100",         /* a field too high */
	"2a020a05",                 /* inside of the summary */
	"2a0a0a0a0a08616363757261",
	"2a110a0f0a0861636375726163794205",
};

static void malformed_events_are_passed_over(void **state)
{
	static const struct expected expected[] = { { 1, 1, 0.5, NAN } };

	for (size_t i = 0; i < COUNT_OF(malformed); i++) {
		struct reading *reading = reading_renew(state);
		struct text text AUTO_TEXT = { 0 }, event AUTO_TEXT = { 0 };

		version_write(&text);
		hex_read(&event, malformed[i]);
		record_write(&text, event.data, event.length);
		text_feed(reading, &text);
		assert_true(reading->report.is_broken);
		text_clear(&text);
		scalar_write(&text, 1, "accuracy", 0.5F);
		text_feed(reading, &text);
		expect_measurements(&reading->report, expected, 1);
	}
}

static void of_an_event_that_is_broken_nothing_is_taken(void **state)
{
	struct reading *reading = *state;
	struct text text AUTO_TEXT = { 0 }, rest AUTO_TEXT = { 0 }, values AUTO_TEXT = { 0 };

	version_write(&text);
	float_write(&rest, 2, 0.5F);
	value_write(&values, "accuracy", &rest);
	text_puts(&values, "\x0a\x05");
	event_write(&text, STARTED_S + 1, 1, &values);
	text_feed(reading, &text);
	expect_measurements(&reading->report, NULL, 0);
	assert_true(reading->report.is_broken && !reading->report.has_arrived[0]);
}

static void events_without_summaries_and_unknown_fields_are_passed_over(void **state)
{
	static const struct expected expected[] = { { 0, 0, 0.5, NAN } };
	struct reading *reading = *state;
	struct text text AUTO_TEXT = { 0 }, event AUTO_TEXT = { 0 }, value AUTO_TEXT = { 0 },
			 values AUTO_TEXT = { 0 };

	version_write(&text);
	record_write(&text, "", 0);
	bytes_write(&event, 7, "\x08\x01", 2); /* a session's start */
	record_write(&text, event.data, event.length);
	text_clear(&event);
	float_write(&value, 2, 0.5F);
	float_write(&value, 200, 1);
	double_write(&value, 201, 1);
	number_write(&value, 202, UINT64_MAX);
	number_write(&value, 9, 1); /* a known number of another type */
	value_write(&values, "accuracy", &value);
	bytes_write(&values, 1, "", 0); /* without a tag */
	message_write(&event, 5, &values);
	record_write(&text, event.data, event.length);
	text_feed(reading, &text);
	expect_measurements(&reading->report, expected, 1);
	assert_false(reading->report.is_broken);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reading_setup, reading_teardown)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_writers_own_files_are_read),
		TEST(a_growing_file_is_read_in_pieces_of_any_size),
		TEST(a_reader_may_go_on_where_another_ended),
		TEST(each_wrong_byte_is_noticed_and_nothing_after_it_is_taken),
		TEST(bytes_from_elsewhere_are_refused),
		TEST(a_file_without_version_is_no_event_file),
		TEST(a_record_longer_than_any_event_is_refused_at_once),
		TEST(large_events_are_passed_over_and_checked),
		TEST(tensors_of_one_element_are_scalars),
		TEST(values_of_other_plugins_are_no_scalars),
		TEST(scalars_of_other_tags_are_noted),
		TEST(malformed_events_are_passed_over),
		TEST(of_an_event_that_is_broken_nothing_is_taken),
		TEST(events_without_summaries_and_unknown_fields_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
