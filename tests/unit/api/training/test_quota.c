/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/quota.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/testing.h"

#define MINUTE_US (60 * INT64_C(1000000))

static struct quota_limits limits_of(const char *text)
{
	struct error err AUTO_ERROR = { 0 };
	struct quota_limits limits = { 0 };

	if (quota_parse(text, &limits, &err))
		fail_msg("%s: %s", text, err.text);
	return limits;
}

static void a_list_names_limits_and_leaves_the_others_out(void **state)
{
	struct quota_limits none = limits_of("");
	struct quota_limits some = limits_of("create=60,read=300,vcpus=20,K80=2,V100=0,TPU_V2_POD=32");

	(void)state;
	assert_true(none.create == QUOTA_UNLIMITED && none.read == QUOTA_UNLIMITED &&
		    none.vcpus == QUOTA_UNLIMITED);
	for (int i = 0; i < ACCELERATOR_COUNT; i++)
		assert_true(none.accelerators[i] == ACCELERATOR_UNLIMITED);
	assert_int_equal(some.create, 60);
	assert_int_equal(some.read, 300);
	assert_int_equal(some.vcpus, 20);
	assert_int_equal(some.accelerators[ACCELERATOR_K80], 2);
	assert_int_equal(some.accelerators[ACCELERATOR_V100], 0);
	assert_int_equal(some.accelerators[ACCELERATOR_TPU_V2_POD], 32);
	assert_true(some.accelerators[ACCELERATOR_TPU_V2] == ACCELERATOR_UNLIMITED);
}

static void lists_are_read_to_the_letter(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ "create=0", true },
		{ "vcpus=1", true },
		{ "vcpus=0", false },
		{ "K80=1000000000", true },
		{ "K80=1000000001", false },
		{ "K80=99999999999999999999", false },
		{ "A100=1,K80=1,P100=1,P4=1,T4=1,TPU_V2=1,TPU_V2_POD=1,TPU_V3=1,TPU_V3_POD=1,V100=1", true },
		{ "K80", false },
		{ "K80=", false },
		{ "=1", false },
		{ "k80=1", false },
		{ "NVIDIA_TESLA_K80=1", false },
		{ "K80=-1", false },
		{ "K80=+1", false },
		{ "K80=1 ", false },
		{ " K80=1", false },
		{ "K80=1x", false },
		{ "K80=1,", false },
		{ ",K80=1", false },
		{ "K80=1,,T4=1", false },
		{ "K80=1,K80=2", false },
		{ "anything=1", false },
		{ "anything-that-is-long-and-has-no-end=1", false },
		{ ",", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct quota_limits limits;
		struct error err AUTO_ERROR = { 0 };
		enum status status = quota_parse(rows[i].text, &limits, &err);

		if ((status == STATUS_OK) != rows[i].good)
			fail_msg("'%s': %s", rows[i].text, err.text ? err.text : "taken");
		if (!rows[i].good)
			assert_int_equal(status, STATUS_INVALID_ARGUMENT);
	}
}

static void a_job_may_ask_for_what_there_is_and_no_more(void **state)
{
	static const struct {
		const char *limits, *type;
		uint64_t count;
		const char *text; /* NULL: accepted */
	} rows[] = {
		{ "K80=2", "NVIDIA_TESLA_K80", 2, NULL },
		{ "K80=2", "NVIDIA_TESLA_K80", 3,
		  "Quota failure for project p. The request for 3 K80 accelerators exceeds the allowed "
		  "maximum of unlimited A100, 2 K80, unlimited P100, unlimited P4, unlimited T4, unlimited "
		  "TPU_V2, unlimited TPU_V2_POD, unlimited TPU_V3, unlimited TPU_V3_POD, unlimited V100 "
		  "accelerators." },
		{ "K80=0,A100=0,P100=0,P4=0,T4=0,TPU_V2=0,TPU_V2_POD=0,TPU_V3=0,TPU_V3_POD=0,V100=0",
		  "NVIDIA_TESLA_K80", 2,
		  "Quota failure for project p. The request for 2 K80 accelerators exceeds the allowed "
		  "maximum of 0 A100, 0 K80, 0 P100, 0 P4, 0 T4, 0 TPU_V2, 0 TPU_V2_POD, 0 TPU_V3, 0 "
		  "TPU_V3_POD, 0 V100 accelerators." },
		{ "K80=2", "NVIDIA_TESLA_T4", 1000, NULL },
		{ "TPU_V2=0", "TPU_V2", 8, "The request for 8 TPU_V2 accelerators" },
		{ "TPU_V2=8", "TPU_V2", 8, NULL },
		{ "TPU_V2=0", "TPU_V4_POD", 8, NULL },
		{ "create=0", "NVIDIA_TESLA_K80", 64, NULL },
		{ "V100=1000", "NVIDIA_TESLA_V100", UINT64_C(1) << 40, "4294967295 V100" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct quota_limits limits = limits_of(rows[i].limits);
		struct quota_request request = { 0 };
		struct error err AUTO_ERROR = { 0 };
		enum status status;

		quota_request_add(&request, rows[i].type, rows[i].count);
		status = quota_check_request(&limits, &request, "p", &err);
		assert_int_equal(status, rows[i].text ? STATUS_RESOURCE_EXHAUSTED : STATUS_OK);
		if (!rows[i].text)
			continue;
		if (!strstr(err.text, rows[i].text))
			fail_msg("%s", err.text);
		assert_int_equal(err.detail, ERROR_DETAIL_QUOTA);
		assert_string_equal(err.violations[0].field, "p");
	}
}

static void the_replicas_of_all_roles_are_added(void **state)
{
	struct quota_limits limits = limits_of("T4=4");
	struct quota_request request = { 0 };

	(void)state;
	quota_request_add(&request, "NVIDIA_TESLA_T4", 2);
	quota_request_add(&request, "NVIDIA_TESLA_T4", 2);
	assert_int_equal(quota_check_request(&limits, &request, "p", NULL), STATUS_OK);
	quota_request_add(&request, "NVIDIA_TESLA_T4", 1);
	assert_int_equal(quota_check_request(&limits, &request, "p", NULL), STATUS_RESOURCE_EXHAUSTED);
}

/* Parameters with which a test calls a counter repeatedly. */
struct line {
	struct quota_counter *counter;
	struct quota_limits limits;
};

static enum status call(struct line *line, enum quota_metric metric, const char *project, int64_t now_us)
{
	return quota_count(line->counter, &line->limits, metric, project, "project_number:1", now_us, NULL);
}

static void calls_are_counted_by_project_and_kind_for_a_minute(void **state)
{
	struct line line = { quota_counter_new(), limits_of("create=2,read=1") };
	const int64_t start = 5 * MINUTE_US + 7;

	(void)state;
	assert_int_equal(call(&line, QUOTA_CREATE, "p", start), STATUS_OK);
	assert_int_equal(call(&line, QUOTA_READ, "p", start), STATUS_OK);
	assert_int_equal(call(&line, QUOTA_CREATE, "p", start + 1), STATUS_OK);
	assert_int_equal(call(&line, QUOTA_CREATE, "p", start + 2), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(call(&line, QUOTA_READ, "p", start + 2), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(call(&line, QUOTA_CREATE, "q", start + 2), STATUS_OK);
	assert_int_equal(call(&line, QUOTA_CREATE, "p", start + MINUTE_US - 1), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(call(&line, QUOTA_CREATE, "p", start + MINUTE_US), STATUS_OK);
	assert_int_equal(call(&line, QUOTA_READ, "p", start + MINUTE_US), STATUS_OK);
	assert_int_equal(call(&line, QUOTA_READ, "p", start + MINUTE_US), STATUS_RESOURCE_EXHAUSTED);
	quota_counter_free(line.counter);
}

static void without_a_limit_nothing_is_counted_and_zero_lets_nobody_in(void **state)
{
	struct line line = { quota_counter_new(), limits_of("read=0") };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(call(&line, QUOTA_CREATE, "p", 0), STATUS_OK);
	assert_int_equal(call(&line, QUOTA_READ, "p", 0), STATUS_RESOURCE_EXHAUSTED);
	quota_counter_free(line.counter);
	quota_counter_free(NULL);
}

/* Project names come from clients, so the number of counters must be bounded. */
static void many_projects_push_the_oldest_out(void **state)
{
	struct line line = { quota_counter_new(), limits_of("create=1") };
	char project[16];

	(void)state;
	for (int i = 0; i < 10000; i++) {
		snprintf(project, sizeof(project), "p%d", i);
		assert_int_equal(call(&line, QUOTA_CREATE, project, i), STATUS_OK);
		assert_int_equal(call(&line, QUOTA_CREATE, project, i), STATUS_RESOURCE_EXHAUSTED);
	}
	assert_int_equal(call(&line, QUOTA_CREATE, "p9900", 10000), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(call(&line, QUOTA_CREATE, "p0", 10000), STATUS_OK);
	quota_counter_free(line.counter);
}

static void the_refusal_has_the_words_of_a_rate_quota(void **state)
{
	struct quota_counter *counter = quota_counter_new();
	struct quota_limits limits = limits_of("create=0");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(quota_count(counter, &limits, QUOTA_CREATE, "p", "project_number:123", 0, &err),
			 STATUS_RESOURCE_EXHAUSTED);
	assert_string_equal(err.text,
			    "Quota exceeded for quota metric 'Job submission requests' and limit 'Job "
			    "submission requests per minute per project' of service 'ml.googleapis.com' for "
			    "consumer 'project_number:123'.");
	assert_string_equal(err.reason, "RATE_LIMIT_EXCEEDED");
	assert_string_equal(err.metadata[0].value, "ml.googleapis.com");
	assert_string_equal(err.metadata[1].key, "consumer");
	assert_string_equal(err.metadata[1].value, "projects/123");
	assert_string_equal(err.violations[0].field, "project_number:123");
	quota_counter_free(counter);
}

enum { CALLS_OF_A_THREAD = 500 };

static void *thread_calls(void *arg)
{
	uintptr_t allowed = 0;

	for (int i = 0; i < CALLS_OF_A_THREAD; i++)
		allowed += call(arg, QUOTA_READ, "p", 0) == STATUS_OK;
	return (void *)allowed;
}

static void threads_together_get_no_more_than_the_limit(void **state)
{
	struct line line = { quota_counter_new(), limits_of("read=700") };
	pthread_t threads[4];
	uintptr_t sum = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_calls, &line), 0);
	for (size_t i = 0; i < COUNT_OF(threads); i++) {
		void *allowed;

		pthread_join(threads[i], &allowed);
		sum += (uintptr_t)allowed;
	}
	assert_int_equal(sum, 700);
	quota_counter_free(line.counter);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_names_limits_and_leaves_the_others_out),
		cmocka_unit_test(lists_are_read_to_the_letter),
		cmocka_unit_test(a_job_may_ask_for_what_there_is_and_no_more),
		cmocka_unit_test(the_replicas_of_all_roles_are_added),
		cmocka_unit_test(calls_are_counted_by_project_and_kind_for_a_minute),
		cmocka_unit_test(without_a_limit_nothing_is_counted_and_zero_lets_nobody_in),
		cmocka_unit_test(many_projects_push_the_oldest_out),
		cmocka_unit_test(the_refusal_has_the_words_of_a_rate_quota),
		cmocka_unit_test(threads_together_get_no_more_than_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
