/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "store/objects/objects.h"
#include "tests/unit/testing.h"

static void names_of_buckets_follow_the_rules(void **state)
{
	(void)state;
	static const char *const good[] = {
		"abc", "a-b_c", "123", "a.b", "my-bucket.example.com", "1.2.3.4.5"
	};
	static const char *const bad[] = { "",
					   "ab",
					   "Abc",
					   "-ab",
					   "ab-",
					   "_ab",
					   "a..b",
					   "192.168.5.4",
					   "goog-x",
					   "my-google",
					   "g00gle-x",
					   "a b",
					   "a/b",
					   "..",
					   ".ab",
					   "ab.",
					   "\xc3\xa4"
					   "bc" };
	char name[300];

	for (size_t i = 0; i < COUNT_OF(good); i++)
		if (!bucket_name_valid(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (bucket_name_valid(bad[i]))
			fail_msg("%s", bad[i]);
	memset(name, 'a', sizeof(name));
	name[63] = '\0';
	assert_true(bucket_name_valid(name));
	name[63] = 'a';
	name[64] = '\0';
	assert_false(bucket_name_valid(name));
	memset(name, 'a', sizeof(name));
	name[60] = name[120] = name[180] = '.';
	name[222] = '\0';
	assert_true(bucket_name_valid(name));
	name[222] = 'a';
	name[223] = '\0';
	assert_false(bucket_name_valid(name));
}

static void each_rule_of_a_buckets_name_is_told(void **state)
{
	static const struct {
		const char *name, *fault; /* @fault: NULL: the name is valid */
	} rows[] = {
		{ "abc", NULL },
		{ "my-google", NULL }, /* valid, because Google's own buckets may have such names */
		{ "", "is too short: it has at least 3 characters" },
		{ "ab", "is too short: it has at least 3 characters" },
		{ "aBc", "has other characters than lowercase letters, digits, '-', '_' and '.'" },
		{ "a b", "has other characters than lowercase letters, digits, '-', '_' and '.'" },
		{ "-ab", "does not begin and end with a letter or a digit" },
		{ "ab.", "does not begin and end with a letter or a digit" },
		{ "a..b", "has two dots in a row" },
		{ "192.168.5.4", "has the form of an IP address" },
		{ "a23456789012345678901234567890123456789012345678901234567890123", NULL },
		{ "a234567890123456789012345678901234567890123456789012345678901234",
		  "is too long: it has at most 63 characters, or 222 with at most 63 between dots" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *fault = bucket_name_fault(rows[i].name);

		if ((fault != NULL) != (rows[i].fault != NULL) ||
		    (fault && strcmp(fault, rows[i].fault) != 0))
			fail_msg("%s: %s", rows[i].name, fault ? fault : "no fault");
	}
	assert_true(bucket_name_is_googles("goog-x") && bucket_name_is_googles("my-google") &&
		    bucket_name_is_googles("g00gle") && !bucket_name_is_googles("gogle"));
}

static void names_of_objects_follow_the_rules(void **state)
{
	(void)state;
	char name[1026];

	memset(name, 'n', sizeof(name));
	name[1025] = '\0';
	assert_false(object_name_valid(name));
	name[1024] = '\0';
	assert_true(object_name_valid(name));
	assert_true(object_name_valid("/"));
	assert_true(object_name_valid("../../etc/passwd"));
	assert_true(object_name_valid("..."));
	assert_true(object_name_valid("a\x01\x7f"));
	assert_true(object_name_valid(".well-known/acme"));
	assert_false(object_name_valid(""));
	assert_false(object_name_valid("."));
	assert_false(object_name_valid(".."));
	assert_false(object_name_valid("a\nb"));
	assert_false(object_name_valid("a\rb"));
	assert_false(object_name_valid("\xff"));
	assert_false(object_name_valid("\xed\xa0\x80")); /* a surrogate */
	assert_false(object_name_valid(".well-known/acme-challenge/x"));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_buckets_follow_the_rules),
		cmocka_unit_test(each_rule_of_a_buckets_name_is_told),
		cmocka_unit_test(names_of_objects_follow_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
