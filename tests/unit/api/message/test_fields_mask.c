/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message.h"

#include "tests/unit/api/message/json_testing.h"

static const char page[] = "{'jobs':[{'jobId':'a','state':'FAILED','labels':{'x':'1','y':'2'},"
			   "'trainingInput':{'region':'r','args':['p']}},{'jobId':'b'}],'nextPageToken':'t'}";

static const struct {
	const char *mask, *kept;
} rows[] = {
	{ "*", page },
	{ "nextPageToken", "{'nextPageToken':'t'}" },
	{ "next_page_token", "{'nextPageToken':'t'}" },
	{ "jobs(jobId,state),nextPageToken",
	  "{'jobs':[{'jobId':'a','state':'FAILED'},{'jobId':'b'}],'nextPageToken':'t'}" },
	{ "jobs/jobId", "{'jobs':[{'jobId':'a'},{'jobId':'b'}]}" },
	{ "jobs.jobId", "{'jobs':[{'jobId':'a'},{'jobId':'b'}]}" },
	{ "jobs/jobId,jobs/state", "{'jobs':[{'jobId':'a','state':'FAILED'},{'jobId':'b'}]}" },
	{ "jobs/trainingInput/region", "{'jobs':[{'trainingInput':{'region':'r'}},{}]}" },
	{ "jobs(trainingInput(args),labels/x)",
	  "{'jobs':[{'labels':{'x':'1'},'trainingInput':{'args':['p']}},{}]}" },
	{ "jobs(*/region)", "{'jobs':[{'trainingInput':{'region':'r'}},{}]}" },
	{ "*/jobId", "{'jobs':[{'jobId':'a'},{'jobId':'b'}]}" },
	{ "jobs(*/region,labels/y)", "{'jobs':[{'labels':{'y':'2'},'trainingInput':{'region':'r'}},{}]}" },
	{ "jobs/jobId,jobs", "{'jobs':[{'jobId':'a','state':'FAILED','labels':{'x':'1','y':'2'},"
			     "'trainingInput':{'region':'r','args':['p']}},{'jobId':'b'}]}" },
	{ "nextPageToken,nextPageToken/x", "{'nextPageToken':'t'}" },
	{ " nextPageToken , nope ", "{'nextPageToken':'t'}" },
	{ "nope", "{}" },
	{ "nextPageToken/nope", "{}" },
};

static void only_what_the_mask_names_is_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *value = json_of(page);
		struct error err AUTO_ERROR = { 0 };

		if (fields_mask_apply(value, rows[i].mask, &err))
			fail_msg("%s: %s", rows[i].mask, err.text);
		assert_json_text(value, rows[i].kept);
	}
}

static void malformed_masks_are_refused(void **state)
{
	static const char *const masks[] = { "",    ",",   "a,",    "a,,b",   "a(",   "a(b",
					     "a)",  "a()", "/a",    "a/",     "a//b", "a b",
					     "a;b", "(a)", "a(b)c", "a(b)/c", "\xff", "jobs(jobId,)" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(masks); i++) {
		AUTO(json) json_t *value = json_of(page);
		struct error err AUTO_ERROR = { 0 };

		if (!fields_mask_apply(value, masks[i], &err))
			fail_msg("'%s' was taken", masks[i]);
		assert_int_equal(err.status, STATUS_INVALID_ARGUMENT);
		assert_non_null(strstr(err.text, "Invalid field selection"));
		assert_json_text(value, page);
	}
}

static void endless_nesting_is_refused(void **state)
{
	struct text mask = { 0 };
	AUTO(json) json_t *value = json_of(page);

	(void)state;
	for (int i = 0; i < 100000; i++)
		text_puts(&mask, "a(");
	assert_int_equal(fields_mask_apply(value, mask.data, NULL), STATUS_INVALID_ARGUMENT);
	text_clear(&mask);
	for (int i = 0; i < 100000; i++)
		text_puts(&mask, "a/");
	text_putc(&mask, 'a');
	assert_int_equal(fields_mask_apply(value, mask.data, NULL), STATUS_INVALID_ARGUMENT);
	text_deinit(&mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_the_mask_names_is_kept),
		cmocka_unit_test(malformed_masks_are_refused),
		cmocka_unit_test(endless_nesting_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
