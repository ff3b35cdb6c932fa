/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/scheduler_testing.h: the whole scheduler on a real store, with a fake engine that the test
 * controls. */
#include <ftw.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/step_clock.h"
#include "daemon/base/text.h"
#include "scheduler/faults/fault_registry.h"
#include "scheduler/scheduler.h"
#include "store/jobs/jobs.h"
#include "store/logs/logs.h"
#include "store/store.h"
#include "tests/support/fake_engine.h"
#include "tests/unit/full_disk_testing.h"
#include "tests/unit/scheduler/plan/plan_testing.h"
#include "tests/unit/testing.h"

enum { WAIT_MS = 20000, NODE_PATIENCE_S = 60 };

/* A clock that a test moves forward, or sets to another day. */
struct test_clock {
	struct clock clock;
	struct step_clock step;
	atomic_int_least64_t jumped_ns; /* by how much the wall clock of the machine was set */
	atomic_int_least64_t
		stands_us; /* monotonic: the time since which only the test moves it; 0: it runs */
};

struct bench {
	struct test_clock clock;
	char directory[64];
	char trials_dir[80];
	struct store *store;
	struct fault_registry *faults;
	struct scheduler *scheduler;
	struct fake_engine *fake;
	struct fake_engine *other; /* the engine of node "b" for the next daemon_start(); NULL: there is no such node */
	bool span;                 /* networks span both nodes */
	struct capacity capacity;  /* for the next daemon_start() */
	const char *gpus;
	struct gateway_ops gateway;
	struct gcs_ops gcs;
	const char *adc, *wheels;
	bool cut_off;
	suggest_function suggest;
	unsigned pooled_network_ms; /* for the next daemon_start() */
};

/* Sets the machine's wall clock. */
void wall_jump(struct bench *bench, int64_t by_ns);

/* Moves the daemon's clock forward, as a user does. */
void clock_step(struct bench *bench, int64_t by_ns);
void daemon_start(struct bench *bench);
void daemon_stop(struct bench *bench);
int bench_setup(void **state);
int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place);
int bench_teardown(void **state);

/* Adds a fault rule. */
void order(struct bench *bench, const char *text);

/* Waits until this many operations of a kind were ordered. */
void calls_await(struct bench *bench, enum fake_operation operation, unsigned count);

/* A test on a bench of its own. */
#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

/* A job with a master and @workers of these machine types, each with this many GPUs. */
struct shape {
	const char *project, *machine_type;
	unsigned workers, gpus;
	int priority;
	bool restarts_whole, mounts_gcs;
	int64_t max_running_us, max_wait_us;
};

void pool_fill(struct pool *pool, const struct shape *shape, const char *image, unsigned count);

/* Stores a new job with this plan; returns its number. */
int64_t plan_store(struct bench *bench, const struct plan *plan);
int64_t shape_submit(struct bench *bench, const char *job_id, const struct shape *shape);
int64_t bench_submit(struct bench *bench, const char *job_id, unsigned workers, int priority);
struct replica_key key_of(int64_t job, enum role role, unsigned index);

/* Reads the state repeatedly until it is the wanted one; fails the test after a while. */
void job_await(struct bench *bench, int64_t id, enum job_state wanted);
void state_check(struct bench *bench, int64_t id, enum job_state state);

/* Waits until the scheduler has handled all earlier events and has decided about all jobs, with or without an engine.
 * @job_id: for a job that this call submits and cancels in the queue. */
void taken_up_await(struct bench *bench, const char *job_id);
void line_collect(void *arg, const struct log_entry *entry);
char *service_log(struct bench *bench, const char *job_id);

/* As job_await(), for a line in the job's log. */
void line_await(struct bench *bench, const char *job_id, const char *part);

/* The engine goes away while the job runs; waits for the line in its log. */
void engine_leave(struct bench *bench, int64_t id, const char *job_id);
unsigned count_in(const char *text, const char *part);

/* How often the text is in the job's log, once all of it is stored. */
unsigned count_in_log(struct bench *bench, const char *job_id, const char *part);
void job_check_error(struct bench *bench, int64_t id, enum job_state state, const char *error_part);
void network_free_await(struct bench *bench);

/* Checks the end of the only remaining job: nothing is left in the engine. */
void job_check(struct bench *bench, int64_t id, enum job_state state, const char *error_part);
void idle_await(struct bench *bench);
