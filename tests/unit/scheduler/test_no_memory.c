/* SPDX-License-Identifier: Apache-2.0 */
/* Askings for memory fail all over the life of a job: it ends as it would have, and its log tells all of it once. */
#include "scheduler/plan/placement.h"
#include "store/jobs/trials.h"
#include "tests/unit/scheduler/memory_testing.h"
#include "tests/unit/scheduler/search/search_testing.h"

enum { LIVES = 24, BURST = 25 };

struct life {
	bool tunes;
	int exit_code;
	enum job_state end;
	const char *log; /* what the service says of it; NULL: not looked at */
};

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
	id = life->tunes ? search_submit(bench, &(struct search){ .job_id = job_id,
								  .algorithm = ALGORITHM_RANDOM,
								  .trials = 3,
								  .parallel = 2 })
			 : job_submit(bench, job_id, 2, 0);
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

/* Broken: sight_follow() without log_pump_offered() (as it was): where the end of the output found no memory, it was read
 * again from what was stored by then, and lines that were on their way to the store came twice. */
static void lines_come_once_whatever_finds_no_memory_as_they_end(void **state)
{
	enum { LINES = 3, ENDS = 64 }; /* of which the third or fourth is the one */
	struct bench *bench = *state;
	bool met = true;

	fake_engine_print(bench->fake, LINES);
	fake_engine_up(bench->fake);
	for (unsigned number = 1; met && number <= ENDS; number++) {
		char job_id[32];
		int64_t id;

		snprintf(job_id, sizeof(job_id), "life%u", number);
		id = job_submit(bench, job_id, 0, 0);
		job_await(bench, id, JOB_RUNNING);
		memory_faults_begin(number, 1);
		fake_engine_exit(bench->fake, &(struct replica_key){ .job = id, .attempt = 1 }, 0);
		end_await(bench, id);
		met = memory_faults_end();
		job_await(bench, id, JOB_SUCCEEDED);
		assert_int_equal(count_in_log(bench, job_id, "line\n"), LINES);
	}
}

/* Broken: job_run_unhear() that leaves create_awaited: a job whose container was not made waited for it for good. */
static void a_job_goes_on_when_nobody_hears_that_nothing_was_made(void **state)
{
	enum { ASKINGS = 12 }; /* the answer's are the first */
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	fake_engine_exit_at_once(bench->fake, 0);
	for (unsigned asking = 1; asking <= ASKINGS; asking++) {
		struct trap trap = { "create_replica", asking };
		char job_id[32];
		int64_t id;

		fake_engine_fail(bench->fake, FAKE_CREATE, 1, STATUS_UNAVAILABLE);
		fake_engine_on_call(bench->fake, trap_spring, &trap);
		id = job_submit(bench, life_id(asking, job_id), 0, 0);
		end_await(bench, id);
		fake_engine_on_call(bench->fake, NULL, NULL);
		assert_true(memory_faults_end());
		job_await(bench, id, JOB_SUCCEEDED);
		quiet_await(bench);
	}
}

/* Broken: a removal whose end found no memory was waited for until the engine went (as it was). */
static void nothing_is_waited_for_whose_end_nobody_heard(void **state)
{
	enum { ASKINGS = 24 }; /* the end's are the first */
	struct bench *bench = *state;

	fake_engine_up(bench->fake);
	fake_engine_exit_at_once(bench->fake, 0);
	for (unsigned asking = 1; asking <= ASKINGS; asking++) {
		struct trap trap = { "remove_network", asking };
		char job_id[32];
		int64_t id;

		fake_engine_on_call(bench->fake, trap_spring, &trap);
		id = job_submit(bench, life_id(asking, job_id), 0, 0);
		quiet_await(bench);
		fake_engine_on_call(bench->fake, NULL, NULL);
		assert_true(memory_faults_end());
		job_check(bench, id, JOB_SUCCEEDED, NULL);
	}
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

/* Broken: what an engine told of its host was copied once more, and forgotten when that found no memory. */
static void what_the_host_has_is_known_whatever_finds_no_memory(void **state)
{
	struct bench *bench = *state;
	char *devices[] = { (char *)"GPU-a", (char *)"GPU-b" };
	bool met = true;

	for (unsigned number = 1; met; number++) {
		struct room room AUTO_ROOM = { 0 };

		fake_engine_down(bench->fake, "not yet");
		fake_engine_host(bench->fake, &(struct host){ .known = true,
							      .cpus = number,
							      .memory_bytes = INT64_C(1) << 30,
							      .devices = devices + number % 2,
							      .device_count = 1 });
		memory_faults_begin(number, 1);
		fake_engine_up(bench->fake);
		quiet_await(bench);
		met = memory_faults_end();
		assert_int_equal(scheduler_room(bench->scheduler, "p", &room, NULL), STATUS_OK);
		assert_int_equal(room.capacity.host.cpus, number);
		assert_int_equal(room.capacity.host.device_count, 1);
		assert_string_equal(room.capacity.host.devices[0], devices[number % 2]);
	}
}

static struct trap shortage_trap; /* who falls short of its project's limit meets it */

enum status __real_placement_find(const struct plan *plan, const struct room *room,
				  struct assignment **ret_assignment, enum shortage *ret_shortage,
				  struct error *err);
enum status __wrap_placement_find(const struct plan *plan, const struct room *room,
				  struct assignment **ret_assignment, enum shortage *ret_shortage,
				  struct error *err);
enum status __wrap_placement_find(const struct plan *plan, const struct room *room,
				  struct assignment **ret_assignment, enum shortage *ret_shortage,
				  struct error *err)
{
	const enum status rc = __real_placement_find(plan, room, ret_assignment, ret_shortage, err);

	if (rc == STATUS_RESOURCE_EXHAUSTED && *ret_shortage == SHORTAGE_PROJECT)
		trap_spring(&shortage_trap, "project");
	return rc;
}

/* As job_await(), while time passes; it takes none of the askings that are to find none. */
static void running_await(struct bench *bench, int64_t id)
{
	enum job_state state = JOB_QUEUED;

	memory_faults_spare(true);
	for (int i = 0; state != JOB_RUNNING && i < WAIT_MS; i++) {
		AUTO(job) struct job *job = NULL;

		assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
		state = job->state;
		time_pass(bench);
		usleep(1000);
	}
	memory_faults_spare(false);
	assert_string_equal(job_state_name(state), job_state_name(JOB_RUNNING));
}

/* What finds no memory is the note that nobody else of the project is to be let in.
 * Broken: change_make() of store/group_writer.c that does not ask memory_watch_failed(). */
static void nobody_overtakes_a_job_whose_project_finds_no_memory(void **state)
{
	enum { ASKINGS = 3 }; /* the note's */
	const struct shape modest = { .project = "p", .machine_type = "n1-standard-4" };
	struct bench *bench = *state;
	int64_t first, large, small;

	daemon_stop(bench);
	bench->capacity.project_vcpus = 8;
	daemon_start(bench);
	first = shape_submit(bench, "first", &modest);
	fake_engine_up(bench->fake);
	job_await(bench, first, JOB_RUNNING);
	fake_engine_down(bench->fake, "away");
	large = shape_submit(bench, "large",
			     &(struct shape){ .project = "p", .machine_type = "n1-standard-8" });
	small = shape_submit(bench, "small", &modest);
	line_await(bench, "small", "away"); /* so both are known */
	for (unsigned asking = 1; asking <= ASKINGS; asking++) {
		char job_id[32];
		int64_t behind;

		fake_engine_down(bench->fake, "away");
		behind = shape_submit(bench, life_id(asking, job_id), &(struct shape){ .project = "q" });
		shortage_trap = (struct trap){ "project", asking };
		fake_engine_up(bench->fake);
		running_await(bench, behind);
		assert_int_equal(shortage_trap.asking, 0);
		assert_true(memory_faults_end());
		state_check(bench, large, JOB_QUEUED);
		state_check(bench, small, JOB_QUEUED);
	}
	fake_engine_exit(bench->fake, &(struct replica_key){ .job = first, .attempt = 1 }, 0);
	running_await(bench, large);
	state_check(bench, small, JOB_QUEUED);
}

/* ---- what is read and written by itself ---- */

static char *plan_written(void)
{
	AUTO(plan) struct plan *plan = plan_full();

	plan->search = search_make(&(struct search){ .algorithm = ALGORITHM_RANDOM });
	plan->trial_count = 3;
	plan->parallel_trial_count = 2;
	return plan_to_text(plan);
}

MEMORY_RUN(plan_again)
{
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = plan_from_text(arg, &plan, err);
	AUTO(string) char *again = rc ? NULL : plan_to_text(plan);

	if (again)
		text_puts(ret_said, again);
	return rc || again ? rc : error_no_memory(err);
}

static void a_plan_is_read_and_written_whole_or_not_at_all(void **state)
{
	AUTO(string) char *plan = plan_written();

	(void)state;
	memory_sweep(&(struct memory_operation){ .name = "plan", .run = plan_again }, plan);
}

MEMORY_RUN(study_copy)
{
	AUTO(study) struct study *study = NULL;
	enum status rc = study_from_json(arg, &study, err);
	AUTO(json) json_t *again = rc ? NULL : study_to_json(study);
	AUTO(string) char *text = again ? json_dump_compact(again) : NULL;

	if (text)
		text_puts(ret_said, text);
	return rc || text ? rc : error_no_memory(err);
}

/* Broken: values that found no memory were told as a study that cannot be read, which ends its job. */
static void a_study_is_read_and_written_whole_or_not_at_all(void **state)
{
	AUTO(json)
	json_t *study = json_loads(
		"{\"algorithm\":\"bandit\",\"stopping\":\"none\",\"parameters\":["
		"{\"name\":\"a\",\"type\":\"categorical\",\"scale\":\"linear\",\"categories\":[\"x\",\"y\"]},"
		"{\"name\":\"b\",\"type\":\"discrete\",\"scale\":\"linear\",\"values\":[1,2.5],"
		"\"parent\":0,\"parent_values\":[1]},"
		"{\"name\":\"c\",\"type\":\"double\",\"scale\":\"log\",\"minimum\":0.5,\"maximum\":1}],"
		"\"metrics\":[{\"name\":\"m\",\"minimized\":true}]}",
		0, NULL);

	(void)state;
	assert_non_null(study);
	memory_sweep(&(struct memory_operation){ .name = "study", .run = study_copy }, study);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_read_and_written_whole_or_not_at_all),
		cmocka_unit_test(a_study_is_read_and_written_whole_or_not_at_all),
		BENCH_TEST(what_the_host_has_is_known_whatever_finds_no_memory),
		BENCH_TEST(nobody_overtakes_a_job_whose_project_finds_no_memory),
		BENCH_TEST(a_job_ends_well_whatever_finds_no_memory),
		BENCH_TEST(a_job_ends_well_whatever_finds_no_memory_for_a_while),
		BENCH_TEST(lines_come_once_whatever_finds_no_memory_as_they_end),
		BENCH_TEST(a_job_goes_on_when_nobody_hears_that_nothing_was_made),
		BENCH_TEST(nothing_is_waited_for_whose_end_nobody_heard),
		BENCH_TEST(a_job_fails_as_it_should_whatever_finds_no_memory),
		BENCH_TEST(a_search_ends_well_whatever_finds_no_memory),
		BENCH_TEST(a_search_ends_well_whatever_finds_no_memory_for_a_while),
	};

	memory_faults_init();
	return cmocka_run_group_tests_name("scheduler without memory", tests, NULL, NULL);
}
