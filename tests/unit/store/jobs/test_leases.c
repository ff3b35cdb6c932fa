/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/leases.h"
#include "tests/unit/store/store_testing.h"

static struct lease lease_of(const char *device, unsigned replica, bool shared)
{
	return (struct lease){ .role = 1, .replica = replica, .device = LITERAL(device), .shared = shared };
}

/* Admits a queued job with these leases. */
static enum status job_let_in(struct bench *bench, int64_t job, const struct lease *leases, size_t count)
{
	struct job_change change = { .job = job,
				     .from = JOB_QUEUED,
				     .to = JOB_PREPARING,
				     .assignment = "{\"cpus\":1}",
				     .leases = leases,
				     .lease_count = count };

	return job_apply(bench->store, &change, 1, &bench->err);
}

static void job_step(struct bench *bench, struct job_change change)
{
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_true(change.applied);
}

/* All leases as "job role replica device shared; …". */
#define assert_leases(bench, expected)                                                                       \
	do {                                                                                                 \
		struct text t_ AUTO_TEXT = { 0 };                                                            \
		leases_write(bench, &t_);                                                                    \
		assert_string_equal(t_.data, expected);                                                      \
	} while (0)

static void leases_write(struct bench *bench, struct text *text)
{
	struct lease *leases = NULL;
	size_t count = 0;

	assert_int_equal(lease_list(bench->store, &leases, &count, &bench->err), STATUS_OK);
	text_puts(text, "");
	for (size_t i = 0; i < count; i++)
		text_printf(text, "%d %u %u %s %d; ", (int)leases[i].job, leases[i].role, leases[i].replica,
			    leases[i].device, leases[i].shared);
	leases_free(leases, count);
}

static void leases_are_written_with_the_step_that_takes_them(void **state)
{
	BENCH(state);
	const struct lease leases[] = { lease_of("b", 1, false), lease_of("c", 0, true),
					lease_of("a", 0, false) };
	int64_t id = job_add(bench, "a");
	struct job *job = NULL;

	assert_leases(bench, "");
	assert_int_equal(job_let_in(bench, id, leases, COUNT_OF(leases)), STATUS_OK);
	assert_leases(bench, "1 1 0 a 0; 1 1 0 c 1; 1 1 1 b 0; ");
	assert_int_equal(job_get_by_id(bench->store, id, &job, &bench->err), STATUS_OK);
	assert_string_equal(job->assignment, "{\"cpus\":1}");
	assert_int_equal(job->version, 2);
	job_free(job);
}

static void a_second_exclusive_lease_of_a_device_refuses_the_whole_call(void **state)
{
	BENCH(state);
	const struct lease held = lease_of("0", 0, false);
	const struct lease wanted[] = { lease_of("1", 0, false), lease_of("0", 1, false) };
	const struct service_line line = { SEVERITY_INFO, "never seen" };
	int64_t first = job_add(bench, "first"), second = job_add(bench, "second"),
		third = job_add(bench, "third");
	struct job_change changes[] = {
		{ .job = third, .from = JOB_QUEUED, .to = JOB_PREPARING, .lines = &line, .line_count = 1 },
		{ .job = second,
		  .from = JOB_QUEUED,
		  .to = JOB_PREPARING,
		  .assignment = "{}",
		  .leases = wanted,
		  .lease_count = COUNT_OF(wanted) },
	};
	struct job *job = NULL;

	assert_int_equal(job_let_in(bench, first, &held, 1), STATUS_OK);
	assert_int_equal(job_apply(bench->store, changes, COUNT_OF(changes), &bench->err), STATUS_INTERNAL);
	assert_non_null(strstr(bench->err.text, "lease GPU 0 to job 2"));
	assert_false(changes[0].applied || changes[1].applied);
	assert_leases(bench, "1 1 0 0 0; ");
	assert_int_equal(job_get_by_id(bench->store, second, &job, &bench->err), STATUS_OK);
	assert_int_equal(job->state, JOB_QUEUED);
	assert_null(job->assignment);
	job_free(job);
	assert_int_equal(job_get_by_id(bench->store, third, &job, &bench->err), STATUS_OK);
	assert_int_equal(job->state, JOB_QUEUED);
	job_free(job);
	log_flush(bench->store, NULL);
	assert_logs(bench, "", "");
}

/* Fails with: the index of exclusive leases without the node: the second job was not let in. */
static void machines_have_devices_of_the_same_name(void **state)
{
	BENCH(state);
	struct lease here = lease_of("0", 0, false), there = here;
	const int64_t first = job_add(bench, "first"), second = job_add(bench, "second");
	struct lease *leases = NULL;
	size_t count = 0;

	there.node = LITERAL("b");
	assert_int_equal(job_let_in(bench, first, &here, 1), STATUS_OK);
	assert_int_equal(job_let_in(bench, second, &there, 1), STATUS_OK);
	assert_int_equal(job_let_in(bench, job_add(bench, "third"), &there, 1), STATUS_INTERNAL);
	assert_int_equal(lease_list(bench->store, &leases, &count, &bench->err), STATUS_OK);
	assert_int_equal(count, 2);
	assert_null(leases[0].node);
	assert_string_equal(leases[1].node, "b");
	leases_free(leases, count);
}

static void a_shared_device_has_many_holders(void **state)
{
	BENCH(state);
	const struct lease leases[] = { lease_of("0", 0, true), lease_of("0", 1, true) };

	assert_int_equal(job_let_in(bench, job_add(bench, "a"), leases, 2), STATUS_OK);
	assert_int_equal(job_let_in(bench, job_add(bench, "b"), leases, 2), STATUS_OK);
	assert_leases(bench, "1 1 0 0 1; 1 1 1 0 1; 2 1 0 0 1; 2 1 1 0 1; ");
}

static void a_step_that_does_not_apply_takes_nothing(void **state)
{
	BENCH(state);
	const struct lease lease = lease_of("0", 0, false);
	int64_t id = job_add(bench, "a");
	struct job_change change = { .job = id,
				     .from = JOB_QUEUED,
				     .to = JOB_PREPARING,
				     .assignment = "{}",
				     .leases = &lease,
				     .lease_count = 1 };
	struct job *job = NULL;

	assert_int_equal(job_cancel(bench->store, "demo", "a", "Because.", &bench->err), STATUS_OK);
	assert_int_equal(job_apply(bench->store, &change, 1, &bench->err), STATUS_OK);
	assert_false(change.applied);
	assert_leases(bench, "");
	assert_int_equal(job_get_by_id(bench->store, id, &job, &bench->err), STATUS_OK);
	assert_null(job->assignment);
	job_free(job);
}

static void leases_stay_through_retries_and_go_with_the_final_state(void **state)
{
	BENCH(state);
	static const enum job_state ends[] = { JOB_SUCCEEDED, JOB_FAILED, JOB_CANCELLED };
	const struct lease lease = lease_of("0", 0, false);

	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		char name[16];
		int64_t id;

		snprintf(name, sizeof(name), "job%zu", i);
		id = job_add(bench, name);
		assert_int_equal(job_let_in(bench, id, &lease, 1), STATUS_OK);
		job_step(bench, (struct job_change){ .job = id, .from = JOB_PREPARING, .to = JOB_RUNNING });
		job_step(bench, (struct job_change){ .job = id,
						     .from = JOB_RUNNING,
						     .to = JOB_RUNNING,
						     .decides = true,
						     .outcome = JOB_PREPARING });
		job_step(bench,
			 (struct job_change){
				 .job = id, .from = JOB_RUNNING, .to = JOB_PREPARING, .retries = true });
		job_step(bench, (struct job_change){ .job = id, .from = JOB_PREPARING, .to = JOB_RUNNING });
		if (ends[i] == JOB_CANCELLED)
			job_step(bench,
				 (struct job_change){ .job = id, .from = JOB_RUNNING, .to = JOB_CANCELLING });
		bench_reopen(bench);
		{
			char expected[32];

			snprintf(expected, sizeof(expected), "%d 1 0 0 0; ", (int)id);
			assert_leases(bench, expected);
		}
		job_step(bench,
			 (struct job_change){ .job = id,
					      .from = ends[i] == JOB_CANCELLED ? JOB_CANCELLING : JOB_RUNNING,
					      .to = ends[i],
					      .ended_us = 5 });
		assert_leases(bench, "");
	}
}

static void the_rate_of_a_job_is_kept(void **state)
{
	BENCH(state);
	struct job job = job_named("a");
	struct job *stored = NULL;

	job.ml_units_per_hour = 1.6384;
	assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, &bench->err), STATUS_OK);
	assert_true(stored->ml_units_per_hour == 1.6384);
	job_free(stored);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(leases_are_written_with_the_step_that_takes_them),
		WITH_BENCH(a_second_exclusive_lease_of_a_device_refuses_the_whole_call),
		WITH_BENCH(machines_have_devices_of_the_same_name),
		WITH_BENCH(a_shared_device_has_many_holders),
		WITH_BENCH(a_step_that_does_not_apply_takes_nothing),
		WITH_BENCH(leases_stay_through_retries_and_go_with_the_final_state),
		WITH_BENCH(the_rate_of_a_job_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
