/* SPDX-License-Identifier: Apache-2.0 */
/* Tests training_storage_use() of api/training/precheck.c. */
#include "api/training/context.h"
#include "scheduler/plan/deviation.h"
#include "tests/unit/scheduler/plan/plan_testing.h"
#include "tests/unit/store/objects/objects_testing.h"

static struct plan *plan_of(const char *job_dir)
{
	struct plan *plan = plan_named("p", "t");

	plan->job_dir = job_dir ? strdup(job_dir) : NULL;
	plan->pools[ROLE_MASTER].count = 1;
	plan->pools[ROLE_MASTER].image = strdup("image:1");
	return plan;
}

/* Fails with: objects_since is not written to the plan's text: 0 comes back. */
static void a_tuning_jobs_plan_keeps_which_objects_there_are(void **state)
{
	YARD(state);
	const struct training_context context = { .objects = yard->objects };
	AUTO(plan) struct plan *plan = plan_of("gs://bucket/out");
	AUTO(plan) struct plan *again = NULL;
	AUTO(string) char *text = NULL;

	plan->search = json_pack("{s:[]}", "metrics");
	OK(training_storage_use(&context, plan, &yard->err));
	text = plan_to_text(plan);
	OK(plan_from_text(text, &again, &yard->err));
	assert_true(again->objects_since == plan->objects_since && again->objects_since > 0);
	assert_true(text_put(yard, "a", "1") >= plan->objects_since);
}

static void plans_that_read_no_objects_keep_nothing(void **state)
{
	YARD(state);
	const struct training_context ours = { .objects = yard->objects }, none = { 0 };
	AUTO(plan) struct plan *trains = plan_of("gs://bucket/out");
	AUTO(plan) struct plan *nowhere = plan_of(NULL);
	AUTO(plan) struct plan *elsewhere = plan_of("gs://bucket/out");

	nowhere->search = json_pack("{s:[]}", "metrics");
	elsewhere->search = json_pack("{s:[]}", "metrics");
	OK(training_storage_use(&ours, trains, &yard->err));
	OK(training_storage_use(&ours, nowhere, &yard->err));
	OK(training_storage_use(&none, elsewhere, &yard->err));
	assert_int_equal(trains->objects_since, 0);
	assert_int_equal(nowhere->objects_since, 0);
	assert_int_equal(elsewhere->objects_since, 0);
	assert_false(yard->objects->is_open); /* no database is made for such a job */
}

static bool fake_missing(void *arg, const char *bucket)
{
	assert_string_equal(bucket, "bucket");
	return *(const bool *)arg;
}

/* Fails with: training_storage_report() that does not ask whether the bucket is missing; training_storage_use() without it. */
static void a_bucket_that_is_made_is_told(void **state)
{
	YARD(state);
	for (int i = 0; i < 4; i++) {
		bool missing = i % 2;
		const struct training_context context = { .bucket_missing = fake_missing,
							  .bucket_arg = &missing };
		AUTO(plan) struct plan *plan = plan_of("gs://bucket/out");

		if (i < 2)
			training_storage_report(&context, plan);
		else
			OK(training_storage_use(&context, plan, &yard->err));
		assert_int_equal(json_array_size(plan->deviations), missing);
		assert_true(!missing || deviations_begin(plan->deviations, "bucket-made",
							 "The bucket gs://bucket is made"));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tuning_jobs_plan_keeps_which_objects_there_are, yard_open,
						yard_close),
		cmocka_unit_test_setup_teardown(a_bucket_that_is_made_is_told, yard_open, yard_close),
		cmocka_unit_test_setup_teardown(plans_that_read_no_objects_keep_nothing, yard_open,
						yard_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
