/* SPDX-License-Identifier: Apache-2.0 */
#include "store/keys/access_token.h"

#include "tests/unit/store/store_testing.h"

enum { NOW_S = START_NS / 1000000000 };

static const struct access_token sample = {
	.job = INT64_MAX,
	.attempt = 2,
	.role = 3,
	.index = 128,
	.expires_s = NOW_S + 3599,
	.email = "service-1@cloud-ml.google.com.iam.gserviceaccount.com",
	.scopes = "https://www.googleapis.com/auth/cloud-platform",
};

static void a_token_says_who_it_was_given_to(void **state)
{
	BENCH(state);
	char text[ACCESS_TOKEN_SIZE];
	struct access_token read;

	assert_int_equal(access_token_make(bench->store, &sample, text, &bench->err), STATUS_OK);
	assert_true(access_token_is_ours(text));
	assert_int_equal(strncmp(text, "ya29.ty-", 8), 0);
	assert_int_equal(strspn(text + 8, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
			 strlen(text + 8));
	assert_int_equal(access_token_read(bench->store, text, NOW_S, &read, &bench->err), STATUS_OK);
	assert_int_equal(read.job, sample.job);
	assert_int_equal(read.attempt, sample.attempt);
	assert_int_equal(read.role, sample.role);
	assert_int_equal(read.index, sample.index);
	assert_int_equal(read.expires_s, sample.expires_s);
	assert_string_equal(read.email, sample.email);
	assert_string_equal(read.scopes, sample.scopes);
}

static void equal_fields_give_one_text_and_others_another(void **state)
{
	BENCH(state);
	char first[ACCESS_TOKEN_SIZE], second[ACCESS_TOKEN_SIZE];
	struct access_token other = sample;

	access_token_make(bench->store, &sample, first, NULL);
	access_token_make(bench->store, &sample, second, NULL);
	assert_string_equal(first, second);
	other.index++;
	access_token_make(bench->store, &other, second, NULL);
	/* The contents cannot be seen in a token: two tokens differ from the nonce on. */
	assert_int_not_equal(strncmp(first, second, 16), 0);
}

static void a_token_is_good_after_a_restart(void **state)
{
	BENCH(state);
	char text[ACCESS_TOKEN_SIZE];
	struct access_token read;

	access_token_make(bench->store, &sample, text, NULL);
	bench_reopen(bench);
	assert_int_equal(access_token_read(bench->store, text, NOW_S, &read, &bench->err), STATUS_OK);
}

static void another_state_directory_s_token_is_refused(void **state)
{
	BENCH(state);
	char text[ACCESS_TOKEN_SIZE];
	struct access_token read;
	void *other = NULL;

	access_token_make(bench->store, &sample, text, NULL);
	assert_int_equal(bench_open(&other), 0);
	assert_int_equal(access_token_read(((struct bench *)other)->store, text, NOW_S, &read, &bench->err),
			 STATUS_UNAUTHENTICATED);
	bench_close(&other);
}

static void an_expired_token_is_refused(void **state)
{
	BENCH(state);
	char text[ACCESS_TOKEN_SIZE];
	struct access_token read;

	access_token_make(bench->store, &sample, text, NULL);
	assert_int_equal(access_token_read(bench->store, text, NOW_S + 3598, &read, &bench->err), STATUS_OK);
	assert_int_equal(access_token_read(bench->store, text, NOW_S + 3599, &read, &bench->err),
			 STATUS_UNAUTHENTICATED);
	assert_string_equal(bench->err.text, "The access token has expired.");
}

static void every_changed_byte_and_every_cut_is_refused(void **state)
{
	BENCH(state);
	char text[ACCESS_TOKEN_SIZE];
	struct access_token read;
	size_t length;

	access_token_make(bench->store, &sample, text, NULL);
	length = strlen(text);
	for (size_t i = 0; i < length; i++) {
		static const char others[] = { 'A', 'B', '\0' };
		char kept = text[i];

		for (size_t k = 0; k < COUNT_OF(others); k++) {
			/* The lowest bits of the last letter may be unused: libsodium refuses tokens in which they are
			 * set. */
			if (others[k] == kept)
				continue;
			text[i] = others[k];
			assert_int_equal(access_token_read(bench->store, text, NOW_S, &read, NULL),
					 STATUS_UNAUTHENTICATED);
		}
		text[i] = kept;
	}
}

static void what_is_none_of_ours_is_refused(void **state)
{
	BENCH(state);
	static const char *const others[] = { "",         "ya29.",        "ya29.a0AfH6SMBx",
					      "ya29.ty-", "ya29.ty-AAAA", "ya29.ty-====",
					      "Bearer",   "ya29.ty-\xff" };
	struct access_token read;
	char *large = malloc(100001);

	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_int_equal(access_token_read(bench->store, others[i], NOW_S, &read, NULL),
				 STATUS_UNAUTHENTICATED);
	memset(large, 'A', 100000);
	memcpy(large, "ya29.ty-", 8);
	large[100000] = '\0';
	assert_int_equal(access_token_read(bench->store, large, NOW_S, &read, NULL), STATUS_UNAUTHENTICATED);
	free(large);
	assert_false(access_token_is_ours("ya29.a0AfH6SMBx"));
}

static void the_longest_names_fit_and_longer_ones_are_refused(void **state)
{
	BENCH(state);
	char text[ACCESS_TOKEN_SIZE];
	struct access_token longest = sample, read;

	memset(longest.email, 'e', sizeof(longest.email) - 1);
	memset(longest.scopes, 's', sizeof(longest.scopes) - 1);
	assert_int_equal(access_token_make(bench->store, &longest, text, &bench->err), STATUS_OK);
	assert_int_equal(access_token_read(bench->store, text, NOW_S, &read, &bench->err), STATUS_OK);
	assert_string_equal(read.email, longest.email);
	assert_string_equal(read.scopes, longest.scopes);
	longest.scopes[sizeof(longest.scopes) - 1] = 's';
	assert_int_equal(access_token_make(bench->store, &longest, text, &bench->err),
			 STATUS_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_token_says_who_it_was_given_to),
		TEST(equal_fields_give_one_text_and_others_another),
		TEST(a_token_is_good_after_a_restart),
		TEST(another_state_directory_s_token_is_refused),
		TEST(an_expired_token_is_refused),
		TEST(every_changed_byte_and_every_cut_is_refused),
		TEST(what_is_none_of_ours_is_refused),
		TEST(the_longest_names_fit_and_longer_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
