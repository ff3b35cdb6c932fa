/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs on two machines. */
#include "scheduler/plan/place_rule.h"
#include "store/jobs/leases.h"
#include "tests/unit/scheduler/nodes_testing.h"

/* Fails with: order_give_out() with the first node's engine: main had both. */
static void each_job_is_on_the_machine_with_the_least_load(void **state)
{
	struct bench *bench = *state;
	int64_t first, second;

	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	ready_await(bench, 0, true);
	first = bench_submit(bench, "first", 1, 0);
	job_await(bench, first, JOB_RUNNING);
	ready_await(bench, 1, true);
	second = bench_submit(bench, "second", 0, 0);
	placed_check(bench, first, "main");
	placed_check(bench, second, "b");
	assert_int_equal(fake_engine_container_count(bench->fake), 2);
	assert_int_equal(fake_engine_container_count(bench->other), 1);
	master_exit(bench->fake, first);
	master_exit(bench->other, second);
	idle_await(bench);
	assert_int_equal(fake_engine_container_count(bench->fake), 0);
	assert_int_equal(fake_engine_container_count(bench->other), 0);
	assert_int_equal(fake_engine_network_count(bench->fake), 0);
	assert_int_equal(fake_engine_network_count(bench->other), 0);
}

/* Fails with: awaits_nodes() that is always false: both jobs were on main before b had answered. */
static void jobs_that_wait_at_the_start_are_spread(void **state)
{
	struct bench *bench = *state;
	const int64_t first = bench_submit(bench, "first", 0, 0),
		      second = bench_submit(bench, "second", 0, 0);

	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	taken_up_await(bench, "between");
	state_check(bench, first, JOB_QUEUED);
	fake_engine_up(bench->other);
	placed_check(bench, first, "main");
	placed_check(bench, second, "b");
}

/* Fails with: queue_serve() that waits until the first node is listed: nothing ran. */
static void a_machine_that_is_away_holds_up_nobody(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "goes", 0, 0);
	struct node_state main, b;

	fake_engine_up(bench->other);
	placed_check(bench, id, "b");
	main = scheduler_node_state(bench->scheduler, 0);
	b = scheduler_node_state(bench->scheduler, 1);
	assert_string_equal(main.name, "main");
	assert_false(main.answers || main.ready);
	assert_string_equal(b.name, "b");
	assert_true(b.answers && b.ready);
	master_exit(bench->other, id);
	job_await(bench, id, JOB_SUCCEEDED);
	assert_int_equal(count_in_log(bench, "goes", "Waiting for the container engine"), 0);
}

/* Fails with: jobs_add() without the assignment's node: after the restart the job was looked for on main, was lost and ran
 * twice. */
static void after_a_restart_a_job_is_on_its_machine(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "stays", 1, 0);
	int64_t later;

	fake_engine_up(bench->other);
	placed_check(bench, id, "b");
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	later = bench_submit(bench, "later", 0, 0);
	placed_check(bench, later, "main"); /* its listing has arrived */
	assert_int_equal(fake_engine_calls(bench->other, FAKE_CREATE), 2);
	assert_int_equal(fake_engine_container_count(bench->other), 2);
	master_exit(bench->other, id);
	master_exit(bench->fake, later);
	idle_await(bench);
	job_check_error(bench, id, JOB_SUCCEEDED, NULL);
}

/* Fails with: on_down() that invalidates jobs of all nodes: the job on main was no longer observed, and did not end. */
static void the_loss_of_a_machine_is_that_of_its_own_jobs(void **state)
{
	struct bench *bench = *state;
	int64_t stays, waits;

	fake_engine_up(bench->fake);
	stays = bench_submit(bench, "stays", 0, 0);
	job_await(bench, stays, JOB_RUNNING);
	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	waits = bench_submit(bench, "waits", 0, 0);
	placed_check(bench, waits, "b");
	fake_engine_down(bench->other, "cut");
	line_await(bench, "waits", "Waiting for the container engine of the node b: cut");
	master_exit(bench->fake, stays);
	job_await(bench, stays, JOB_SUCCEEDED);
	job_await(bench, bench_submit(bench, "next", 0, 0), JOB_RUNNING);
	assert_int_equal(count_in_log(bench, "stays", "Waiting for the container engine"), 0);
	assert_int_equal(count_in_log(bench, "next", "Waiting for the container engine"), 0);
	fake_engine_up(bench->other);
	master_exit(bench->other, waits);
	job_await(bench, waits, JOB_SUCCEEDED);
	assert_int_equal(fake_engine_calls(bench->other, FAKE_CREATE), 1);
}

/* Fails with: the index of leases on the device alone: the second job could not be stored, and was tried again for ever. */
static void machines_may_have_gpus_of_the_same_name(void **state)
{
	struct bench *bench = *state;
	struct lease *leases = NULL;
	size_t count = 0;
	int64_t ids[3];

	host_give(bench->fake, 1, "");
	host_give(bench->other, 1, "");
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	ready_await(bench, 0, true);
	ready_await(bench, 1, true);
	ids[0] = gpu_submit(bench, "one");
	ids[1] = gpu_submit(bench, "two");
	ids[2] = gpu_submit(bench, "three");
	job_await(bench, ids[0], JOB_RUNNING);
	job_await(bench, ids[1], JOB_RUNNING);
	line_await(
		bench, "three",
		"The job is queued: it waits for GPUs. Too few GPUs are free now. main, b have too few free GPUs "
		"(0 at most; each master takes 1).");
	assert_int_equal(lease_list(bench->store, &leases, &count, NULL), STATUS_OK);
	assert_int_equal(count, 2);
	assert_string_equal(leases[0].device, leases[1].device);
	assert_true(!leases[0].node != !leases[1].node);
	leases_free(leases, count);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	placed_check(bench, ids[0], "main");
	placed_check(bench, ids[1], "b");
	master_exit(bench->other, ids[1]);
	job_await(bench, ids[1], JOB_SUCCEEDED);
	placed_check(bench, ids[2], "b");
	assert_int_equal(fake_engine_doubled(bench->fake) + fake_engine_doubled(bench->other), 0);
}

/* Fails with: engine_closes() that is always true: the other job waited as well. */
static void what_waits_for_an_absent_machine_keeps_nobody_waiting(void **state)
{
	struct bench *bench = *state;
	int64_t gpu, other;

	host_give(bench->other, 1, "");
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	gpu = gpu_submit(bench, "first");
	placed_check(bench, gpu, "b");
	master_exit(bench->other, gpu);
	job_await(bench, gpu, JOB_SUCCEEDED);
	fake_engine_down(bench->other, "cut");
	ready_await(bench, 1, false);
	gpu = gpu_submit(bench, "gpu");
	line_await(
		bench, "gpu",
		"it waits for a node's container engine. The job needs nodes that do not answer. main has too few "
		"free GPUs (0; each master takes 1). b is down (The container engine does not answer: cut).");
	other = bench_submit(bench, "other", 0, 0);
	placed_check(bench, other, "main");
	state_check(bench, gpu, JOB_QUEUED);
	fake_engine_up(bench->other);
	placed_check(bench, gpu, "b");
}

/* Fails with: scheduler.c without queue_reconsider() after a listing: the job waited until another host's resources changed. */
static void what_waits_for_a_listing_starts_after_it(void **state)
{
	struct bench *bench = *state;
	const struct engine_sink sink = scheduler_sink(bench->scheduler, 1);
	const struct host host = { .known = true,
				   .cpus = 8,
				   .memory_bytes = (int64_t)64 << 30,
				   .devices = gpus,
				   .device_count = 1 };
	int64_t gpu;

	host_give(bench->other, 1, "");
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	ready_await(bench, 0, true);
	ready_await(bench, 1, true);
	sink.event(sink.arg, &(struct engine_event){ .kind = ENGINE_UP, .text = "", .host = &host });
	gpu = gpu_submit(bench, "gpu");
	line_await(bench, "gpu", "it waits for a node's container engine");
	fake_engine_list(bench->other, 0);
	placed_check(bench, gpu, "b");
}

/* Fails with: twin_of() that finds none: each node removed what the other one had made. */
static void an_engine_is_the_node_of_one_name_only(void **state)
{
	struct bench *bench = *state;
	struct node_state b;
	int64_t id;

	host_give(bench->fake, 0, "the same");
	host_give(bench->other, 0, "the same");
	fake_engine_up(bench->fake);
	job_await(bench, bench_submit(bench, "first", 0, 0), JOB_RUNNING);
	fake_engine_up(bench->other);
	for (int i = 0; i < WAIT_MS && !strstr(scheduler_node_state(bench->scheduler, 1).text, "it is"); i++)
		usleep(1000);
	id = bench_submit(bench, "second", 0, 0);
	placed_check(bench, id, "main");
	b = scheduler_node_state(bench->scheduler, 1);
	assert_false(b.answers || b.ready);
	assert_string_equal(b.text, "it is the engine of the node main");
	/* It is another engine now. */
	fake_engine_down(bench->other, "moved");
	host_give(bench->other, 0, "another");
	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	placed_check(bench, bench_submit(bench, "third", 0, 0), "b");
}

/* Fails with: jobs_add() without node_check(): the job was taken for lost, and started on main as well. */
static void a_daemon_without_the_machine_of_a_job_does_not_start(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "there", 0, 0);
	struct scheduler *scheduler;
	struct error err AUTO_ERROR = { 0 };

	fake_engine_up(bench->other);
	placed_check(bench, id, "b");
	scheduler_stop(bench->scheduler);
	scheduler = scheduler_new(&(struct scheduler_options){ .store = bench->store,
							       .clock = &bench->clock.clock,
							       .project_number = "42",
							       .capacity = bench->capacity,
							       .trials_dir = bench->trials_dir });
	assert_int_equal(scheduler_start(scheduler, (struct engine *[]){ NULL }, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_string_equal(
		err.text,
		"job there is on the node b, which no --node names: name it until the job has ended");
	scheduler_free(scheduler);
}

/* On which machine the master is, the packing decides. */
static void anywhere_exit(struct bench *bench, int64_t id)
{
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);

	for (int i = 0; !fake_engine_exit_now(bench->fake, &master, 0) &&
			!fake_engine_exit_now(bench->other, &master, 0);
	     i++) {
		assert_true(i < WAIT_MS);
		usleep(1000);
	}
}

static void spread_check(struct bench *bench)
{
	assert_int_equal(fake_engine_container_count(bench->fake) + fake_engine_container_count(bench->other),
			 3);
	assert_in_range(fake_engine_container_count(bench->other), 1, 2);
	assert_int_equal(fake_engine_network_count(bench->fake), 1);
	assert_int_equal(fake_engine_network_count(bench->other), 0);
}

/* Fails with: replica_execute() with the engine of the network's node: main had all three. */
static void a_job_larger_than_a_machine_is_on_two(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "large", 2, 0);
	int64_t next;

	job_await(bench, id, JOB_RUNNING);
	spread_check(bench);
	line_await(bench, "large", "The job is placed. On ");
	next = bench_submit(bench, "next", 0, 0);
	job_await(bench, next, JOB_RUNNING);
	assert_int_equal(fake_engine_container_count(bench->fake), 2);
	assert_int_equal(fake_engine_container_count(bench->other), 2);
	anywhere_exit(bench, id);
	job_await(bench, id, JOB_SUCCEEDED);
	anywhere_exit(bench, next);
	idle_await(bench);
	assert_int_equal(fake_engine_container_count(bench->fake), 0);
	assert_int_equal(fake_engine_container_count(bench->other), 0);
	assert_int_equal(fake_engine_network_count(bench->fake), 0);
}

static void after_a_restart_its_replicas_are_where_they_were(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "large", 2, 0);
	unsigned made;

	job_await(bench, id, JOB_RUNNING);
	made = fake_engine_calls(bench->fake, FAKE_CREATE) + fake_engine_calls(bench->other, FAKE_CREATE);
	assert_int_equal(made, 3);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	taken_up_await(bench, "between");
	state_check(bench, id, JOB_RUNNING); /* the other ones were not looked for on main */
	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	anywhere_exit(bench, id);
	job_await(bench, id, JOB_SUCCEEDED);
	idle_await(bench);
	assert_int_equal(fake_engine_calls(bench->fake, FAKE_CREATE) +
				 fake_engine_calls(bench->other, FAKE_CREATE),
			 3);
	assert_int_equal(fake_engine_container_count(bench->other), 0);
}

static void it_waits_for_each_of_its_machines(void **state)
{
	struct bench *bench = *state;
	const int64_t id = bench_submit(bench, "large", 2, 0);

	job_await(bench, id, JOB_RUNNING);
	fake_engine_down(bench->other, "cut");
	line_await(bench, "large", "Waiting for the container engine of the node b: cut");
	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	fake_engine_down(bench->fake, "gone");
	line_await(bench, "large", "Waiting for the container engine of the node main: gone");
	fake_engine_up(bench->fake);
	ready_await(bench, 0, true);
	spread_check(bench);
	anywhere_exit(bench, id);
	job_await(bench, id, JOB_SUCCEEDED);
	idle_await(bench);
}

/* Fails with: note_shortage() that closes the walk for every lack of room: the third job waited as well. */
static void what_waits_for_its_own_machine_keeps_that_one_alone(void **state)
{
	struct bench *bench = *state;
	const struct shape there = { .project = "p", .machine_type = "n1-standard-4" };
	struct place_rule rule = { 0 };
	const struct place_rules placing = { .rules = &rule, .rule_count = 1 };
	int64_t ids[5];

	daemon_stop(bench);
	assert_int_equal(place_rule_parse("n1-standard-4=node:b", &rule, NULL), STATUS_OK);
	bench->capacity.placing = &placing;
	bench->capacity.max_jobs = 1;
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	ready_await(bench, 0, true);
	ready_await(bench, 1, true);
	ids[0] = shape_submit(bench, "first", &there);
	placed_check(bench, ids[0], "b");
	ids[1] = shape_submit(bench, "second", &there);
	line_await(bench, "second", "main lacks the label node:b");
	ids[2] = bench_submit(bench, "third", 0, 0);
	placed_check(bench, ids[2], "main");
	ids[3] = shape_submit(bench, "fourth", &there);
	ids[4] = bench_submit(bench, "fifth", 0, 0);
	line_await(bench, "fifth", "The job is queued");
	master_exit(bench->other, ids[0]);
	placed_check(bench, ids[1], "b");
	state_check(bench, ids[4], JOB_QUEUED);
	master_exit(bench->other, ids[1]);
	placed_check(bench, ids[3], "b");
	state_check(bench, ids[4], JOB_QUEUED);
	master_exit(bench->fake, ids[2]);
	placed_check(bench, ids[4], "main");
	daemon_stop(bench);
	bench->capacity.placing = NULL;
	place_rule_deinit(&rule);
	daemon_start(bench);
}

/* Fails with: node_enter() that does not count the node: the job waited for its label. */
static void a_machine_that_joins_gets_jobs(void **state)
{
	struct bench *bench = *state;
	const struct shape there = { .project = "p", .machine_type = "n1-standard-4" };
	struct place_rule rule = { 0 };
	const struct place_rules placing = { .rules = &rule, .rule_count = 1 };
	struct fake_engine *third = fake_engine_new();
	AUTO(json) json_t *labels = json_pack("{s:s}", "zone", "new");
	struct engine_sink sink;
	size_t node = 0;
	int64_t id;

	daemon_stop(bench);
	assert_int_equal(place_rule_parse("n1-standard-4=zone:new", &rule, NULL), STATUS_OK);
	bench->capacity.placing = &placing;
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	/* A node does not join if its engine cannot be opened. */
	assert_true(scheduler_node_make(bench->scheduler, "other", NULL, &node));
	assert_true(scheduler_node_make(bench->scheduler, "c", labels, &node));
	assert_int_equal(node, 2);
	sink = scheduler_sink(bench->scheduler, node);
	host_give(third, 1, "");
	scheduler_node_join(bench->scheduler, node, fake_engine_open(third, &sink));
	assert_false(scheduler_node_make(bench->scheduler, "d", NULL, &node));
	fake_engine_up(third);
	ready_await(bench, 2, true);
	assert_int_equal(scheduler_node_count(bench->scheduler), 3);
	id = shape_submit(bench, "there", &there);
	placed_check(bench, id, "c");
	master_exit(third, id);
	job_await(bench, id, JOB_SUCCEEDED);
	daemon_stop(bench);
	fake_engine_free(third);
	bench->capacity.placing = NULL;
	place_rule_deinit(&rule);
	daemon_start(bench);
}

/* Fails with: twin_of() that finds b, which is away: the new node got no jobs. */
static void a_machine_that_joins_again_gets_jobs(void **state)
{
	struct bench *bench = *state;
	struct fake_engine *third = fake_engine_new();
	AUTO(json) json_t *labels = json_object();
	struct engine_sink sink;
	size_t node = 0;
	int64_t id;

	host_give(bench->other, 0, "the same");
	host_give(third, 0, "the same");
	fake_engine_up(bench->other);
	ready_await(bench, 1, true);
	fake_engine_down(bench->other, "left");
	ready_await(bench, 1, false);
	assert_true(scheduler_node_make(bench->scheduler, "c", labels, &node));
	sink = scheduler_sink(bench->scheduler, node);
	scheduler_node_join(bench->scheduler, node, fake_engine_open(third, &sink));
	fake_engine_up(third);
	ready_await(bench, node, true);
	id = bench_submit(bench, "again", 0, 0);
	placed_check(bench, id, "c");
	master_exit(third, id);
	job_await(bench, id, JOB_SUCCEEDED);
	daemon_stop(bench);
	fake_engine_free(third);
	daemon_start(bench);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		NODES_TEST(each_job_is_on_the_machine_with_the_least_load),
		NODES_TEST(jobs_that_wait_at_the_start_are_spread),
		NODES_TEST(a_machine_that_is_away_holds_up_nobody),
		NODES_TEST(after_a_restart_a_job_is_on_its_machine),
		NODES_TEST(the_loss_of_a_machine_is_that_of_its_own_jobs),
		NODES_TEST(machines_may_have_gpus_of_the_same_name),
		NODES_TEST(what_waits_for_an_absent_machine_keeps_nobody_waiting),
		NODES_TEST(what_waits_for_a_listing_starts_after_it),
		NODES_TEST(an_engine_is_the_node_of_one_name_only),
		NODES_TEST(a_daemon_without_the_machine_of_a_job_does_not_start),
		NODES_TEST(what_waits_for_its_own_machine_keeps_that_one_alone),
		NODES_TEST(a_machine_that_joins_gets_jobs),
		NODES_TEST(a_machine_that_joins_again_gets_jobs),
		SPAN_TEST(a_job_larger_than_a_machine_is_on_two),
		SPAN_TEST(after_a_restart_its_replicas_are_where_they_were),
		SPAN_TEST(it_waits_for_each_of_its_machines),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}
