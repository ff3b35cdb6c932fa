/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs on two machines, one of which is unreachable for longer than the limit. */
#include "store/jobs/leases.h"
#include "tests/unit/scheduler/nodes_testing.h"

#define SECOND_NS INT64_C(1000000000)

/* Connects both machines; returns a job that runs on b. */
static int64_t job_of_b(struct bench *bench, const char *job_id)
{
	int64_t id;

	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	id = bench_submit(bench, job_id, 1, 0);
	placed_check(bench, id, "b");
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	return id;
}

static void other_leaves(struct bench *bench)
{
	fake_engine_down(bench->other, "cut");
	ready_await(bench, 1, false);
}

static unsigned attempt_of(struct bench *bench, int64_t id)
{
	AUTO(job) struct job *job = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	return job->state == JOB_RUNNING ? job->attempt : 0;
}

/* Waits until the job runs on @node as its second attempt. */
static void moved_await(struct bench *bench, int64_t id, const char *node)
{
	for (int i = 0; attempt_of(bench, id) != 2; i++) {
		assert_true(i < WAIT_MS);
		usleep(1000);
	}
	placed_check(bench, id, node);
}

static void second_master_exit(struct fake_engine *fake, int64_t id)
{
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	master.attempt = 2;
	fake_engine_exit(fake, &master, 0);
}

static void counts_await(struct fake_engine *fake, unsigned containers, unsigned networks)
{
	for (int i = 0; fake_engine_container_count(fake) != containers ||
			fake_engine_network_count(fake) != networks;
	     i++) {
		assert_true(i < WAIT_MS);
		usleep(1000);
	}
}

static void empty_await(struct fake_engine *fake)
{
	counts_await(fake, 0, 0);
}

static void jobs_of_a_lost_machine_go_on_elsewhere(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_of_b(bench, "moves");

	other_leaves(bench);
	clock_step(bench, (NODE_PATIENCE_S - 1) * SECOND_NS);
	taken_up_await(bench, "between");
	assert_int_equal(attempt_of(bench, id), 1);
	clock_step(bench, 2 * SECOND_NS);
	line_await(bench, "moves", "The node b does not answer (cut): the replicas there are lost.");
	line_await(bench, "moves", "was lost: its node b does not answer. ");
	moved_await(bench, id, "main");
	line_await(bench, "moves", "The job is placed. On main");
	assert_int_equal(fake_engine_container_count(bench->fake), 2);
	assert_int_equal(fake_engine_container_count(bench->other), 2);
	/* The other machine still runs containers of the first attempt. */
	fake_engine_up(bench->other);
	empty_await(bench->other);
	assert_int_equal(fake_engine_container_count(bench->fake), 2);
	second_master_exit(bench->fake, id);
	job_await(bench, id, JOB_SUCCEEDED);
	idle_await(bench);
	assert_int_equal(count_in_log(bench, "moves", "The job is tried again (attempt 2)."), 1);
	assert_int_equal(count_in_log(bench, "moves", "the replicas there are lost"), 1);
	empty_await(bench->fake);
}

static void a_machine_that_is_back_in_time_is_not_lost(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_of_b(bench, "stays");

	for (int i = 0; i < 3; i++) {
		other_leaves(bench);
		clock_step(bench, (NODE_PATIENCE_S - 1) * SECOND_NS);
		fake_engine_up(bench->other);
		ready_await(bench, 1, true);
	}
	master_exit(bench->other, id);
	job_await(bench, id, JOB_SUCCEEDED);
	assert_int_equal(fake_engine_calls(bench->other, FAKE_CREATE), 2);
}

static void a_job_that_never_retries_fails_with_its_machine(void **state)
{
	struct bench *bench = *state;
	AUTO(plan) struct plan *plan = plan_named("p", "once");
	int64_t id;

	plan->never_retries = true;
	pool_fill(&plan->pools[ROLE_MASTER], &(struct shape){ .project = "p" }, "image:1", 1);
	id = plan_store(bench, plan);
	fake_engine_up(bench->other);
	placed_check(bench, id, "b");
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	other_leaves(bench);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	job_await(bench, id, JOB_FAILED);
	job_check_error(bench, id, JOB_FAILED, "its node b does not answer");
	fake_engine_up(bench->other);
	empty_await(bench->other);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE), 0);
}

static void a_cancelled_job_ends_without_its_machine(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_of_b(bench, "enough");

	other_leaves(bench);
	assert_int_equal(job_cancel(bench->store, "p", "enough", "enough", NULL), STATUS_OK);
	job_await(bench, id, JOB_CANCELLING);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	job_await(bench, id, JOB_CANCELLED);
	fake_engine_up(bench->other);
	empty_await(bench->other);
}

/* While main is unreachable, nothing is known about other machines, which may be reached through main. */
static void without_main_no_machine_is_lost(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_of_b(bench, "waits");

	fake_engine_down(bench->fake, "gone");
	ready_await(bench, 0, false);
	other_leaves(bench);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	clock_step(bench, (NODE_PATIENCE_S - 1) * SECOND_NS);
	taken_up_await(bench, "between");
	assert_int_equal(attempt_of(bench, id), 1);
	clock_step(bench, 2 * SECOND_NS);
	moved_await(bench, id, "main");
}

static const struct engine_way way_open = { INT64_MAX, 0 }, way_closed = { 0, INT64_MAX },
			       way_unknown = { INT64_MAX, INT64_MAX };

/* Of the job of a machine that is away for long, while @way is all that is known of the way there. */
static void way_check(struct bench *bench, struct engine_way way)
{
	const int64_t id = job_of_b(bench, "waits");

	fake_engine_way(bench->other, way);
	other_leaves(bench);
	clock_step(bench, 5 * NODE_PATIENCE_S * SECOND_NS);
	taken_up_await(bench, "between");
	assert_int_equal(attempt_of(bench, id), 1);
	fake_engine_way(bench->other, way_open);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	moved_await(bench, id, "main");
}

/* The agent of main's machine, through which the others are reached, is away. Fails with: silence_us() without closed_ago_us: the
 * job ran twice. */
static void without_a_way_to_a_machine_it_is_not_lost(void **state)
{
	way_check(*state, way_closed);
}

/* main hangs, and is not known to be away yet. Fails with: silence_us() without open_ago_us. */
static void a_machine_of_which_nothing_is_heard_is_not_lost(void **state)
{
	way_check(*state, way_unknown);
}

/* Fails with: loss_us() without gone_us: the job waited for the whole patience. */
static void a_machine_that_its_swarm_calls_gone_is_lost_sooner(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_of_b(bench, "moves");

	scheduler_node_gone(bench->scheduler, 1, true);
	other_leaves(bench);
	clock_step(bench, 4 * SECOND_NS);
	taken_up_await(bench, "between");
	assert_int_equal(attempt_of(bench, id), 1);
	clock_step(bench, 2 * SECOND_NS);
	line_await(bench, "moves",
		   "The node b does not answer (cut), and its swarm reports it as down or drained: the replicas "
		   "there are lost.");
	moved_await(bench, id, "main");
}

/* Of one that answers, and of one that is no longer called so. */
static void a_machine_that_its_swarm_calls_gone_is_not_lost_by_that_alone(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_of_b(bench, "stays");

	scheduler_node_gone(bench->scheduler, 1, true);
	clock_step(bench, 2 * NODE_PATIENCE_S * SECOND_NS);
	taken_up_await(bench, "between");
	scheduler_node_gone(bench->scheduler, 1, false);
	other_leaves(bench);
	clock_step(bench, 6 * SECOND_NS);
	taken_up_await(bench, "after");
	assert_int_equal(attempt_of(bench, id), 1);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	moved_await(bench, id, "main");
}

static void a_machine_that_a_new_daemon_never_saw_is_lost(void **state)
{
	struct bench *bench = *state;
	const int64_t id = job_of_b(bench, "moves");

	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_down(bench->other, "cut");
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	assert_int_equal(attempt_of(bench, id), 1);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	moved_await(bench, id, "main");
	fake_engine_up(bench->other);
	empty_await(bench->other);
}

/* The number of leases, and the node of the only one. */
static size_t leases_count(struct bench *bench, const char *node)
{
	struct lease *leases = NULL;
	size_t count = 0;

	assert_int_equal(lease_list(bench->store, &leases, &count, NULL), STATUS_OK);
	if (count == 1)
		assert_string_equal(leases[0].node ? leases[0].node : "main", node);
	leases_free(leases, count);
	return count;
}

/* Two jobs hold the GPU of one machine each, and b is lost. */
static void gpu_lose(struct bench *bench, int64_t ids[2])
{
	host_give(bench->fake, 1, "");
	host_give(bench->other, 1, "");
	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	ids[1] = gpu_submit(bench, "second");
	placed_check(bench, ids[1], "b");
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	ids[0] = gpu_submit(bench, "first");
	placed_check(bench, ids[0], "main");
	other_leaves(bench);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	line_await(bench, "second", "The job waits for room on one of the nodes.");
	assert_int_equal(leases_count(bench, "main"), 1);
}

static void a_job_waits_for_the_gpus_of_another_machine(void **state)
{
	struct bench *bench = *state;
	int64_t ids[2], third;

	gpu_lose(bench, ids);
	master_exit(bench->fake, ids[0]);
	moved_await(bench, ids[1], "main");
	assert_int_equal(leases_count(bench, "main"), 1);
	/* Fails with: a node that is open with its first listing: the GPU had two containers. */
	fake_engine_hold_removals(bench->other, true);
	fake_engine_up(bench->other);
	third = gpu_submit(bench, "third");
	line_await(bench, "third", "The job is queued: it waits for ");
	taken_up_await(bench, "between");
	state_check(bench, third, JOB_QUEUED);
	fake_engine_hold_removals(bench->other, false);
	placed_check(bench, third, "b");
	assert_int_equal(fake_engine_container_count(bench->other), 1);
	assert_int_equal(fake_engine_doubled(bench->fake) + fake_engine_doubled(bench->other), 0);
}

static void a_job_without_a_place_waits_across_a_restart(void **state)
{
	struct bench *bench = *state;
	int64_t ids[2];

	gpu_lose(bench, ids);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_down(bench->other, "cut");
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	taken_up_await(bench, "between");
	state_check(bench, ids[1], JOB_PREPARING);
	assert_int_equal(fake_engine_container_count(bench->fake), 1);
	/* Fails with: a node that is open with its first listing unless it was lost since the daemon's start. */
	fake_engine_hold_removals(bench->other, true);
	fake_engine_up(bench->other);
	for (int i = 0; !fake_engine_calls(bench->other, FAKE_REMOVE); i++) {
		assert_true(i < WAIT_MS);
		usleep(1000);
	}
	taken_up_await(bench, "after");
	state_check(bench, ids[1], JOB_PREPARING);
	fake_engine_hold_removals(bench->other, false);
	moved_await(bench, ids[1], "b");
	assert_int_equal(leases_count(bench, ""), 2);
	assert_int_equal(fake_engine_container_count(bench->other), 1);
	assert_int_equal(fake_engine_doubled(bench->other), 0);
	second_master_exit(bench->other, ids[1]);
	job_await(bench, ids[1], JOB_SUCCEEDED);
}

static void a_container_that_stays_does_not_close_its_machine_for_ever(void **state)
{
	struct bench *bench = *state;
	int64_t ids[2];

	gpu_lose(bench, ids);
	fake_engine_hold_removals(bench->other, true);
	fake_engine_up(bench->other);
	for (int i = 0; !scheduler_node_state(bench->scheduler, 1).answers; i++) {
		assert_true(i < WAIT_MS);
		usleep(1000);
	}
	clock_step(bench, 61 * SECOND_NS);
	ready_await(bench, 1, true);
	fake_engine_hold_removals(bench->other, false);
}

static void a_job_without_a_place_can_be_cancelled(void **state)
{
	struct bench *bench = *state;
	int64_t ids[2];

	gpu_lose(bench, ids);
	assert_int_equal(job_cancel(bench->store, "p", "second", "enough", NULL), STATUS_OK);
	job_await(bench, ids[1], JOB_CANCELLED);
	fake_engine_up(bench->other);
	empty_await(bench->other);
}

/* Fails with: room_take() with the place that was given up: the job waited for b again. */
static void a_job_cancelled_without_a_place_takes_none_again(void **state)
{
	struct bench *bench = *state;
	int64_t ids[2];

	gpu_lose(bench, ids);
	daemon_stop(bench);
	daemon_start(bench);
	assert_int_equal(job_cancel(bench->store, "p", "second", "enough", NULL), STATUS_OK);
	fake_engine_up(bench->fake);
	job_await(bench, ids[1], JOB_CANCELLED);
	fake_engine_up(bench->other);
	empty_await(bench->other);
}

/* Fails with: job_network_of_attempt() that is the job's number: the second attempt was in the network of the first one, where a
 * lost replica has its address. */
static void a_job_over_machines_is_tried_again_as_a_whole(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "large", 2, 0);

	job_await(bench, id, JOB_RUNNING);
	fake_engine_fail_all(bench->fake, FAKE_REMOVE_NETWORK, STATUS_FAILED_PRECONDITION); /* it is in use on b */
	other_leaves(bench);
	clock_step(bench, (NODE_PATIENCE_S + 1) * SECOND_NS);
	line_await(bench, "large", "The job waits for a node's container engine.");
	counts_await(bench->fake, 0, 1);
	assert_in_range(fake_engine_container_count(bench->other), 1, 2);
	fake_engine_up(bench->other);
	for (int i = 0; attempt_of(bench, id) != 2; i++) {
		assert_true(i < WAIT_MS);
		usleep(1000);
	}
	assert_int_equal(fake_engine_container_count(bench->fake) + fake_engine_container_count(bench->other),
			 3);
	assert_int_equal(fake_engine_network_count(bench->fake), 2);
	assert_int_equal(count_in_log(bench, "large", "restarted"), 0);
	fake_engine_fail_all(bench->fake, FAKE_REMOVE_NETWORK, STATUS_OK);
	counts_await(bench->fake, fake_engine_container_count(bench->fake), 1);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		NODES_TEST(jobs_of_a_lost_machine_go_on_elsewhere),
		NODES_TEST(a_machine_that_is_back_in_time_is_not_lost),
		NODES_TEST(a_job_that_never_retries_fails_with_its_machine),
		NODES_TEST(a_cancelled_job_ends_without_its_machine),
		NODES_TEST(without_main_no_machine_is_lost),
		NODES_TEST(without_a_way_to_a_machine_it_is_not_lost),
		NODES_TEST(a_machine_of_which_nothing_is_heard_is_not_lost),
		NODES_TEST(a_machine_that_its_swarm_calls_gone_is_lost_sooner),
		NODES_TEST(a_machine_that_its_swarm_calls_gone_is_not_lost_by_that_alone),
		NODES_TEST(a_machine_that_a_new_daemon_never_saw_is_lost),
		NODES_TEST(a_job_waits_for_the_gpus_of_another_machine),
		NODES_TEST(a_job_without_a_place_waits_across_a_restart),
		NODES_TEST(a_container_that_stays_does_not_close_its_machine_for_ever),
		NODES_TEST(a_job_without_a_place_can_be_cancelled),
		NODES_TEST(a_job_cancelled_without_a_place_takes_none_again),
		SPAN_TEST(a_job_over_machines_is_tried_again_as_a_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("node losses", tests, NULL, NULL);
}
