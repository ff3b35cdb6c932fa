/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/image_map.h"

#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

#define DIGEST "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void rules_have_two_sides_and_matching_stars(void **state)
{
	static const struct {
		const char *rule;
		bool valid;
	} rows[] = {
		{ "a=b", true },
		{ "gcr.io/p/train=train:dev", true },
		{ "gcr.io/p/train:1=localhost:5000/train" DIGEST, true },
		{ "gcr.io/p/*=localhost:5000/*", true },
		{ "gcr.io/p/*=*", true },
		{ "*=one:image", true },
		{ "gcr.io/p/train:*=train:v*", true },
		{ "gcr.io/cloud-ml-algos/*=algos/*:dev", true },
		{ "", false },
		{ "a", false },
		{ "=", false },
		{ "=b", false },
		{ "a=", false },
		{ "a=b=c", false },
		{ "a=*", false },
		{ "a*b=c", false },
		{ "*a=c", false },
		{ "a**=c", false },
		{ "a*=b*c*", false },
		{ "A=b", false },
		{ "a=B", false },
		{ "a*=B/C*", false },
		{ "a b*=c", false },
		{ "a=b c", false },
		{ " a=b", false },
		{ "a=b ", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (image_rule_valid(rows[i].rule) != rows[i].valid)
			fail_msg("'%s' is %s", rows[i].rule, rows[i].valid ? "refused" : "taken");
}

static void the_first_rule_that_fits_counts(void **state)
{
	static char *const rules[] = {
		(char *)"gcr.io/p/train:1=first",
		(char *)"gcr.io/p/train=second:x",
		(char *)"gcr.io/p/*=localhost:5000/*",
		(char *)"gcr.io/p/never=third",
		(char *)"localhost=fourth",
		(char *)"first=fifth",
		(char *)"eu.gcr.io/*=*",
	};
	static const struct image_map map = { rules, COUNT_OF(rules) };
	static const struct {
		const char *image, *mapped;
	} rows[] = {
		{ "gcr.io/p/train:1", "first" },
		{ "gcr.io/p/train", "second:x" },
		{ "gcr.io/p/train:2", "second:x" },
		{ "gcr.io/p/train:11", "second:x" },
		{ "gcr.io/p/train:1" DIGEST, "second:x" },
		{ "gcr.io/p/train" DIGEST, "second:x" },
		{ "gcr.io/p/trainer:1", "localhost:5000/trainer:1" },
		{ "gcr.io/p/train/sub", "localhost:5000/train/sub" },
		{ "gcr.io/p/a/b" DIGEST, "localhost:5000/a/b" DIGEST },
		{ "gcr.io/p/never", "localhost:5000/never" },
		{ "localhost", "fourth" },
		{ "localhost:5000", "fourth" },
		{ "localhost:5000/x", NULL },
		{ "eu.gcr.io/q/i:T", "q/i:T" },
		{ "gcr.io/q/i", NULL },
		{ "fir", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *mapped = NULL;

		assert_int_equal(image_map_apply(&map, rows[i].image, &mapped, NULL), STATUS_OK);
		if (rows[i].mapped)
			assert_string_equal(mapped, rows[i].mapped);
		else
			assert_null(mapped);
	}
}

static void a_map_of_nothing_changes_nothing(void **state)
{
	static const struct image_map empty = { NULL, 0 };
	char *mapped = NULL;

	(void)state;
	assert_int_equal(image_map_apply(NULL, "a", &mapped, NULL), STATUS_OK);
	assert_null(mapped);
	assert_int_equal(image_map_apply(&empty, "a", &mapped, NULL), STATUS_OK);
	assert_null(mapped);
}

static void what_is_no_image_afterwards_is_told(void **state)
{
	static char *const rules[] = { (char *)"gcr.io/*=mirror/*:dev" };
	static const struct image_map map = { rules, 1 };
	struct error err AUTO_ERROR = { 0 };
	char *mapped = NULL;

	(void)state;
	assert_int_equal(image_map_apply(&map, "gcr.io/p/i:1", &mapped, &err), STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "mirror/p/i:1:dev"));
	assert_null(mapped);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_have_two_sides_and_matching_stars),
		cmocka_unit_test(the_first_rule_that_fits_counts),
		cmocka_unit_test(a_map_of_nothing_changes_nothing),
		cmocka_unit_test(what_is_no_image_afterwards_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
