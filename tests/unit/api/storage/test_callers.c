/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the family checks its caller. */
#include "tests/unit/api/storage/storage_testing.h"

static char *attempt_header(int64_t job, unsigned attempt, int64_t lives_s)
{
	struct access_token token = { .job = job,
				      .attempt = attempt,
				      .expires_s = START_NS / 1000000000 + lives_s,
				      .email = "a@b",
				      .scopes = "https://www.googleapis.com/auth/cloud-platform" };
	char text[ACCESS_TOKEN_SIZE];
	char *header = NULL;

	assert_int_equal(access_token_make(yard.store, &token, text, NULL), STATUS_OK);
	assert_true(asprintf(&header, "Authorization: Bearer %s\r\n", text) > 0);
	return header;
}

static char *token_header(int64_t job, int64_t lives_s)
{
	return attempt_header(job, 1, lives_s);
}

/* A request path for the row, with names in place of the {names}. */
static char *path_fill(const char *row)
{
	struct text path AUTO_TEXT = { 0 };

	for (const char *c = row; *c; c++) {
		text_putc(&path, *c == '{' ? 'n' : *c);
		if (*c == '{') {
			text_puts(&path, "ame");
			c = strchr(c, '}');
		}
	}
	text_puts(&path, "?project=demo&uploadType=media&name=x&upload_id=y");
	return text_take(&path);
}

static unsigned status_of(const struct route *route, const char *header)
{
	AUTO(string) char *path = path_fill(route->path);
	bool has_body = route->body || route->begin;
	struct seen seen AUTO_SEEN = ask_with(route->method, path, header, has_body ? "{}" : NULL);

	if (seen.http_status == 401) {
		assert_non_null(strstr(seen.body, "Invalid Credentials"));
		if (seen.json)
			assert_non_null(strstr(seen.body, "authError"));
	}
	return seen.http_status;
}

static bool is_batch(const struct route *route)
{
	return strncmp(route->path, "/batch", 6) == 0; /* each part of a batch is checked */
}

static void every_row_is_asked(const char *header, bool admitted)
{
	for (const struct route *route = storage_routes; route->method; route++)
		if (!is_batch(route) && (status_of(route, header) != 401) != admitted)
			fail_msg("%s %s with %s", route->method, route->path, header);
}

TEST(a_forged_token_is_refused_everywhere)
{
	(void)state_;
	every_row_is_asked("Authorization: Bearer ya29.ty-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n", false);
}

TEST(an_expired_token_is_refused_everywhere)
{
	AUTO(string) char *header = token_header(0, 60);

	(void)state_;
	every_row_is_asked(header, true);
	time_pass(61);
	every_row_is_asked(header, false);
}

TEST(at_a_gateway_a_token_is_of_its_job)
{
	AUTO(string) char *own = token_header(GATEWAYS_JOB, 3600);
	AUTO(string) char *other = token_header(GATEWAYS_JOB + 1, 3600);
	AUTO(string) char *nobodys = token_header(0, 3600);

	atomic_uint attempt = 1;

	(void)state_;
	yard.context.job = GATEWAYS_JOB;
	yard.context.attempt = &attempt;
	every_row_is_asked(own, true);
	every_row_is_asked(other, false);
	every_row_is_asked(nobodys, false);
}

/* A replica of the first attempt that still runs, on a node that was cut off, has no effect. Fails with: caller_admit() that
 * compares the job alone. */
TEST(at_a_gateway_a_token_is_of_the_present_attempt)
{
	AUTO(string) char *first = attempt_header(GATEWAYS_JOB, 1, 3600);
	AUTO(string) char *second = attempt_header(GATEWAYS_JOB, 2, 3600);
	atomic_uint attempt = 1;

	(void)state_;
	yard.context.job = GATEWAYS_JOB;
	yard.context.attempt = &attempt;
	every_row_is_asked(first, true);
	atomic_store(&attempt, 2);
	every_row_is_asked(first, false);
	every_row_is_asked(second, true);
}

TEST(tokens_of_others_and_none_are_let_in)
{
	(void)state_;
	every_row_is_asked("", true);
	every_row_is_asked("Authorization: Bearer ya29.a0AfH6SMBx\r\n", true);
	every_row_is_asked("Authorization: Basic YTpi\r\n", true);
	every_row_is_asked("Authorization: Bearer \r\n", true);
}

TEST(a_refusal_says_where_the_fault_is)
{
	struct seen seen AUTO_SEEN =
		ask_with("GET", "/storage/v1/b?project=demo", "Authorization: bearer ya29.ty-x\r\n", NULL);
	const json_t *first =
		json_array_get(json_object_get(json_object_get(seen.json, "error"), "errors"), 0);

	(void)state_;
	assert_int_equal(seen.http_status, 401);
	assert_string_equal(json_text_at(first, "reason"), "authError");
	assert_string_equal(json_text_at(first, "locationType"), "header");
	assert_string_equal(json_text_at(first, "location"), "Authorization");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		STORAGE_TEST(a_forged_token_is_refused_everywhere),
		STORAGE_TEST(an_expired_token_is_refused_everywhere),
		STORAGE_TEST(at_a_gateway_a_token_is_of_its_job),
		STORAGE_TEST(at_a_gateway_a_token_is_of_the_present_attempt),
		STORAGE_TEST(tokens_of_others_and_none_are_let_in),
		STORAGE_TEST(a_refusal_says_where_the_fault_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
