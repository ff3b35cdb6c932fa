/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/deviation.h"
#include "tests/unit/scheduler/plan/plan_testing.h"
#include "tests/unit/testing.h"

static void roles_are_named_and_read(void **state)
{
	static const char *const names[] = { "master", "worker", "ps", "evaluator" };
	enum role role;

	(void)state;
	for (int i = 0; i < ROLE_COUNT; i++) {
		assert_string_equal(role_name((enum role)i), names[i]);
		assert_true(role_parse(names[i], &role));
		assert_int_equal(role, i);
	}
	assert_false(role_parse("chief", &role));
	assert_false(role_parse("", &role));
}

static void replicas_are_counted_in_the_order_of_their_roles(void **state)
{
	AUTO(plan) struct plan *plan = plan_full();

	(void)state;
	assert_int_equal(plan_replica_count(plan), 6);
	assert_int_equal(plan_replica_ordinal(plan, ROLE_MASTER, 0), 0);
	assert_int_equal(plan_replica_ordinal(plan, ROLE_PS, 0), 1);
	assert_int_equal(plan_replica_ordinal(plan, ROLE_PS, 2), 3);
	assert_int_equal(plan_replica_ordinal(plan, ROLE_EVALUATOR, 1), 5);
}

static void a_plan_survives_being_text(void **state)
{
	AUTO(plan) struct plan *plan = plan_full();
	AUTO(plan) struct plan *again = NULL;
	AUTO(string) char *text = plan_to_text(plan);
	AUTO(string) char *same = NULL;

	(void)state;
	assert_int_equal(plan_from_text(text, &again, NULL), STATUS_OK);
	same = plan_to_text(again);
	assert_string_equal(text, same);
	assert_string_equal(again->job_id, plan->job_id);
	assert_string_equal(again->input, plan->input);
	assert_true(again->uses_chief);
	assert_true(again->mounts_gcs);
	assert_int_equal(again->priority, 1000);
	assert_true(again->preemptible); /* Fails with: plan_to_text() without it */
	assert_true(again->max_running_us == plan->max_running_us);
	assert_true(again->max_wait_us == plan->max_wait_us);
	assert_int_equal(json_array_size(again->deviations), 1);
	assert_true(json_equal(again->deviations, plan->deviations));
	assert_string_equal(again->pools[ROLE_MASTER].cloud_image, "gcr.io/p/i:1");
	assert_null(again->pools[ROLE_PS].cloud_image);
	assert_true(json_equal(again->pools[ROLE_MASTER].command, plan->pools[ROLE_MASTER].command));
	assert_true(json_equal(again->pools[ROLE_MASTER].args, plan->pools[ROLE_MASTER].args));
	assert_string_equal(again->pools[ROLE_MASTER].accelerator_type, "NVIDIA_TESLA_K80");
	assert_int_equal(again->pools[ROLE_MASTER].accelerator_count, 2);
	assert_int_equal(again->pools[ROLE_WORKER].count, 0);
	assert_int_equal(again->pools[ROLE_PS].count, 3);
	assert_null(again->pools[ROLE_PS].args);
}

static void an_empty_plan_is_harmless(void **state)
{
	AUTO(plan) struct plan *plan = plan_new();
	AUTO(string) char *text = plan_to_text(plan);

	(void)state;
	assert_non_null(text);
	assert_int_equal(plan_replica_count(plan), 0);
	plan_free(NULL);
}

#define NAMES "\"dialect\":\"ml\",\"project\":\"p\",\"job_id\":\"j\",\"cluster_id\":\"c\""

/* A copy has all members, and shares no memory with the original. */
static void a_copy_is_a_plan_of_its_own(void **state)
{
	struct plan *plan = plan_full();
	AUTO(plan) struct plan *copy = plan_copy(plan);
	AUTO(string) char *text = plan_to_text(plan);
	AUTO(string) char *same = NULL;

	(void)state;
	json_array_clear(plan->deviations);
	json_array_clear(plan->pools[ROLE_MASTER].args);
	plan_free(plan);
	same = plan_to_text(copy);
	assert_string_equal(text, same);
}

static void a_log_goes_by_the_tuning_jobs_id(void **state)
{
	AUTO(plan) struct plan *plan = plan_new();

	(void)state;
	plan->job_id = strdup("1");
	assert_string_equal(plan_log_job_id(plan), "1");
	plan->tuning_job_id = strdup("2");
	assert_string_equal(plan_log_job_id(plan), "2");
}

static void only_gpus_of_pools_with_replicas_count(void **state)
{
	AUTO(plan) struct plan *plan = plan_new();
	struct pool *pools = plan->pools;

	(void)state;
	pools[ROLE_WORKER] = (struct pool){ .count = 3,
					    .accelerator_type = strdup("NVIDIA_TESLA_T4"),
					    .accelerator_count = 2 };
	pools[ROLE_PS] =
		(struct pool){ .count = 1, .accelerator_type = strdup("TPU_V2"), .accelerator_count = 8 };
	pools[ROLE_EVALUATOR] =
		(struct pool){ .accelerator_type = strdup("NVIDIA_TESLA_T4"), .accelerator_count = 4 };
	assert_int_equal(pool_gpu_count(&pools[ROLE_MASTER]), 0);
	assert_int_equal(pool_gpu_count(&pools[ROLE_WORKER]), 2);
	assert_int_equal(pool_gpu_count(&pools[ROLE_PS]), 0);
	assert_int_equal(pool_gpu_count(&pools[ROLE_EVALUATOR]), 0);
	assert_int_equal(plan_accelerator_count(plan), 6);
	pools[ROLE_WORKER].count = pools[ROLE_WORKER].accelerator_count = 1000000;
	assert_true(plan_accelerator_count(plan) == UINT32_MAX);
}

static void text_that_is_no_plan_is_refused(void **state)
{
	static const struct {
		const char *text;
		enum status status;
	} rows[] = {
		{ "{" NAMES "}", STATUS_OK },
		{ "{" NAMES ",\"pools\":{\"ps\":{\"count\":1}}}", STATUS_OK },
		{ "", STATUS_INTERNAL },
		{ "[]", STATUS_INTERNAL },
		{ "{}", STATUS_INTERNAL },
		{ "{" NAMES ",\"region\":1}", STATUS_INTERNAL },
		{ "{" NAMES ",\"differences\":[]}", STATUS_OK },
		{ "{" NAMES ",\"differences\":{}}", STATUS_INTERNAL },
		{ "{" NAMES ",\"differences\":[\"notice\"]}", STATUS_INTERNAL },
		{ "{" NAMES ",\"max_wait_us\":-1}", STATUS_INTERNAL },
		{ "{" NAMES ",\"priority\":3000000000}", STATUS_INTERNAL },
		{ "{" NAMES ",\"trial_count\":-1}", STATUS_INTERNAL },
		{ "{" NAMES ",\"uses_chief\":1}", STATUS_INTERNAL },
		{ "{" NAMES ",\"search\":[]}", STATUS_INTERNAL },
		{ "{" NAMES ",\"resumed_jobs\":[1]}", STATUS_INTERNAL },
		{ "{" NAMES ",\"pools\":{\"chief\":{\"count\":1}}}", STATUS_INTERNAL },
		{ "{" NAMES ",\"pools\":{\"ps\":{\"count\":0}}}", STATUS_INTERNAL },
		{ "{" NAMES ",\"pools\":{\"ps\":{\"count\":-1}}}", STATUS_INTERNAL },
		{ "{" NAMES ",\"pools\":{\"ps\":{\"count\":99999999999}}}", STATUS_INTERNAL },
		{ "{" NAMES ",\"pools\":{\"ps\":{\"count\":1,\"args\":\"x\"}}}", STATUS_INTERNAL },
		{ "{" NAMES ",\"pools\":{\"ps\":{\"count\":1,\"args\":[1]}}}", STATUS_INTERNAL },
		{ "{" NAMES ",\"pools\":{\"ps\":{\"count\":1,\"image\":[]}}}", STATUS_INTERNAL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(plan_from_text(rows[i].text, &plan, &err), rows[i].status);
		assert_int_equal(plan != NULL, rows[i].status == STATUS_OK);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_are_named_and_read),
		cmocka_unit_test(replicas_are_counted_in_the_order_of_their_roles),
		cmocka_unit_test(a_plan_survives_being_text),
		cmocka_unit_test(an_empty_plan_is_harmless),
		cmocka_unit_test(a_copy_is_a_plan_of_its_own),
		cmocka_unit_test(a_log_goes_by_the_tuning_jobs_id),
		cmocka_unit_test(only_gpus_of_pools_with_replicas_count),
		cmocka_unit_test(text_that_is_no_plan_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
