/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/message/refusal.h"
#include "daemon/base/error.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

TEST(every_status_has_its_canonical_name)
{
	(void)state_;
	assert_string_equal(status_name(STATUS_OK), "OK");
	assert_string_equal(status_name(STATUS_INVALID_ARGUMENT), "INVALID_ARGUMENT");
	assert_string_equal(status_name(STATUS_UNAUTHENTICATED), "UNAUTHENTICATED");
	for (int status = STATUS_OK; status <= STATUS_UNAUTHENTICATED; status++)
		assert_true(strlen(status_name((enum status)status)) > 0);
	assert_string_equal(status_name((enum status)17), "UNKNOWN");
	assert_string_equal(status_name((enum status) - 1), "UNKNOWN");
}

TEST(an_error_without_a_field_is_its_text)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	assert_int_equal(error_set(&err, STATUS_NOT_FOUND, NULL, "no job %s", "j"), STATUS_NOT_FOUND);
	assert_int_equal(err.status, STATUS_NOT_FOUND);
	assert_string_equal(err.text, "no job j");
	assert_int_equal(err.violation_count, 0);
}

TEST(a_list_numbers_what_was_found)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	assert_int_equal(refusal_add_listed(&err, "job_spec.network", "no %s", "good"),
			 STATUS_INVALID_ARGUMENT);
	refusal_add_listed(&err, "labels", "bad");
	assert_string_equal(err.text, "List of found errors:\t1.Field: job_spec.network; Message: no good\t"
				      "2.Field: labels; Message: bad\t");
	assert_int_equal(err.violation_count, 2);
	assert_string_equal(err.violations[1].field, "labels");
	assert_string_equal(err.violations[1].text, "bad");
	assert_int_equal(refusal_add_listed(NULL, "a", "b"), STATUS_INVALID_ARGUMENT);
}

TEST(an_error_with_a_field_names_it_as_the_service_does)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_ALREADY_EXISTS, "job.job_id", "taken");
	assert_string_equal(err.text, "Field: job.job_id Error: taken");
	assert_int_equal(err.violation_count, 1);
	assert_string_equal(err.violations[0].field, "job.job_id");
	assert_string_equal(err.violations[0].text, "taken");
}

TEST(several_faults_are_joined_and_the_first_status_stays)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	assert_int_equal(error_add(&err, STATUS_INVALID_ARGUMENT, "a", "one"), STATUS_INVALID_ARGUMENT);
	assert_int_equal(error_add(&err, STATUS_NOT_FOUND, "b", "two"), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "Field: a Error: one Field: b Error: two");
	assert_int_equal(err.violation_count, 2);
}

TEST(sentences_of_the_front_end_are_joined_by_lines)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	refusal_add_transcoding(&err, "job", "One %d.", 1);
	refusal_add_transcoding(&err, NULL, "Two.");
	assert_int_equal(err.status, STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "One 1.\nTwo.");
	assert_string_equal(err.violations[0].text, "One 1.");
	assert_null(err.violations[1].field);
}

TEST(a_second_set_replaces_the_first)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_INVALID_ARGUMENT, "a", "one");
	error_set(&err, STATUS_ABORTED, NULL, "two");
	assert_int_equal(err.status, STATUS_ABORTED);
	assert_string_equal(err.text, "two");
	assert_int_equal(err.violation_count, 0);
}

TEST(context_is_put_before_internal_texts_only)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_INTERNAL, NULL, "disk full");
	assert_int_equal(error_wrap(&err, "create job %s", "x"), STATUS_INTERNAL);
	assert_string_equal(err.text, "create job x: disk full");
	error_set(&err, STATUS_NOT_FOUND, NULL, "no such job");
	assert_int_equal(error_wrap(&err, "context"), STATUS_NOT_FOUND);
	assert_string_equal(err.text, "no such job");
}

TEST(an_error_moves_and_leaves_nothing_behind)
{
	struct error from AUTO_ERROR = { 0 };
	struct error to AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&to, STATUS_ABORTED, "x", "old");
	error_set(&from, STATUS_INVALID_ARGUMENT, "a", "one");
	assert_int_equal(error_move(&to, &from), STATUS_INVALID_ARGUMENT);
	assert_string_equal(to.text, "Field: a Error: one");
	assert_null(from.text);
	assert_int_equal(from.status, STATUS_OK);
	assert_int_equal(error_move(NULL, &to), STATUS_INVALID_ARGUMENT);
	assert_null(to.text);
}

TEST(the_status_alone_is_enough_where_no_one_reads_the_text)
{
	(void)state_;
	assert_int_equal(error_set(NULL, STATUS_ABORTED, "a", "x"), STATUS_ABORTED);
	assert_int_equal(error_add(NULL, STATUS_ABORTED, "a", "x"), STATUS_ABORTED);
	assert_int_equal(refusal_add_transcoding(NULL, "a", "x"), STATUS_INVALID_ARGUMENT);
}

TEST(a_quota_has_its_subject_and_its_text_as_it_is)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_set(&err, STATUS_ABORTED, "a", "old");
	assert_int_equal(refusal_set_quota(&err, "p", "%d too many", 2), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(err.status, STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(err.detail, ERROR_DETAIL_QUOTA);
	assert_string_equal(err.text, "2 too many");
	assert_int_equal(err.violation_count, 1);
	assert_string_equal(err.violations[0].field, "p");
	assert_string_equal(err.violations[0].text, "2 too many");
	assert_int_equal(refusal_set_quota(NULL, "p", "x"), STATUS_RESOURCE_EXHAUSTED);
	error_set(&err, STATUS_ABORTED, NULL, "other");
	assert_int_equal(err.detail, ERROR_DETAIL_FIELDS);
}

TEST(a_reason_keeps_what_belongs_to_it)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_add_reason(NULL, "R", "a", "b");
	refusal_set_quota(&err, "p", "no more");
	error_add_reason(&err, "R", NULL, NULL);
	error_add_reason(&err, "ignored", "a", "1");
	error_add_reason(&err, "ignored", "b", "2");
	assert_string_equal(err.reason, "R");
	assert_int_equal(err.metadata_count, 2);
	assert_string_equal(err.metadata[1].key, "b");
	assert_string_equal(err.metadata[1].value, "2");
	error_set(&err, STATUS_ABORTED, NULL, "other");
	assert_null(err.reason);
	assert_int_equal(err.metadata_count, 0);
}

/* Fails with: refusal_list() without its look at is_semantic */
TEST(only_sentences_about_fields_become_a_list)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	error_add(&err, STATUS_INVALID_ARGUMENT, "a", "is %d", 1);
	error_add(&err, STATUS_INVALID_ARGUMENT, "b", "is 2");
	refusal_list(&err);
	assert_string_equal(err.text,
			    "List of found errors:\t1.Field: a; Message: is 1\t2.Field: b; Message: is 2\t");
	assert_int_equal(err.violation_count, 2);
	refusal_list(&err);
	assert_int_equal(err.violation_count, 2);
	error_set(&err, STATUS_NOT_FOUND, "name", "Not here.");
	refusal_list(&err);
	assert_string_equal(err.text, "Field: name Error: Not here.");
	error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "Alone.");
	error_add(&err, STATUS_INVALID_ARGUMENT, "a", "is 1");
	refusal_list(&err);
	assert_string_equal(err.text, "Alone. Field: a Error: is 1");
	error_deinit(&err);
	error_add(&err, STATUS_INVALID_ARGUMENT, "a", "is 1");
	error_add(&err, STATUS_INVALID_ARGUMENT, NULL, "Beside.");
	refusal_list(&err);
	assert_string_equal(err.text, "Field: a Error: is 1 Beside.");
	error_deinit(&err);
	refusal_add_transcoding(&err, "a", "Invalid value.");
	refusal_list(&err);
	assert_string_equal(err.text, "Invalid value.");
}

TEST(a_second_deinit_is_harmless)
{
	struct error err = { 0 };

	(void)state_;
	error_set(&err, STATUS_ABORTED, "a", "x");
	error_deinit(&err);
	error_deinit(&err);
	assert_null(err.text);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_its_canonical_name),
		cmocka_unit_test(an_error_without_a_field_is_its_text),
		cmocka_unit_test(a_list_numbers_what_was_found),
		cmocka_unit_test(an_error_with_a_field_names_it_as_the_service_does),
		cmocka_unit_test(several_faults_are_joined_and_the_first_status_stays),
		cmocka_unit_test(sentences_of_the_front_end_are_joined_by_lines),
		cmocka_unit_test(a_second_set_replaces_the_first),
		cmocka_unit_test(context_is_put_before_internal_texts_only),
		cmocka_unit_test(an_error_moves_and_leaves_nothing_behind),
		cmocka_unit_test(the_status_alone_is_enough_where_no_one_reads_the_text),
		cmocka_unit_test(a_quota_has_its_subject_and_its_text_as_it_is),
		cmocka_unit_test(a_reason_keeps_what_belongs_to_it),
		cmocka_unit_test(only_sentences_about_fields_become_a_list),
		cmocka_unit_test(a_second_deinit_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
