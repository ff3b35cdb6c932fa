/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/gcs/gcs_notes.c. */
#include "daemon/gcs/gcs_notes.h"

#include "tests/unit/testing.h"

static void times_are_written_as_go_writes_them(void **state)
{
	static const struct {
		int64_t time_ns;
		const char *text;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00Z" },
		{ 1, "1970-01-01T00:00:00.000000001Z" },
		{ -1, "1969-12-31T23:59:59.999999999Z" },
		{ INT64_C(1700000000120000000), "2023-11-14T22:13:20.12Z" },
		{ INT64_C(1700000010000000000), "2023-11-14T22:13:30Z" },
		{ INT64_MAX, "2262-04-11T23:47:16.854775807Z" },
	};
	char text[GCS_TIME_SIZE];
	int64_t time_ns;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		gcs_time_write(rows[i].time_ns, text);
		assert_string_equal(text, rows[i].text);
		assert_true(gcs_time_read(text, &time_ns));
		assert_int_equal(time_ns, rows[i].time_ns);
	}
}

/* Fails with: gcs_time_read() without its form, or without the checks of its rest. */
static void what_is_no_time_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"soon",
		"2023-11-14",
		"2023-11-14T22:13:20",
		"2023-11-14 22:13:20Z",
		"2023-11-14T22:13:20z",
		"2023-11-14T22:13:20ZZ",
		"2023-11-14T22:13:20.Z",
		"2023-13-14T22:13:20Z",
		"2023-11-14T24:13:20Z",
		"2023-11-14T22:13:20+1:00",
		"2023-11-14T22:13:20+01:00Z",
		"2023-11-14T22:13:20+24:00",
		"2023-11-14T22:13:20+-1:00",
		"+023-11-14T22:13:20Z",
		"9999-12-31T23:59:59Z",
		"0001-01-01T00:00:00Z",
	};
	int64_t time_ns;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (gcs_time_read(wrong[i], &time_ns))
			fail_msg("%s", wrong[i]);
	assert_true(gcs_time_read("1970-01-01T01:30:00.1234567891-01:30", &time_ns));
	assert_int_equal(time_ns, INT64_C(3 * 3600) * 1000000000 + 123456789);
	assert_true(gcs_time_read("1970-01-01T01:30:00+01:30", &time_ns));
	assert_int_equal(time_ns, 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_written_as_go_writes_them),
		cmocka_unit_test(what_is_no_time_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs_notes", tests, NULL, NULL);
}
