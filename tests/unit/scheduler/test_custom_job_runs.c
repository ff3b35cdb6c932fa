/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of Vertex AI, from plan to end. */
#include "daemon/base/json.h"
#include "tests/unit/scheduler/scheduler_testing.h"

static const char job_id[] = "3793775725299892224";

static struct plan *custom_plan(unsigned workers)
{
	struct plan *plan = plan_new();

	plan->dialect = strdup("aiplatform");
	plan->project = strdup("p");
	plan->project_number = strdup("42");
	plan->job_id = strdup(job_id);
	plan->cluster_id = strdup("5f0c1a9e77");
	plan->region = strdup("us-central1");
	plan->input = strdup("{\"python_module\":\"\",\"package_uris\":[],\"job_args\":[]}");
	plan->uses_chief = true;
	plan->pools[ROLE_MASTER] = (struct pool){ .count = 1, .image = strdup("image:1") };
	plan->pools[ROLE_WORKER] = (struct pool){ .count = workers, .image = strdup("image:2") };
	return plan;
}

static int64_t plan_submit(struct bench *bench, const struct plan *plan)
{
	AUTO(string) char *text = plan_to_text(plan);
	AUTO(job) struct job *stored = NULL;

	assert_int_equal(
		job_insert(bench->store,
			   &(struct job){ .kind = KIND_CUSTOM,
					  .project = plan->project,
					  .location = plan->region,
					  .display_name = (char *)"d",
					  .job_id = plan->job_id,
					  .input = (char *)"{}",
					  .output = (char *)"{}",
					  .plan = text },
			   (struct service_line[]){ { SEVERITY_INFO, "Waiting for job to be provisioned." } },
			   1, &stored, NULL),
		STATUS_OK);
	return stored->id;
}

static int64_t custom_submit(struct bench *bench, unsigned workers)
{
	AUTO(plan) struct plan *plan = custom_plan(workers);

	return plan_submit(bench, plan);
}

static void code_check(struct bench *bench, int64_t id, int code)
{
	AUTO(job) struct job *job = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_int_equal(job->error_code, code);
}

static void the_service_says_its_lines_in_their_order(void **state)
{
	struct bench *bench = *state;
	int64_t id = custom_submit(bench, 1);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	AUTO(string) char *log = NULL;

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	code_check(bench, id, 0);
	log = service_log(bench, job_id);
	assert_string_equal(log,
			    "Waiting for job to be provisioned.\nVertex AI is setting up this job.\n"
			    "Waiting for training program to start.\nJob is preparing.\nJob is running.\n"
			    "Job completed successfully.\n");
}

static void a_workers_failure_is_the_jobs(void **state)
{
	struct bench *bench = *state;
	int64_t id = custom_submit(bench, 2);
	struct replica_key worker = key_of(id, ROLE_WORKER, 1);
	AUTO(string) char *log = NULL;

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_exit(bench->fake, &worker, 1);
	idle_await(bench);
	job_check(
		bench, id, JOB_FAILED,
		"The replica workerpool1-1 exited with a non-zero status of 1. Termination reason: Error. ");
	job_check(bench, id, JOB_FAILED,
		  "?project=42&resource=ml_job%2Fjob_id%2F3793775725299892224&advancedFilter=");
	code_check(bench, id, STATUS_INVALID_ARGUMENT);
	log = service_log(bench, job_id);
	assert_non_null(strstr(log, "\nJob failed.\n"));
	assert_null(strstr(log, "Tearing down"));
}

static void a_crash_by_signal_begins_the_job_anew(void **state)
{
	struct bench *bench = *state;
	int64_t id = custom_submit(bench, 1);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	fake_engine_exit(bench->fake, &master, 134);
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
}

static void one_that_never_retries_fails_of_what_it_lost(void **state)
{
	struct bench *bench = *state;
	AUTO(plan) struct plan *plan = custom_plan(1);
	struct replica_key worker;
	int64_t id;

	plan->never_retries = plan->restarts_whole = true;
	id = plan_submit(bench, plan);
	worker = key_of(id, ROLE_WORKER, 0);
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_snatch(bench->fake, &worker);
	idle_await(bench);
	job_check(bench, id, JOB_FAILED, "Internal error occurred for the current attempt. ");
	code_check(bench, id, STATUS_INTERNAL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 2);
}

/* Fails with: job_run_restarts() without its look at preemptible. */
static void a_preempted_replica_begins_the_whole_job_anew(void **state)
{
	struct bench *bench = *state;
	AUTO(plan) struct plan *plan = custom_plan(1);
	struct replica_key worker, master;
	int64_t id;

	plan->preemptible = true;
	id = plan_submit(bench, plan);
	worker = key_of(id, ROLE_WORKER, 0);
	master = key_of(id, ROLE_MASTER, 0);
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_snatch(bench->fake, &worker);
	line_await(bench, job_id, "The job is tried again (attempt 2).");
	master.attempt = 2;
	fake_engine_exit(bench->fake, &master, 0); /* waits until it runs */
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 4);
}

static void a_job_out_of_time_is_cancelled(void **state)
{
	struct bench *bench = *state;
	AUTO(plan) struct plan *plan = custom_plan(0);
	int64_t id;

	plan->max_running_us = 1000;
	id = plan_submit(bench, plan);
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_CANCELLED);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "because it ran longer than its timeout of 0.001s.");
	code_check(bench, id, STATUS_CANCELLED);
}

static void a_job_that_is_cancelled_says_so(void **state)
{
	struct bench *bench = *state;
	int64_t id = custom_submit(bench, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	assert_int_equal(job_cancel_by_id(bench->store, id, "Cancelled.", NULL), STATUS_OK);
	idle_await(bench);
	job_check(bench, id, JOB_CANCELLED, "Cancelled.");
	code_check(bench, id, STATUS_CANCELLED);
	line_await(bench, job_id, "\nJob cancelled.\n");
}

/* A single replica can resolve the name in its CLUSTER_SPEC. */
static void a_replica_alone_knows_its_name_and_its_variables(void **state)
{
	struct bench *bench = *state;
	AUTO(plan) struct plan *plan = custom_plan(0);
	AUTO(string) char *surroundings = NULL;
	static const char *const parts[] = {
		"\"chief\":[\"cmle-training-workerpool0-5f0c1a9e77-0:2222\"]",
		"\ncmle-training-workerpool0-5f0c1a9e77-0:",
		"\nAIP_MODEL_DIR=gs://b/o/model/\n",
		"\nOUT=gs://b/o/logs/x\n",
		"\nCLOUD_ML_REGION=mine\n",
	};
	struct replica_key master;

	plan->job_dir = strdup("gs://b/o/");
	plan->pools[ROLE_MASTER].env =
		json_pack("[s, s]", "OUT=$(AIP_TENSORBOARD_LOG_DIR)x", "CLOUD_ML_REGION=mine");
	master = key_of(plan_submit(bench, plan), ROLE_MASTER, 0);
	fake_engine_up(bench->fake);
	surroundings = fake_engine_surroundings(bench->fake, &master);
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (!strstr(surroundings, parts[i]))
			fail_msg("%s is not in %s", parts[i], surroundings);
	assert_null(strstr(surroundings, "TF_CONFIG="));
	assert_null(strstr(surroundings, "RANK="));
	assert_null(strstr(surroundings, "us-central1"));
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(the_service_says_its_lines_in_their_order),
		BENCH_TEST(a_workers_failure_is_the_jobs),
		BENCH_TEST(a_crash_by_signal_begins_the_job_anew),
		BENCH_TEST(one_that_never_retries_fails_of_what_it_lost),
		BENCH_TEST(a_preempted_replica_begins_the_whole_job_anew),
		BENCH_TEST(a_job_out_of_time_is_cancelled),
		BENCH_TEST(a_job_that_is_cancelled_says_so),
		BENCH_TEST(a_replica_alone_knows_its_name_and_its_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
