/* SPDX-License-Identifier: Apache-2.0 */
/* Askings for memory fail all over the life of a job: it ends as it would have, and its log tells all of it once. */
#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"
#include "store/trials.h"
#include "tests/support/memory_faults.h"
#include "tests/unit/scheduler/scheduler_testing.h"

enum { LIVES = 24, BURST = 25 };

static json_t *search_make(void)
{
	struct parameter parameter = {
		.name = (char *)"x", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 1000, .parent = -1
	};
	struct metric metric = { .name = (char *)"accuracy" };

	return study_to_json(&(struct study){ .seed = 7,
					      .algorithm = ALGORITHM_RANDOM,
					      .parameters = &parameter,
					      .parameter_count = 1,
					      .metrics = &metric,
					      .metric_count = 1 });
}

static int64_t search_submit(struct bench *bench, const char *job_id)
{
	AUTO(plan) struct plan *plan = plan_new();
	AUTO(string) char *text = NULL;
	AUTO(job) struct job *stored = NULL;

	plan->dialect = strdup("ml");
	plan->project = strdup("p");
	plan->job_id = strdup(job_id);
	plan->cluster_id = strdup("ab12cd34ef");
	plan->region = strdup("us-central1");
	plan->input = strdup("{}");
	plan->search = search_make();
	plan->trial_count = 3;
	plan->parallel_trial_count = 2;
	pool_fill(&plan->pools[ROLE_MASTER], &(struct shape){ .project = "p" }, "image:1", 1);
	text = plan_to_text(plan);
	assert_non_null(text);
	assert_int_equal(job_insert(bench->store,
				    &(struct job){ .project = (char *)"p",
						   .job_id = (char *)job_id,
						   .input = (char *)"{}",
						   .output = (char *)"{}",
						   .plan = text },
				    NULL, 0, &stored, NULL),
			 STATUS_OK);
	return stored->id;
}

struct life {
	bool tunes;
	int exit_code;
	enum job_state end;
	const char *log; /* what the service says of it; NULL: not looked at */
};

/* What was missed is looked for a second later, or when the engine is asked again. */
static void time_pass(struct bench *bench)
{
	step_clock_move(&bench->clock.step, INT64_C(100000000));
	scheduler_clock_stepped(bench->scheduler);
}

static void quiet_await(struct bench *bench)
{
	for (int i = 0; i < WAIT_MS / 10; i++) {
		if (scheduler_wait_idle(bench->scheduler, 10))
			return;
		time_pass(bench);
	}
	fail_msg("it never had nothing left to do");
}

/* Waits for its end by what the engine and the store tell, which may want memory, too. */
static void end_await(struct bench *bench, int64_t id)
{
	for (int i = 0; i < WAIT_MS; i++) {
		AUTO(job) struct job *job = NULL;

		if (job_get_by_id(bench->store, id, &job, NULL) == STATUS_OK &&
		    job_state_is_final(job->state))
			return;
		time_pass(bench);
		usleep(1000);
	}
}

/* Whether any asking failed. */
static bool life_lead(struct bench *bench, const struct life *life, unsigned number, unsigned first,
		      unsigned count)
{
	char job_id[32];
	int64_t id;
	bool met;

	fake_engine_down(bench->fake, "not yet");
	snprintf(job_id, sizeof(job_id), "life%u", number);
	id = life->tunes ? search_submit(bench, job_id) : job_submit(bench, job_id, 2, 0);
	memory_faults_begin(first, count);
	fake_engine_up(bench->fake);
	end_await(bench, id);
	met = memory_faults_end();
	job_await(bench, id, life->end);
	quiet_await(bench);
	assert_int_equal(fake_engine_container_count(bench->fake), 0);
	if (life->log) {
		AUTO(string) char *log = NULL;
		const char *start;

		/* What found no memory on its way to the log goes there with the next change. */
		assert_int_equal(job_cancel(bench->store, "p", job_id, "it has ended", NULL), STATUS_OK);
		assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
		log = service_log(bench, job_id);
		start = log ? strstr(log, "Waiting for job")
			    : NULL; /* behind waiting for the engine, or not */
		assert_non_null(start);
		assert_string_equal(start, life->log);
	}
	return met;
}

/* One after the other, the failing asking farther and farther on. */
static void lives_lead(struct bench *bench, const struct life *life, unsigned count)
{
	unsigned number = 1, first = 1;

	fake_engine_exit_at_once(bench->fake, life->exit_code);
	while (life_lead(bench, life, number, first, count) && number < LIVES) {
		number++;
		first += 1 + first / 4;
	}
	assert_true(number > 10);
}

/* Broken: an engine whose coming found no memory was taken for one that is away. */
static void a_job_ends_well_whatever_finds_no_memory(void **state)
{
	static const struct life life = { .end = JOB_SUCCEEDED,
					  .log = "Waiting for job to be provisioned.\n"
						 "Job is preparing.\n"
						 "Waiting for training program to start.\n"
						 "Job is running.\n"
						 "Tearing down training program.\n"
						 "Finished tearing down training program.\n"
						 "Job completed successfully.\n" };

	lives_lead(*state, &life, 1);
}

static void a_job_ends_well_whatever_finds_no_memory_for_a_while(void **state)
{
	static const struct life life = { .end = JOB_SUCCEEDED };

	lives_lead(*state, &life, BURST);
}

static void a_job_fails_as_it_should_whatever_finds_no_memory(void **state)
{
	static const struct life life = { .exit_code = 3, .end = JOB_FAILED };

	lives_lead(*state, &life, 1);
}

static void a_search_ends_well_whatever_finds_no_memory(void **state)
{
	static const struct life life = { .tunes = true, .end = JOB_SUCCEEDED };

	lives_lead(*state, &life, 1);
}

static void a_search_ends_well_whatever_finds_no_memory_for_a_while(void **state)
{
	static const struct life life = { .tunes = true, .end = JOB_SUCCEEDED };

	lives_lead(*state, &life, BURST);
}

/* ---- what is read and written by itself ---- */

static char *plan_written(void)
{
	AUTO(plan) struct plan *plan = plan_new();

	plan->dialect = strdup("ml");
	plan->project = strdup("p");
	plan->job_id = strdup("j");
	plan->cluster_id = strdup("ab12cd34ef");
	plan->region = strdup("us-central1");
	plan->job_dir = strdup("gs://bucket/d");
	plan->input = strdup("{\"args\":[]}");
	plan->tuning_job_id = strdup("3793775725299892224");
	plan->search = search_make();
	plan->trial_count = 3;
	plan->parallel_trial_count = 2;
	plan->pools[ROLE_MASTER] = (struct pool){ .count = 1,
						  .image = strdup("i:1"),
						  .cloud_image = strdup("gcr.io/p/i:1"),
						  .command = json_pack("[s]", "sh"),
						  .args = json_pack("[ss]", "a", ""),
						  .machine_type = strdup("n1-standard-8"),
						  .accelerator_type = strdup("NVIDIA_TESLA_K80"),
						  .accelerator_count = 2,
						  .env = json_pack("[s]", "A=$(B)"),
						  .python_module = strdup("trainer.task"),
						  .python = strdup("python3"),
						  .package_uris = json_pack("[s]", "gs://b/p") };
	return plan_to_text(plan);
}

static enum status plan_copy(void *arg, unsigned number, struct text *ret_said, struct error *err)
{
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = plan_from_text(arg, &plan, err);
	AUTO(string) char *again = rc ? NULL : plan_to_text(plan);

	(void)number;
	if (again)
		text_puts(ret_said, again);
	return rc || again ? rc : error_no_memory(err);
}

static void a_plan_is_read_and_written_whole_or_not_at_all(void **state)
{
	AUTO(string) char *plan = plan_written();

	(void)state;
	memory_sweep(&(struct memory_operation){ .name = "plan", .run = plan_copy }, plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_read_and_written_whole_or_not_at_all),
		cmocka_unit_test_setup_teardown(a_job_ends_well_whatever_finds_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(a_job_ends_well_whatever_finds_no_memory_for_a_while, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_job_fails_as_it_should_whatever_finds_no_memory, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_search_ends_well_whatever_finds_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(a_search_ends_well_whatever_finds_no_memory_for_a_while,
						setup, teardown),
	};

	memory_faults_init();
	return cmocka_run_group_tests_name("scheduler without memory", tests, NULL, NULL);
}
