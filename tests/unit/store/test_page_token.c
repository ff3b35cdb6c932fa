/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "store/page_token.h"
#include "tests/unit/testing.h"

static const struct page_key key = { "a key" }, other_key = { "another" };
static const struct page_mark mark = { .numbers = { 1, -2, INT64_MAX, INT64_MIN },
				       .name = "master-replica-0" };

static void a_token_gives_back_its_mark(void **state)
{
	(void)state;
	char *token = page_token_write(&key, "query", 5, &mark);
	struct page_mark read;

	assert_int_equal(page_token_read(&key, "query", 5, token, &read, NULL), STATUS_OK);
	assert_memory_equal(&read, &mark, sizeof(mark));
	assert_int_equal(strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
			 strlen(token));
	free(token);
}

static void another_query_or_key_is_refused(void **state)
{
	(void)state;
	char *token = page_token_write(&key, "query", 5, &mark);
	struct error err AUTO_ERROR = { 0 };
	struct page_mark read;

	assert_int_equal(page_token_read(&key, "Query", 5, token, &read, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.violations[0].field, "page_token");
	assert_int_equal(page_token_read(&other_key, "query", 5, token, &read, NULL),
			 STATUS_INVALID_ARGUMENT);
	free(token);
}

static void a_changed_token_is_refused(void **state)
{
	(void)state;
	char *token = page_token_write(&key, "query", 5, &mark);
	size_t length = strlen(token);
	struct page_mark read;

	for (size_t i = 0; i < length; i++) {
		char kept = token[i];

		token[i] = kept == 'A' ? 'B' : 'A';
		assert_int_equal(page_token_read(&key, "query", 5, token, &read, NULL),
				 STATUS_INVALID_ARGUMENT);
		token[i] = kept;
	}
	for (size_t i = 0; i < length; i++) {
		char kept = token[i];

		token[i] = '\0';
		assert_int_equal(page_token_read(&key, "query", 5, token, &read, NULL),
				 STATUS_INVALID_ARGUMENT);
		token[i] = kept;
	}
	free(token);
}

static void garbage_is_refused(void **state)
{
	(void)state;
	static const char *const garbage[] = { "", "x", "MQ==", "....", "\xff\xff", "AAAA AAAA", "====" };
	struct page_mark read;
	char *large = malloc(100001);

	for (size_t i = 0; i < COUNT_OF(garbage); i++)
		assert_int_equal(page_token_read(&key, "query", 5, garbage[i], &read, NULL),
				 STATUS_INVALID_ARGUMENT);
	memset(large, 'A', 100000);
	large[100000] = '\0';
	assert_int_equal(page_token_read(&key, "query", 5, large, &read, NULL), STATUS_INVALID_ARGUMENT);
	free(large);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_gives_back_its_mark),
		cmocka_unit_test(another_query_or_key_is_refused),
		cmocka_unit_test(a_changed_token_is_refused),
		cmocka_unit_test(garbage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
