/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/nodes_testing.h: jobs on two machines: "main" with bench->fake, and "b" with bench->other. */
#include "scheduler/plan/assignment.h"
#include "tests/unit/scheduler/scheduler_testing.h"

static char *gpus[] = { (char *)"0", (char *)"1" };

static inline void host_give(struct fake_engine *fake, unsigned gpu_count, const char *id)
{
	struct host host = { .known = true,
			     .cpus = 8,
			     .memory_bytes = (int64_t)64 << 30,
			     .devices = gpus,
			     .device_count = gpu_count };

	snprintf(host.engine, sizeof(host.engine), "%s", id);
	fake_engine_host(fake, &host);
}

/* At first, neither engine is reachable. */
static inline int nodes_setup(void **state)
{
	struct bench *bench;

	bench_setup(state);
	bench = *state;
	daemon_stop(bench);
	bench->other = fake_engine_new();
	host_give(bench->fake, 0, "");
	host_give(bench->other, 0, "");
	daemon_start(bench);
	return 0;
}

static inline int nodes_teardown(void **state)
{
	struct bench *bench = *state;
	struct fake_engine *other = bench->other;

	bench_teardown(state);
	fake_engine_free(other);
	return 0;
}

#define NODES_TEST(name) cmocka_unit_test_setup_teardown(name, nodes_setup, nodes_teardown)

/* The node of the job in the store. */
static inline char *node_of(struct bench *bench, int64_t id)
{
	AUTO(job) struct job *job = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_int_equal(assignment_from_text(job->assignment, &assignment, NULL), STATUS_OK);
	return strdup(assignment->node ? assignment->node : "main");
}

static inline void placed_check(struct bench *bench, int64_t id, const char *node)
{
	AUTO(string) char *placed = NULL;

	job_await(bench, id, JOB_RUNNING);
	placed = node_of(bench, id);
	assert_string_equal(placed, node);
}

/* Waits until the scheduler has handled the events of a node's engine. */
static inline void ready_await(struct bench *bench, size_t node, bool ready)
{
	for (int i = 0; scheduler_node_state(bench->scheduler, node).ready != ready; i++) {
		if (i >= WAIT_MS)
			fail_msg("node %zu stays %s", node, ready ? "away" : "ready");
		usleep(1000);
	}
}

static inline int64_t gpu_submit(struct bench *bench, const char *job_id)
{
	return shape_submit(bench, job_id, &(struct shape){ .project = "p", .gpus = 1 });
}

static inline void master_exit(struct fake_engine *fake, int64_t id)
{
	const struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_exit(fake, &master, 0);
}

/* For jobs with more replicas than one machine accepts. */
static inline int span_setup(void **state)
{
	struct bench *bench;

	nodes_setup(state);
	bench = *state;
	daemon_stop(bench);
	bench->span = true;
	bench->capacity.max_containers = 2;
	fake_engine_be_guest(bench->other);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_up(bench->other);
	ready_await(bench, 0, true);
	ready_await(bench, 1, true);
	return 0;
}

#define SPAN_TEST(name) cmocka_unit_test_setup_teardown(name, span_setup, nodes_teardown)
