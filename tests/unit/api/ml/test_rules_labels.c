/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tests/unit/api/ml/job_testing.h"

#define SIXTY_THREE "a23456789012345678901234567890123456789012345678901234567890123"

static void keys_and_values_have_a_grammar(void **state)
{
	static const struct {
		const char *key, *value;
		bool good;
	} rows[] = {
		{ "env", "dev", true },
		{ "a", "", true },
		{ "a_b-1", "1_-z", true },
		{ SIXTY_THREE, SIXTY_THREE, true },
		{ "\xc3\xa9t\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", true },
		{ "\xd0\xb4\xd0\xb0", "\xce\xb1", true },
		{ "", "x", false },
		{ "1a", "x", false },
		{ "_a", "x", false },
		{ "-a", "x", false },
		{ "Env", "x", false },
		{ "eNv", "x", false },
		{ "env", "Dev", false },
		{ "env", "a.b", false },
		{ "env", "a b", false },
		{ "env", "a/b", false },
		{ "\xc3\x89t\xc3\xa9", "x", false },
		{ "env", "\xd0\x94", false },
		{ "env", "\xe2\x80\xa6", false },
		{ "env", "\xc2\xa0", false },
		{ SIXTY_THREE "4", "x", false },
		{ "env", SIXTY_THREE "4", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *labels = json_pack("{s:s}", rows[i].key, rows[i].value);
		struct error err AUTO_ERROR = { 0 };

		if ((labels_check(labels, &err) == STATUS_OK) != rows[i].good)
			fail_msg("%s=%s: %s", rows[i].key, rows[i].value, err.text ? err.text : "taken");
		if (!rows[i].good)
			assert_string_equal(err.violations[0].field, "labels");
	}
}

static void international_letters_count_as_one(void **state)
{
	struct text value = { 0 };
	AUTO(json) json_t *labels = NULL;

	(void)state;
	for (int i = 0; i < 63; i++)
		text_puts(&value, "\xc3\xa9");
	labels = json_pack("{s:s}", "a", value.data);
	assert_int_equal(labels_check(labels, NULL), STATUS_OK);
	text_puts(&value, "\xc3\xa9");
	json_object_set_new(labels, "a", json_string(value.data));
	assert_int_equal(labels_check(labels, NULL), STATUS_INVALID_ARGUMENT);
	text_deinit(&value);
}

static void a_job_has_at_most_64_labels(void **state)
{
	AUTO(json) json_t *labels = json_object();
	struct error err AUTO_ERROR = { 0 };
	char key[16];

	(void)state;
	assert_int_equal(labels_check(NULL, NULL), STATUS_OK);
	for (int i = 0; i < 64; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		json_object_set_new(labels, key, json_string("v"));
	}
	assert_int_equal(labels_check(labels, &err), STATUS_OK);
	json_object_set_new(labels, "more", json_string("v"));
	assert_int_equal(labels_check(labels, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "Field: labels Error: A job has at most 64 labels, not 65.");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_values_have_a_grammar),
		cmocka_unit_test(international_letters_count_as_one),
		cmocka_unit_test(a_job_has_at_most_64_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
