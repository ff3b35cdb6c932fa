/* SPDX-License-Identifier: Apache-2.0 */
/* An engine of which not all is known: answers that are lost, kills that may be its own, and one that comes and goes. */
#include "scheduler/scheduler_state.h"
#include "tests/unit/scheduler/memory_testing.h"

/* Broken: on_replica_failed() that leaves stop_asked as it is: the job is CANCELLING for ever, and its program runs. */
static void a_stop_that_is_lost_with_the_answer_of_a_start_is_asked_again(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_submit(bench, "lost", 0, 0);

	fake_engine_hold_starts(bench->fake);
	fake_engine_up(bench->fake);
	calls_await(bench, FAKE_START, 1);
	assert_int_equal(job_cancel(bench->store, "p", "lost", "The job was cancelled.", NULL), STATUS_OK);
	calls_await(bench, FAKE_STOP, 1);
	fake_engine_lose_starts(bench->fake);
	quiet_await(bench);
	job_check(bench, id, JOB_CANCELLED, "The job was cancelled.");
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_STOP), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(a_stop_that_is_lost_with_the_answer_of_a_start_is_asked_again),
	};

	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
