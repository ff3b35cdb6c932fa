/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/metadata/metadata_testing.h"

static struct identity_context context;
static struct family families[] = {
	{ .name = "identity", .routes = identity_routes, .context = &context, .lenient_query = true },
	{ .name = NULL }
};

static int open_all(void **state)
{
	(void)state;
	yard_open(families);
	context = (struct identity_context){ bench->store, key, &bench->clock };
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	yard_close();
	return 0;
}

static char *ask(const char *method, const char *path, const char *form)
{
	struct text request AUTO_TEXT = { 0 };

	text_printf(
		&request,
		"%s %s HTTP/1.1\r\nHost: localhost:8090\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		method, path, strlen(form), form);
	return exchange_raw(request.data);
}

/* The claims that a client library signs; NULL: the claim is missing. */
struct assertion {
	const char *issuer, *audience, *scope, *target;
	int64_t issued_s, expires_s;
};

static const struct assertion good = { .issuer = "trainyard@demo.iam.gserviceaccount.com",
				       .audience = "http://localhost:8090/token",
				       .scope = METADATA_SCOPE,
				       .issued_s = NOW_S,
				       .expires_s = NOW_S + 3600 };

static void member_add(json_t *claims, const char *name, const char *value)
{
	if (value)
		json_object_set_new(claims, name, json_string(value));
}

static char *exchange_assertion(const struct assertion *assertion)
{
	AUTO(json) json_t *claims = json_object();
	struct text form AUTO_TEXT = { 0 };

	member_add(claims, "iss", assertion->issuer);
	member_add(claims, "aud", assertion->audience);
	member_add(claims, "scope", assertion->scope);
	member_add(claims, "target_audience", assertion->target);
	json_object_set_new(claims, "iat", json_integer(assertion->issued_s));
	json_object_set_new(claims, "exp", json_integer(assertion->expires_s));
	text_puts(&form, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=");
	assert_int_equal(signing_key_sign(key, claims, &form, NULL), STATUS_OK);
	return ask("POST", "/token", form.data);
}

static void fails(const char *answer, const char *error, const char *description)
{
	AUTO(json) json_t *body = json_of(answer);

	assert_int_equal(strncmp(answer, "HTTP/1.1 400 ", 13), 0);
	assert_string_equal(json_text_at(body, "error"), error);
	if (!strstr(json_text_at(body, "error_description"), description))
		fail_msg("%s: not %s", json_text_at(body, "error_description"), description);
}

TEST(an_assertion_becomes_an_access_token)
{
	AUTO(string) char *answer = exchange_assertion(&good);
	AUTO(json) json_t *body = json_of(answer);
	struct access_token token;

	(void)state_;
	has(answer, OK_);
	has(answer, "\r\nContent-Type: application/json; charset=UTF-8\r\n");
	assert_int_equal(json_int_at(body, "expires_in", 0), 3599);
	assert_string_equal(json_text_at(body, "token_type"), "Bearer");
	assert_int_equal(
		access_token_read(bench->store, json_text_at(body, "access_token"), NOW_S, &token, NULL),
		STATUS_OK);
	assert_int_equal(token.job, 0);
	assert_string_equal(token.email, good.issuer);
	assert_string_equal(token.scopes, METADATA_SCOPE);
}

TEST(an_assertion_with_a_target_becomes_an_identity_token)
{
	struct assertion assertion = good;
	AUTO(json) json_t *claims = NULL;

	(void)state_;
	assertion.target = "https://run.example";
	assertion.scope = NULL;
	AUTO(string) char *answer = exchange_assertion(&assertion);
	AUTO(json) json_t *body = json_of(answer);

	has(answer, OK_);
	assert_int_equal(signing_key_verify(key, json_text_at(body, "id_token"), &claims, NULL), STATUS_OK);
	assert_string_equal(json_text_at(claims, "aud"), "https://run.example");
	assert_string_equal(json_text_at(claims, "email"), good.issuer);
}

TEST(google_s_own_names_of_the_endpoint_will_do)
{
	struct assertion assertion = good;

	(void)state_;
	assertion.audience = "https://oauth2.googleapis.com/token";
	AUTO(string) char *answer = exchange_assertion(&assertion);

	has(answer, OK_);
}

TEST(what_is_wrong_with_an_assertion_is_said)
{
	static const char times[] = "Check your iat and exp values";
	struct assertion assertion = good;
	struct {
		struct assertion assertion;
		const char *error, *description;
	} cases[10];
	size_t count = 0;

	(void)state_;
#define CASE(CHANGE, ERROR, DESCRIPTION)                                                                     \
	assertion = good;                                                                                    \
	assertion.CHANGE;                                                                                    \
	cases[count].assertion = assertion;                                                                  \
	cases[count].error = ERROR;                                                                          \
	cases[count++].description = DESCRIPTION
	CASE(audience = NULL, "invalid_grant", "audience");
	CASE(audience = "http://localhost:8090/other", "invalid_grant", "audience");
	CASE(audience = "http://elsewhere/token", "invalid_grant", "audience");
	CASE(expires_s = NOW_S, "invalid_grant", times);
	CASE(expires_s = NOW_S + 3601, "invalid_grant", times);
	CASE(issued_s = NOW_S + 301, "invalid_grant", times);
	CASE(issuer = NULL, "invalid_grant", "account not found");
	CASE(issuer = "nobody", "invalid_grant", "account not found");
	CASE(scope = NULL, "invalid_scope", "Invalid OAuth scope");
	CASE(scope = "a\"b", "invalid_scope", "Invalid OAuth scope");
	for (size_t i = 0; i < count; i++) {
		AUTO(string) char *answer = exchange_assertion(&cases[i].assertion);

		fails(answer, cases[i].error, cases[i].description);
	}
}

TEST(a_grant_that_is_none_is_refused)
{
	static const struct {
		const char *form, *error, *description;
	} cases[] = {
		{ "", "invalid_request", "Required parameter is missing: grant_type" },
		{ "grant_type=", "invalid_request", "Required parameter is missing: grant_type" },
		{ "grant_type=password", "unsupported_grant_type", "Invalid grant_type: password" },
		{ "grant_type=refresh_token&refresh_token=1//x", "invalid_grant", "expired or revoked" },
		{ "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "invalid_request", "assertion" },
		{ "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b.c", "invalid_grant",
		  "Invalid JWT Signature." },
		{ "grant_type=%zz", "invalid_request", "Malformed" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(string) char *answer = ask("POST", "/token", cases[i].form);

		fails(answer, cases[i].error, cases[i].description);
	}
}

TEST(the_keys_are_public)
{
	AUTO(string) char *answer = ask("GET", "/oauth2/v3/certs", "");
	AUTO(json) json_t *body = json_of(answer);
	json_t *own = NULL;

	(void)state_;
	assert_int_equal(signing_key_jwks(key, &own, NULL), STATUS_OK);
	assert_true(json_equal(body, own));
	json_decref(own);
}

TEST(a_token_can_be_asked_about)
{
	static const char *const forms[] = { "/tokeninfo", "/oauth2/v3/tokeninfo" };
	AUTO(string) char *granted = exchange_assertion(&good);
	AUTO(json) json_t *grant = json_of(granted);
	struct text form AUTO_TEXT = { 0 };

	(void)state_;
	text_printf(&form, "access_token=%s", json_text_at(grant, "access_token"));
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		struct text path AUTO_TEXT = { 0 };

		text_printf(&path, "%s?%s", forms[i], form.data);
		AUTO(string) char *got = ask("GET", path.data, "");
		AUTO(string) char *posted = ask("POST", forms[i], form.data);
		AUTO(json) json_t *told = json_of(got);
		AUTO(json) json_t *again = json_of(posted);

		assert_true(json_equal(told, again));
		assert_string_equal(json_text_at(told, "email"), good.issuer);
		assert_string_equal(json_text_at(told, "scope"), METADATA_SCOPE);
		assert_string_equal(json_text_at(told, "expires_in"), "3599");
		assert_string_equal(json_text_at(told, "azp"), json_text_at(told, "aud"));
	}
	bench->now_ns += INT64_C(3599000000000);
	AUTO(string) char *late = ask("POST", "/tokeninfo", form.data);

	fails(late, "invalid_token", "Invalid Value");
}

TEST(an_identity_token_can_be_asked_about)
{
	struct text token AUTO_TEXT = { 0 };
	struct text path AUTO_TEXT = { 0 };

	(void)state_;
	identity_token_write(key, "a@b", "me", NULL, NOW_S, &token, NULL);
	text_printf(&path, "/tokeninfo?id_token=%s", token.data);
	AUTO(string) char *answer = ask("GET", path.data, "");
	AUTO(json) json_t *told = json_of(answer);

	assert_string_equal(json_text_at(told, "aud"), "me");
	assert_string_equal(json_text_at(told, "email_verified"), "true");
	bench->now_ns += INT64_C(3600000000000);
	AUTO(string) char *late = ask("GET", path.data, "");

	fails(late, "invalid_token", "Invalid Value");
}

TEST(what_is_no_token_is_refused)
{
	AUTO(string) char *nothing = ask("GET", "/tokeninfo", "");
	AUTO(string) char *other = ask("GET", "/tokeninfo?access_token=ya29.a0AfH6", "");
	AUTO(string) char *identity = ask("GET", "/tokeninfo?id_token=a.b.c", "");

	(void)state_;
	fails(nothing, "invalid_request", "required");
	fails(other, "invalid_token", "Invalid Value");
	fails(identity, "invalid_token", "Invalid Value");
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH(an_assertion_becomes_an_access_token),
		WITH(an_assertion_with_a_target_becomes_an_identity_token),
		WITH(google_s_own_names_of_the_endpoint_will_do),
		WITH(what_is_wrong_with_an_assertion_is_said),
		WITH(a_grant_that_is_none_is_refused),
		WITH(the_keys_are_public),
		WITH(a_token_can_be_asked_about),
		WITH(an_identity_token_can_be_asked_about),
		WITH(what_is_no_token_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
