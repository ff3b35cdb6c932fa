/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/runtime_map.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

static void rules_are_read_strictly(void **state)
{
	static const char *const good[] = {
		"2.11=trainyard-runtime",
		"2.11/3.7/gpu=mine:gpu",
		"*/3.7=mine",
		"*=mine",
		"2.11/gpu=localhost:5000/a/b:1",
		"1.15/2.7/cpu=old",
		"2=i",
		"*/*=mine",
		"*/*/cpu=mine",
	};
	static const char *const bad[] = {
		"",
		"=",
		"2.11",
		"2.11=",
		"=mine",
		"2.11/=mine",
		"/3.7=mine",
		"a=mine",
		"2.=mine",
		".1=mine",
		"2..1=mine",
		"2.1*=mine",
		"**=mine",
		"2.11/3.7/3.8=mine",
		"2.11/cpu/3.7=mine",
		"2.11/gpu/cpu=mine",
		"2.11/tpu=mine",
		"2.11/3.7/=mine",
		"2.11 =mine",
		" 2.11=mine",
		"2.11=Mine",
		"2.11= mine",
		"2.11=mine tag",
		"2.11=a=b",
		"2.11/gpu/=i",
		"-1=i",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++)
		if (!runtime_rule_valid(good[i]))
			fail_msg("%s was refused", good[i]);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (runtime_rule_valid(bad[i]))
			fail_msg("%s was taken", bad[i]);
}

static void the_first_rule_that_fits_counts(void **state)
{
	static char *const rules[] = {
		(char *)"2.11/3.7/gpu=first", (char *)"2.11=second", (char *)"*/2.7=third",
		(char *)"2.1/*/cpu=fourth",   (char *)"2=fifth",
	};
	static const struct runtime_map map = { rules, COUNT_OF(rules) };
	static const struct {
		struct runtime runtime;
		const char *image;
		bool is_default;
	} rows[] = {
		{ { "2.11", "3.7", true }, "first", false },
		{ { "2.11", "3.7", false }, "second", false },
		{ { "2.11", "3.8", true }, "second", false },
		{ { "1.15", "2.7", true }, "third", false },
		{ { "9.9", "2.7", false }, "third", false },
		{ { "2.1", "3.7", false }, "fourth", false },
		{ { "2.1", "3.7", true }, "gcr.io/cloud-aiplatform/training/tf-gpu.2-1", true },
		{ { "2.10", "3.7", false }, "gcr.io/cloud-aiplatform/training/tf-cpu.2-10", true },
		{ { "2", "3.7", false }, "fifth", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *image = NULL;
		bool is_default = !rows[i].is_default;

		assert_int_equal(runtime_map_find(&map, &rows[i].runtime, &image, &is_default, NULL),
				 STATUS_OK);
		assert_string_equal(image, rows[i].image);
		assert_int_equal(is_default, rows[i].is_default);
		assert_int_equal(is_framework_image(image), rows[i].is_default);
	}
}

static void known_runtimes_have_the_published_images(void **state)
{
	static const char *const versions[] = { "1.15", "2.1", "2.2", "2.3", "2.4",  "2.5",
						"2.6",  "2.7", "2.8", "2.9", "2.10", "2.11" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(versions) * 2; i++) {
		const struct runtime runtime = { versions[i / 2], "3.7", i % 2 };
		AUTO(string) char *image = NULL;
		char expected[80];
		bool is_default;

		snprintf(expected, sizeof(expected), "gcr.io/cloud-aiplatform/training/tf-%s.%s",
			 i % 2 ? "gpu" : "cpu", versions[i / 2]);
		*strrchr(expected, '.') = '-';
		assert_int_equal(runtime_map_find(NULL, &runtime, &image, &is_default, NULL), STATUS_OK);
		assert_string_equal(image, expected);
	}
}

static void a_runtime_without_an_image_is_told_with_the_remedy(void **state)
{
	static const struct runtime none[] = {
		{ "1.15", "2.7", false }, { "2.0", "3.7", false }, { "2.11", "3.10", false },
		{ "2.12", "3.7", true },  { "2.11", "", false },   { "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		struct error err AUTO_ERROR = { 0 };
		char *image = NULL;
		bool is_default;

		assert_int_equal(runtime_map_find(NULL, &none[i], &image, &is_default, &err),
				 STATUS_FAILED_PRECONDITION);
		assert_null(image);
		assert_non_null(strstr(err.text, "deploy/runtime/build"));
		assert_non_null(strstr(err.text, none[i].gpu ? "GPUs" : "CPUs"));
	}
}

static void rules_alone_have_no_defaults(void **state)
{
	static const char *const rules[] = { "2.11/3.10=mine:1" };
	const struct runtime_map map = { (char *const *)rules, COUNT_OF(rules) };
	const struct runtime fits = { "2.11", "3.10", true }, other = { "2.11", "3.7", true };
	AUTO(string) char *image = NULL;
	char *none = (char *)rules[0];

	(void)state;
	runtime_map_rule(&map, &fits, &image);
	assert_string_equal(image, "mine:1");
	runtime_map_rule(&map, &other, &none);
	assert_null(none);
}

static void versions_are_compared_by_numbers(void **state)
{
	static const struct {
		const char *version;
		bool at_least;
	} rows[] = {
		{ "2.1", true },  { "2.10", true }, { "2.2", true }, { "2.0", false }, { "1.15", false },
		{ "10.0", true }, { "3", true },    { "2", false },  { "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(runtime_at_least(rows[i].version, 2, 1), rows[i].at_least);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read_strictly),
		cmocka_unit_test(the_first_rule_that_fits_counts),
		cmocka_unit_test(known_runtimes_have_the_published_images),
		cmocka_unit_test(a_runtime_without_an_image_is_told_with_the_remedy),
		cmocka_unit_test(rules_alone_have_no_defaults),
		cmocka_unit_test(versions_are_compared_by_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
