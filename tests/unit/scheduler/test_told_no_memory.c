/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be done for a job is told once, by its log and by its report, whichever asking for memory finds none. */
#include "scheduler/cloud_tried.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/scheduler_state.h"
#include "tests/unit/scheduler/memory_testing.h"

/* ---- what tells it ---- */

static void run_look(void *arg, struct text *ret_seen)
{
	const struct job_run *run = arg;
	AUTO(string) char *differences = json_dump_compact(run->assignment->differences);

	for (size_t i = 0; i < run->note_count; i++)
		text_printf(ret_seen, "%s;", run->notes[i].text);
	text_printf(ret_seen, "%s;%d", differences, run->differs);
}

/* Nothing has been told. */
static void run_prepare(void *arg, unsigned number)
{
	struct job_run *run = arg;

	(void)number;
	job_run_notes_cut(run, 0);
	json_array_clear(run->assignment->differences);
	run->differs = false;
}

MEMORY_RUN(differ)
{
	return job_run_differ(arg, "code", " So it is.", "It is %s.", "otherwise") ? STATUS_OK
										   : error_no_memory(err);
}

MEMORY_RUN(cloud_try)
{
	struct job_run *run = arg;

	cloud_tried(run, "gcr.io", true);
	return run->note_count ? STATUS_OK : error_no_memory(err);
}

static const struct memory_operation tellers[] = {
	{ .name = "job_run_differ",
	  .prepare = run_prepare,
	  .run = differ,
	  .look = run_look,
	  .changes = true },
	{ .name = "cloud_tried",
	  .prepare = run_prepare,
	  .run = cloud_try,
	  .look = run_look,
	  .changes = true },
};

/* Broken: job_run_differ() that keeps the difference when its line finds none (as it was). */
static void a_line_and_its_difference_are_both_there_or_neither(void **state)
{
	struct assignment assignment = { .differences = json_array() };
	struct job_run run = { .assignment = &assignment };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tellers); i++)
		memory_sweep(&tellers[i], &run);
	run_prepare(&run, 0);
	free(run.notes);
	json_decref(assignment.differences);
}

/* ---- what could not be done ---- */

static void told_once_check(struct bench *bench, int64_t id, const char *job_id, const char *words)
{
	AUTO(job) struct job *job = NULL;

	assert_int_equal(count_in_log(bench, job_id, words), 1);
	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_int_equal(count_in(job->assignment, words), 1);
}

static struct trap asked = { .event = "asked" };

static enum status gateway_open(void *arg, const struct gateway_request *request,
				struct gateway_place *ret_place, struct error *err)
{
	(void)arg, (void)request, (void)ret_place;
	error_set(err, STATUS_UNAVAILABLE, NULL, "no such device");
	trap_spring(&asked, "asked");
	return STATUS_UNAVAILABLE;
}

static void gateway_close(void *arg, int64_t job)
{
	(void)arg, (void)job;
}

static enum status gcs_place(void *arg, const char **ret_directory, struct error *err)
{
	(void)arg, (void)ret_directory;
	error_set(err, STATUS_UNAVAILABLE, NULL, "no such device");
	trap_spring(&asked, "asked");
	return STATUS_UNAVAILABLE;
}

static bool life_lead(struct bench *bench, const void *words, unsigned number)
{
	char job_id[32];
	int64_t id;
	bool met;

	asked.asking = number;
	id = shape_submit(bench, life_id(number, job_id),
			  &(struct shape){ .project = "p", .mounts_gcs = true });
	quiet_await(bench);
	met = memory_faults_end();
	assert_int_equal(asked.asking, 0);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	told_once_check(bench, id, job_id, words);
	return met;
}

static void daemon_begin(struct bench *bench)
{
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_exit_at_once(bench->fake, 0);
}

/* Broken: give_up() that leaves it at that, told or not (as it was). */
static void a_missing_gateway_is_told_once_whatever_finds_no_memory(void **state)
{
	struct bench *bench = *state;

	daemon_stop(bench);
	bench->gateway = (struct gateway_ops){ gateway_open, gateway_close, NULL };
	daemon_begin(bench);
	lives_sweep(bench, "cannot reach trainyard's storage and metadata: no such device.", life_lead);
}

/* Broken: missing_tell() after job_run_differ() that keeps the difference without its line. */
static void missing_files_are_told_once_whatever_finds_no_memory(void **state)
{
	struct bench *bench = *state;

	daemon_stop(bench);
	bench->gcs = (struct gcs_ops){ gcs_place, NULL };
	daemon_begin(bench);
	lives_sweep(bench,
		    "Cloud Storage is not there as files at /gcs: no such device. "
		    "/gcs is empty and read-only: a program that writes there fails.",
		    life_lead);
}

/* Lets time pass until it is. */
static void told_await(struct bench *bench, int64_t id, const char *words)
{
	for (int i = 0; i < WAIT_MS; i++) {
		AUTO(job) struct job *job = NULL;

		assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
		if (count_in(job->assignment, words))
			return;
		time_pass(bench);
		usleep(1000);
	}
	fail_msg("job %d was never told: %s", (int)id, words);
}

static bool slowed_life_lead(struct bench *bench, const void *words, unsigned number)
{
	static const char form[] = "{\"fault\": \"slowNetwork\", \"bytesPerSecond\": 64000, \"job\": \"%s\"}";
	struct trap trap = { "slow_replica", number };
	AUTO(string) char *rule = NULL;
	char job_id[32];
	int64_t id = job_submit(bench, life_id(number, job_id), 0, 0);
	bool met;

	job_await(bench, id, JOB_RUNNING);
	fake_engine_on_call(bench->fake, trap_spring, &trap);
	assert_true(asprintf(&rule, form, job_id) > 0);
	order(bench, rule);
	memory_faults_spare(true);
	told_await(bench, id, words);
	fake_engine_on_call(bench->fake, NULL, NULL);
	assert_int_equal(trap.asking, 0);
	fake_engine_exit(bench->fake, &(struct replica_key){ .job = id, .attempt = 1 }, 0);
	quiet_await(bench);
	memory_faults_spare(false);
	met = memory_faults_end();
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	told_once_check(bench, id, job_id, words);
	return met;
}

/* Broken: throttle_give_up() that does not note it; what the engine said that is not asked for again (both as they
 * were): nobody was told. */
static void what_cannot_be_slowed_is_told_once_whatever_finds_no_memory(void **state)
{
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	fake_engine_fail_all(bench->fake, FAKE_SLOW, STATUS_FAILED_PRECONDITION);
	lives_sweep(bench, "is not slowed as was ordered: the fake refuses.", slowed_life_lead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_and_its_difference_are_both_there_or_neither),
		BENCH_TEST(a_missing_gateway_is_told_once_whatever_finds_no_memory),
		BENCH_TEST(missing_files_are_told_once_whatever_finds_no_memory),
		BENCH_TEST(what_cannot_be_slowed_is_told_once_whatever_finds_no_memory),
	};

	memory_faults_init();
	return cmocka_run_group_tests_name("differences without memory", tests, NULL, NULL);
}
