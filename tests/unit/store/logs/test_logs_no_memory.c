/* SPDX-License-Identifier: Apache-2.0 */
/* Log records for which there is no memory: whoever offers them is told when to do it again. */
#include "tests/support/memory_faults.h"
#include "tests/unit/store/store_testing.h"

enum { WAIT_MS = 20000, REFUSALS = 3 };

/* How often there was room, atomic. */
static void room_is_made(void *arg)
{
	__atomic_add_fetch((unsigned *)arg, 1, __ATOMIC_RELAXED);
}

static unsigned room_await(const unsigned *room, unsigned wanted)
{
	unsigned count = 0;

	for (int i = 0; count < wanted && i < WAIT_MS; i++) {
		usleep(1000);
		count = __atomic_load_n(room, __ATOMIC_RELAXED);
	}
	return count;
}

/* Broken: item_push() that wakes nobody, or a batch_take() that a refusal alone does not end (both as it was): nothing was
 * queued, so no batch came after which to ask for the record again. */
static void what_finds_no_memory_is_asked_for_again_though_nothing_is_queued(void **state)
{
	BENCH(state);
	struct log_source *source = task_source(1, "a", "master-replica-0");
	const struct log_record record = {
		.source = source, .time_ns = START_NS, .payload = "x", .payload_length = 1
	};
	unsigned room = 0;

	log_on_room(bench->store, room_is_made, &room);
	for (unsigned refused = 1; refused <= REFUSALS; refused++) {
		bool taken;

		memory_faults_begin(1, 1);
		taken = log_offer(bench->store, &record);
		assert_true(memory_faults_end());
		assert_false(taken);
		assert_int_equal(room_await(&room, refused), refused);
	}
	assert_true(log_offer(bench->store, &record));
	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	assert_logs(bench, "", "x");
	log_source_unref(source);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(what_finds_no_memory_is_asked_for_again_though_nothing_is_queued),
	};

	memory_faults_init();
	return cmocka_run_group_tests_name("logs without memory", tests, NULL, NULL);
}
