/* SPDX-License-Identifier: Apache-2.0 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/token.h"
#include "store/keys/access_token.h"
#include "store/keys/signing_key.h"
#include "store/store.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

static char directory[] = "/tmp/trainyard-token-XXXXXX";
static char path[64];
static struct store *store;
static struct signing_key *key;

static enum status open_with(const char *content, struct token **ret_token)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(content, file);
	fclose(file);
	return token_open(path, ret_token, NULL);
}

/* Fails with: line_read() that passes over what follows (as it was); is_token() without LENGTH_MIN; token_open() without
 * access_token_is_ours(). */
TEST(what_is_no_token_is_refused)
{
	static const char *const contents[] = { "",
						"\n",
						"short\n",
						"0123456789abcde\n",
						"0123456789 abcdef\n",
						"\n0123456789abcdef\n",
						"ya29.ty-0123456789abcdef\n",
						"0123456789abcdef\nfedcba9876543210\n",
						"0123456789abcdef\xff\n" };
	char long_one[1200];
	struct token *token = NULL;

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(contents); i++)
		assert_int_equal(open_with(contents[i], &token), STATUS_INVALID_ARGUMENT);
	memset(long_one, 'a', sizeof(long_one));
	long_one[1025] = '\0';
	assert_int_equal(open_with(long_one, &token), STATUS_INVALID_ARGUMENT);
	assert_int_equal(token_open("/no/such/file", &token, NULL), STATUS_INVALID_ARGUMENT);
	assert_int_equal(token_open("/", &token, NULL), STATUS_INVALID_ARGUMENT);
	assert_null(token);
	long_one[1024] = '\0';
	assert_int_equal(open_with(long_one, &token), STATUS_OK);
	token_free(token);
}

/* Fails with: is_the_token() that compares no byte; caller_check() that looks at the key of a client with a wrong token as well. */
TEST(only_the_whole_token_lets_in)
{
	static const struct {
		const char *authorization, *api_key;
		bool in;
	} cases[] = {
		{ "Bearer 0123456789abcdef", NULL, true },
		{ "bearer 0123456789abcdef", NULL, true },
		{ NULL, "0123456789abcdef", true },
		{ "Basic eDp5", "0123456789abcdef", true },
		{ NULL, NULL, false },
		{ "", "", false },
		{ "Bearer ", NULL, false },
		{ "0123456789abcdef", NULL, false },
		{ "Basic 0123456789abcdef", NULL, false },
		{ "Bearer 0123456789abcde", NULL, false },
		{ "Bearer 0123456789abcdef0", NULL, false },
		{ "Bearer 0123456789abcdeF", NULL, false },
		{ "Bearer  0123456789abcdef", NULL, false },
		{ "Bearer wrong", "0123456789abcdef", false },
		{ "Bearer ya29.ty-", NULL, false },
		{ NULL, "0123456789abcdef ", false },
	};
	struct token *token;

	(void)state_;
	assert_int_equal(open_with("0123456789abcdef\r\n\n", &token), STATUS_OK);
	const struct caller_rule rule = token_rule(token, store, key, &system_clock);
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		if ((rule.check(rule.arg, cases[i].authorization, cases[i].api_key, NULL) == STATUS_OK) !=
		    cases[i].in)
			fail_msg("case %zu", i);
	token_free(token);
}

/* Fails with: is_a_users() that does not ask for job 0; that asks at the time 0. */
TEST(own_access_tokens_let_in_unless_they_are_a_jobs_or_old)
{
	const int64_t now_s = clock_wall_us(&system_clock) / 1000000;
	const struct {
		int64_t job, expires_s;
		bool in;
	} cases[] = { { 0, now_s + 60, true }, { 0, now_s - 1, false }, { 7, now_s + 60, false } };
	struct token *token;

	(void)state_;
	assert_int_equal(open_with("0123456789abcdef", &token), STATUS_OK);
	const struct caller_rule rule = token_rule(token, store, key, &system_clock);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct access_token own = {
			.job = cases[i].job, .expires_s = cases[i].expires_s, .email = "a@b", .scopes = "s"
		};
		char header[ACCESS_TOKEN_SIZE + 8] = "Bearer ";

		assert_int_equal(access_token_make(store, &own, header + strlen(header), NULL), STATUS_OK);
		assert_int_equal(rule.check(rule.arg, header, NULL, NULL) == STATUS_OK, cases[i].in);
		assert_int_not_equal(rule.check(rule.arg, NULL, header + 7, NULL), STATUS_OK);
	}
	token_free(token);
}

/* Fails with: token_rule() that makes one. */
TEST(without_a_token_there_is_no_rule)
{
	(void)state_;
	assert_null(token_rule(NULL, store, key, &system_clock).check);
}

static int setup(void **state)
{
	(void)state;
	if (sodium_init() < 0 || !mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/token", directory);
	key = signing_key_new(directory);
	return key ? (int)store_open(directory, &system_clock, &store, NULL) : -1;
}

static int teardown(void **state)
{
	char command[96];

	(void)state;
	signing_key_free(key);
	store_close(store);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* Fails with: token_take() that takes what is no token; token_keep() that lets others read. */
static void a_token_of_the_environment_is_kept_for_commands(void **state)
{
	char kept_in[] = "/tmp/ty-test-token-XXXXXX", line[64] = "";
	AUTO(string) char *kept = NULL;
	struct token *token = NULL;
	struct stat about;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	setenv(TOKEN_VARIABLE, "", 1);
	assert_null(token_given());
	assert_int_equal(token_take("short", &token, &err), STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(err.text, "TRAINYARD_TOKEN holds no token"));
	setenv(TOKEN_VARIABLE, "0123456789abcdef", 1);
	assert_int_equal(token_take(token_given(), &token, NULL), STATUS_OK);
	token_free(token);
	assert_non_null(mkdtemp(kept_in));
	for (int i = 0; i < 2; i++) {
		free(kept);
		assert_int_equal(token_keep(kept_in, token_given(), &kept, NULL), STATUS_OK);
	}
	assert_int_equal(stat(kept, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
	FILE *file = fopen(kept, "r");

	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	assert_string_equal(line, "0123456789abcdef\n");
	unlink(kept);
	assert_int_equal(token_keep("/none", "x", &kept, NULL), STATUS_FAILED_PRECONDITION);
	rmdir(kept_in);
	unsetenv(TOKEN_VARIABLE);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_token_is_refused),
		cmocka_unit_test(only_the_whole_token_lets_in),
		cmocka_unit_test(own_access_tokens_let_in_unless_they_are_a_jobs_or_old),
		cmocka_unit_test(without_a_token_there_is_no_rule),
		cmocka_unit_test(a_token_of_the_environment_is_kept_for_commands),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("token", tests, setup, teardown);
}
