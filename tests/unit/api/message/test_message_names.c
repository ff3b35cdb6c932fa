/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/names.h"

#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/api/message/sample_message.h"

static void a_name_has_two_spellings(void **state)
{
	static const struct {
		const char *camel, *given;
		bool matches;
	} rows[] = {
		{ "scaleTier", "scaleTier", true },
		{ "scaleTier", "scale_tier", true },
		{ "scaleTier", "scale_Tier", false },
		{ "scaleTier", "scaletier", false },
		{ "scaleTier", "scale_tie", false },
		{ "scaleTier", "scale_tiers", false },
		{ "scaleTier", "scale", false },
		{ "scaleTier", "", false },
		{ "consumedMLUnits", "consumed_ml_units", true },
		{ "consumedMLUnits", "consumed_m_l_units", false },
		{ "useChiefInTfConfig", "use_chief_in_tf_config", true },
		{ "region", "region", true },
		{ "region", "Region", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(name_matches(rows[i].camel, rows[i].given), rows[i].matches);
}

static void both_spellings_agree_with_the_one_that_is_written(void **state)
{
	(void)state;
	for (const struct field *field = sample_fields; field->name; field++) {
		AUTO(string) char *snake = name_to_snake(field->name);

		assert_ptr_equal(field_find(&sample_message, snake), field);
		assert_ptr_equal(field_find(&sample_message, field->name), field);
	}
	assert_null(field_find(&sample_message, "nope"));
}

static void enums_are_known_by_name_and_number(void **state)
{
	int number = -1;

	(void)state;
	assert_string_equal(enum_name(&sample_color, 4), "BLUE");
	assert_null(enum_name(&sample_color, 2));
	assert_null(enum_name(&sample_color, ENUM_BY_NAME));
	assert_true(enum_number(&sample_color, "RED", &number));
	assert_int_equal(number, 1);
	assert_false(enum_number(&sample_color, "red", &number));
}

static void snake_spelling_reaches_all_but_keys_and_free_objects(void **state)
{
	AUTO(json)
	json_t *value = json_of("{'smallCount':1,'largeCount':'2','bag':{'aB':1},'child':{'waitTime':'1s'},"
				"'children':[{'endTime':'2020-01-01T00:00:00Z'}],'labels':{'aB':'cD'},'nodes'"
				":{'aB':{'smallCount':2}}}");
	AUTO(json) json_t *snake = message_to_snake(&sample_message, value);

	(void)state;
	assert_json_text(snake,
			 "{'small_count':1,'large_count':'2','bag':{'aB':1},'child':{'wait_time':'1s'},"
			 "'children':[{'end_time':'2020-01-01T00:00:00Z'}],'labels':{'aB':'cD'},"
			 "'nodes':{'aB':{'small_count':2}}}");
}

static void a_name_becomes_snake_case(void **state)
{
	static const struct {
		const char *camel, *snake;
	} cases[] = {
		{ "", "" },
		{ "job", "job" },
		{ "jobId", "job_id" },
		{ "trainingInput", "training_input" },
		{ "consumedMLUnits", "consumed_ml_units" },
		{ "imageUri", "image_uri" },
		{ "imageURI", "image_uri" },
		{ "already_snake", "already_snake" },
		{ "Upper", "upper" },
		{ "k80Count", "k80_count" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(string) char *snake = name_to_snake(cases[i].camel);

		assert_string_equal(snake, cases[i].snake);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_becomes_snake_case),
		cmocka_unit_test(a_name_has_two_spellings),
		cmocka_unit_test(both_spellings_agree_with_the_one_that_is_written),
		cmocka_unit_test(enums_are_known_by_name_and_number),
		cmocka_unit_test(snake_spelling_reaches_all_but_keys_and_free_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
