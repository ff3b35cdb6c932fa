/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/scheduler_testing.h: the whole scheduler on a real store, with an engine that does as the
 * test says. */
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

/* A clock that a test puts forward, or sets to another day. */
struct test_clock {
	struct clock clock;
	struct step_clock step;
	atomic_int_least64_t jumped_ns; /* of the wall clock of the whole machine */
	atomic_int_least64_t
		stands_us; /* monotonic: since when it is put forward by the test alone; 0: it goes */
};

struct bench {
	struct test_clock clock;
	char directory[64];
	char trials_dir[80];
	struct store *store;
	struct fault_registry *faults;
	struct scheduler *scheduler;
	struct fake_engine *fake;
	struct fake_engine *other; /* of the node "b" of the next daemon_start(); NULL: there is none */
	bool span;                 /* networks are over both nodes */
	struct capacity capacity;  /* of the next daemon_start() */
	const char *gpus;
	struct gateway_ops gateway;
	struct gcs_ops gcs;
	const char *adc, *wheels;
	bool cut_off;
	suggest_function suggest;
	unsigned pooled_network_ms; /* of the next daemon_start(), too */
};

/* Somebody sets the machine's wall clock. */
void wall_jump(struct bench *bench, int64_t by_ns);

/* A user puts the daemon's clock forward. */
void clock_step(struct bench *bench, int64_t by_ns);
void daemon_start(struct bench *bench);
void daemon_stop(struct bench *bench);
int bench_setup(void **state);
int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place);
int bench_teardown(void **state);

/* A rule of faults. */
void order(struct bench *bench, const char *text);

/* Waits until so many operations of a kind were asked for. */
void calls_await(struct bench *bench, enum fake_operation operation, unsigned count);

/* A test on a bench of its own. */
#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

/* A master and @workers of these machines, each with so many GPUs. */
struct shape {
	const char *project, *machine_type;
	unsigned workers, gpus;
	int priority;
	bool restarts_whole, mounts_gcs;
	int64_t max_running_us, max_wait_us;
};

void pool_fill(struct pool *pool, const struct shape *shape, const char *image, unsigned count);

/* A new job of it; its number. */
int64_t plan_store(struct bench *bench, const struct plan *plan);
int64_t shape_submit(struct bench *bench, const char *job_id, const struct shape *shape);
int64_t bench_submit(struct bench *bench, const char *job_id, unsigned workers, int priority);
struct replica_key key_of(int64_t job, enum role role, unsigned index);

/* The state can only be read: asks again until it is as wanted, or the test has waited too long. */
void job_await(struct bench *bench, int64_t id, enum job_state wanted);
void state_check(struct bench *bench, int64_t id, enum job_state state);

/* Waits until all that was told to the scheduler before is taken up, and all jobs are looked at, engine or not. @job_id: of
 * a job that is cancelled in the queue. */
void taken_up_await(struct bench *bench, const char *job_id);
void line_collect(void *arg, const struct log_entry *entry);
char *service_log(struct bench *bench, const char *job_id);

/* As job_await(), for a line. */
void line_await(struct bench *bench, const char *job_id, const char *part);

/* The engine goes while the job runs, and its log says so. */
void engine_leave(struct bench *bench, int64_t id, const char *job_id);
unsigned count_in(const char *text, const char *part);

/* How often the log of a job has it, when all of it is stored. */
unsigned count_in_log(struct bench *bench, const char *job_id, const char *part);
void job_check_error(struct bench *bench, int64_t id, enum job_state state, const char *error_part);
void network_free_await(struct bench *bench);

/* Of the last job: nothing is left. */
void job_check(struct bench *bench, int64_t id, enum job_state state, const char *error_part);
void idle_await(struct bench *bench);
