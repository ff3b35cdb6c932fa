/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/message/refusal.h"
#include "tests/unit/testing.h"

#include "api/http/error_body.h"

#define TEST(name) static void name(void **state_)

static void body_is(const struct error *err, enum refusal refusal, enum error_form form, const char *expected)
{
	struct text body AUTO_TEXT = { 0 };

	error_body_write(&body, err, refusal, form);
	assert_string_equal(body.data, expected);
}

TEST(every_status_has_its_http_status)
{
	static const unsigned expected[] = {
		[STATUS_OK] = 200,
		[STATUS_CANCELLED] = 499,
		[STATUS_UNKNOWN] = 500,
		[STATUS_INVALID_ARGUMENT] = 400,
		[STATUS_DEADLINE_EXCEEDED] = 504,
		[STATUS_NOT_FOUND] = 404,
		[STATUS_ALREADY_EXISTS] = 409,
		[STATUS_PERMISSION_DENIED] = 403,
		[STATUS_RESOURCE_EXHAUSTED] = 429,
		[STATUS_FAILED_PRECONDITION] = 400,
		[STATUS_ABORTED] = 409,
		[STATUS_OUT_OF_RANGE] = 400,
		[STATUS_UNIMPLEMENTED] = 501,
		[STATUS_INTERNAL] = 500,
		[STATUS_UNAVAILABLE] = 503,
		[STATUS_DATA_LOSS] = 500,
		[STATUS_UNAUTHENTICATED] = 401,
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(expected); i++)
		assert_int_equal(error_http_status((enum status)i), expected[i]);
	assert_int_equal(error_http_status((enum status)99), 500);
}

TEST(an_error_without_violations_has_no_details)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_NOT_FOUND, NULL, "no \"%s\"", "x");
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":404,\"message\":\"no \\\"x\\\"\",\"status\":\"NOT_FOUND\"}}");
}

TEST(a_field_at_fault_is_a_bad_request_detail)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_ALREADY_EXISTS, "job.job_id", "A job with this id already exists.");
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":409,\"message\":\"Field: job.job_id Error: A job with this id already "
		"exists.\","
		"\"status\":\"ALREADY_EXISTS\",\"details\":[{\"@type\":\"type.googleapis.com/"
		"google.rpc.BadRequest\","
		"\"fieldViolations\":[{\"field\":\"job.job_id\",\"description\":\"A job with this id already "
		"exists.\"}]}]}}");
}

TEST(violations_without_a_field_leave_it_out)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	refusal_add_transcoding(&err, NULL, "one");
	refusal_add_transcoding(&err, "job", "two");
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":400,\"message\":\"one\\ntwo\",\"status\":\"INVALID_ARGUMENT\","
		"\"details\":[{"
		"\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":["
		"{\"description\":\"one\"},{\"field\":\"job\",\"description\":\"two\"}]}]}}");
}

TEST(the_older_form_has_a_list_of_errors)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "no");
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_1,
		"{\"error\":{\"code\":400,\"message\":\"no\",\"errors\":[{\"message\":\"no\",\"domain\":"
		"\"global\","
		"\"reason\":\"badRequest\"}],\"status\":\"INVALID_ARGUMENT\"}}");
}

TEST(an_internal_cause_stays_inside)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_INTERNAL, "secret", "disk full");
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":500,\"message\":\"Internal error "
		"encountered.\",\"status\":\"INTERNAL\"}}");
}

TEST(a_quota_is_a_quota_failure)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	refusal_set_quota(&err, "p", "none left");
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":429,\"message\":\"none left\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":["
		"{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":["
		"{\"subject\":\"p\",\"description\":\"none left\"}]}]}}");
}

TEST(a_reason_comes_before_the_violations)
{
	struct error err AUTO_ERROR = { 0 };
	struct error alone AUTO_ERROR = { 0 };

	(void)state_;
	refusal_set_quota(&err, "p", "slow down");
	error_add_reason(&err, "RATE_LIMIT_EXCEEDED", "service", "ml");
	error_add_reason(&err, "RATE_LIMIT_EXCEEDED", "unit", "\"");
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":429,\"message\":\"slow down\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":["
		"{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"RATE_LIMIT_EXCEEDED\","
		"\"domain\":\"googleapis.com\",\"metadata\":{\"service\":\"ml\",\"unit\":\"\\\"\"}},"
		"{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":["
		"{\"subject\":\"p\",\"description\":\"slow down\"}]}]}}");
	error_set(&alone, STATUS_ABORTED, NULL, "no");
	error_add_reason(&alone, "R", NULL, NULL);
	body_is(&alone, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":409,\"message\":\"no\",\"status\":\"ABORTED\",\"details\":["
		"{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"R\","
		"\"domain\":\"googleapis.com\",\"metadata\":{}}]}}");
}

TEST(a_refusal_of_http_has_its_own_code)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "big");
	body_is(&err, REFUSAL_TOO_LARGE, ERROR_FORM_2,
		"{\"error\":{\"code\":413,\"message\":\"big\",\"status\":\"INVALID_ARGUMENT\"}}");
}

TEST(an_error_that_lost_its_words_still_says_its_status)
{
	const struct error err = { .status = STATUS_ABORTED };

	(void)state_;
	body_is(&err, REFUSAL_BY_STATUS, ERROR_FORM_2,
		"{\"error\":{\"code\":409,\"message\":\"ABORTED\",\"status\":\"ABORTED\"}}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_its_http_status),
		cmocka_unit_test(an_error_without_violations_has_no_details),
		cmocka_unit_test(a_field_at_fault_is_a_bad_request_detail),
		cmocka_unit_test(violations_without_a_field_leave_it_out),
		cmocka_unit_test(the_older_form_has_a_list_of_errors),
		cmocka_unit_test(an_internal_cause_stays_inside),
		cmocka_unit_test(a_quota_is_a_quota_failure),
		cmocka_unit_test(a_reason_comes_before_the_violations),
		cmocka_unit_test(a_refusal_of_http_has_its_own_code),
		cmocka_unit_test(an_error_that_lost_its_words_still_says_its_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
