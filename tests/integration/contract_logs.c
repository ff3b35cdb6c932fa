/* SPDX-License-Identifier: Apache-2.0 */
/* The output of replicas is followed, paused, and continued. */
#include "tests/integration/engine_contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "tests/integration/engine_api.h"
#include "tests/integration/engine_bench.h"

static void a_very_long_line_comes_in_parts(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);

	replica_make(bench, &master, &network, "head -c 600000 /dev/zero | tr '\\0' x; echo; echo after");
	replica_run(bench, &master);
	follow(bench, &master);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	assert_int_equal(bench->part_count, 2);
	assert_int_equal(bench->line_count, 2);
	assert_int_equal(bench->lines.length, 600000 + 3 * 3 + strlen("1:after\n"));
}

static void numbers_check(struct bench *bench, int count)
{
	const char *at = bench->lines.data;

	assert_int_equal(bench->line_count, count);
	assert_false(bench->disorder);
	for (int i = 1; i <= count; i++) {
		int number = 0, length = 0;

		sscanf(at, "%*d:%d%n", &number, &length);
		assert_int_equal(number, i);
		at += length + 1;
	}
}

static void a_full_sink_holds_the_stream_and_loses_nothing(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);

	bench->room = 100;
	replica_make(bench, &master, &network, "seq 1 20000");
	replica_run(bench, &master);
	follow(bench, &master);
	for (size_t i = 0; i < 20; i++) {
		wait_for_refusal(bench, i + 1);
		give_room(bench, i < 19 ? 1 + i * 37 : SIZE_MAX);
	}
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	numbers_check(bench, 20000);
}

static void logs_continue_from_a_stored_position(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	struct log_position from;

	replica_make(bench, &master, &network, "seq 1 3000");
	replica_run(bench, &master);
	bench->room = 1234;
	follow(bench, &master);
	wait_for_refusal(bench, 1);
	from = (struct log_position){ .streams = { { .time_ns = bench->last_ns[0] } } };
	client_close(bench);
	bench->room = SIZE_MAX;
	client_open(bench, true);
	bench->engine->ops->follow_logs(bench->engine, &master, &from); /* ordered before the replica runs: it waits */
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	numbers_check(bench, 3000);
}

static void an_engine_that_is_lost_is_found_again(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	struct record failed, listing;
	char path[128];

	replica_make(
		bench, &master, &network,
		"i=0; until [ -e /released ]; do i=$((i + 1)); echo $i; sleep 0.01; done; seq $((i + 1)) 2000");
	replica_make(bench, &worker, &network, "until [ -e /released ]; do sleep 0.05; done; exit 5");
	replica_run(bench, &master);
	replica_run(bench, &worker);
	follow(bench, &master);
	wait_for_lines(bench, 50);
	relay_cut(&bench->relay, true);
	expect_event(bench, ENGINE_DOWN, NULL, 0);
	bench->engine->ops->start_replica(bench->engine, &master);
	failed = expect_event(bench, ENGINE_REPLICA_FAILED, &master, 1);
	assert_int_equal(failed.status, STATUS_UNAVAILABLE);
	bench->engine->ops->ensure_image(bench->engine, image_name);
	assert_int_equal(expect_event(bench, ENGINE_IMAGE_FAILED, NULL, 0).status, STATUS_UNAVAILABLE);
	bench->engine->ops->create_network(bench->engine, 2, 1);
	assert_int_equal(expect_event(bench, ENGINE_NETWORK_FAILED, NULL, 2).status, STATUS_UNAVAILABLE);
	bench->engine->ops->remove_network(bench->engine, 2);
	assert_int_equal(expect_event(bench, ENGINE_FAILED, NULL, 2).status, STATUS_UNAVAILABLE);
	/* The worker ends while the output is not followed; "wait" returns when it has ended. */
	release(bench, "worker-0");
	snprintf(path, sizeof(path), "/containers/ty-%s-1-worker-0-a1/wait", bench->instance);
	assert_int_equal(api("POST", path, NULL, NULL, 0, NULL), 200);
	relay_cut(&bench->relay, false);
	expect_event(bench, ENGINE_UP, NULL, 0);
	listing = expect_event(bench, ENGINE_LISTING, NULL, 0);
	assert_int_equal(listing.replica_count, 2);
	assert_int_equal(listing.network_count, 1);
	for (size_t i = 0; i < 2; i++)
		if (listing.replicas[i].key.role == ROLE_WORKER) {
			assert_int_equal(listing.replicas[i].observed, REPLICA_EXITED);
			assert_int_equal(listing.replicas[i].exit_code, 5);
		}
	wait_for_lines(bench, 150); /* the first of these lines were printed before */
	release(bench, "master-0");
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	numbers_check(bench, 2000);
	assert_int_equal(events_count(bench, ENGINE_DOWN), 1);
}

/* TRAINYARD_BENCH_LINES: the number of lines; prints the rate. */
static void lines_come_fast(void **state)
{
	struct bench *bench = *state;
	const char *lines = getenv("TRAINYARD_BENCH_LINES");
	struct network_status network;
	int64_t begin_us;
	char script[256];
	double seconds;

	client_close(bench);
	bench->direct = true;
	client_open(bench, true);
	expect_event(bench, ENGINE_UP, NULL, 0);
	network = network_make(bench, 1);
	bench->count_only = true;
	snprintf(script, sizeof(script), "yes %.*s | head -n %s", 99,
		 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		 "xxxxxxxx",
		 lines);
	replica_make(bench, &master, &network, script);
	begin_us = clock_mono_us(&system_clock);
	replica_run(bench, &master);
	follow(bench, &master);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	seconds = (double)(clock_mono_us(&system_clock) - begin_us) / 1e6;
	print_message("# followed: %zu lines in %.2f s: %.0f lines/s\n", bench->line_count, seconds,
		      (double)bench->line_count / seconds);
	assert_int_equal(bench->line_count, atoi(lines));
	bench->line_count = 0;
	memset(bench->last_ns, 0, sizeof(bench->last_ns));
	begin_us = clock_mono_us(&system_clock);
	follow(bench, &master);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	seconds = (double)(clock_mono_us(&system_clock) - begin_us) / 1e6;
	print_message("# read back: %zu lines in %.2f s: %.0f lines/s\n", bench->line_count, seconds,
		      (double)bench->line_count / seconds);
}

const struct CMUnitTest contract_logs[] = {
	ENGINE_TEST(a_very_long_line_comes_in_parts),
	ENGINE_TEST(a_full_sink_holds_the_stream_and_loses_nothing),
	ENGINE_TEST(logs_continue_from_a_stored_position),
	ENGINE_TEST(an_engine_that_is_lost_is_found_again),
	ENGINE_TEST(lines_come_fast),
	{ .name = NULL },
};
