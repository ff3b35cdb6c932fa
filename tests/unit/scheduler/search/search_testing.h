/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/search/search_testing.h: short functions for tuning jobs. */
#include <sqlite3.h>

#include "daemon/base/json.h"
#include "scheduler/search/study_limits.h"
#include "scheduler/tuning/study.h"
#include "store/jobs/trials.h"
#include "tests/unit/scheduler/scheduler_testing.h"

struct search {
	const char *job_id;
	unsigned trials, parallel, failed;
	double maximum; /* of x; its minimum is 1 */
	enum algorithm algorithm;
	enum stopping_rule stopping;
	int64_t max_running_us, max_wait_us;
	int priority;
	const char *resumes; /* id of the job that it resumes */
	const struct study_limits *limits;
	size_t metric_count; /* number of metrics, at most 2; 0: 1 */
	bool broken;         /* the stored study cannot be read */
	unsigned gpus;
};

static inline json_t *search_make(const struct search *search)
{
	struct parameter parameter = { .name = (char *)"x",
				       .type = PARAMETER_INTEGER,
				       .minimum = 1,
				       .maximum = search->maximum > 0 ? search->maximum : 1000,
				       .parent = -1 };
	struct metric metrics[] = { { .name = (char *)"accuracy" }, { .name = (char *)"loss" } };
	const struct study study = { .seed = 7,
				     .algorithm = search->algorithm,
				     .stopping = search->stopping,
				     .parameters = &parameter,
				     .parameter_count = 1,
				     .metrics = metrics,
				     .metric_count = search->metric_count ? search->metric_count : 1 };

	return study_to_json(&study);
}

static inline int64_t search_submit(struct bench *bench, const struct search *search)
{
	AUTO(plan) struct plan *plan = plan_named("p", search->job_id);

	plan->priority = search->priority;
	plan->max_running_us = search->max_running_us;
	plan->max_wait_us = search->max_wait_us;
	plan->resumed_jobs = search->resumes ? json_pack("[s]", search->resumes) : NULL;
	plan->search = search->broken ? json_pack("{s:s}", "algorithm", "NONE") : search_make(search);
	plan->study_limits = search->limits ? study_limits_to_json(search->limits) : NULL;
	plan->trial_count = search->trials;
	plan->parallel_trial_count = search->parallel;
	plan->failed_trial_count = search->failed;
	pool_fill(&plan->pools[ROLE_MASTER], &(struct shape){ .project = "p", .gpus = search->gpus },
		  "image:1", 1);
	return plan_store(bench, plan);
}

static inline void database_do(struct bench *bench, const char *sql)
{
	char path[96];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/state.db", bench->directory);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, WAIT_MS), SQLITE_OK); /* the daemon may be writing */
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static inline void trials_read(struct bench *bench, int64_t job, struct trial_list *list)
{
	assert_int_equal(trial_list_read(bench->store, job, list, NULL), STATUS_OK);
}

/* Waits until the trial exists and is in that state; returns its run. */
static inline int64_t trial_await(struct bench *bench, int64_t job, unsigned number, enum job_state wanted)
{
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };

		trials_read(bench, job, &list);
		if (list.count >= number && list.trials[number - 1].state == wanted)
			return list.trials[number - 1].run;
		usleep(1000);
	}
	fail_msg("trial %u never became %s", number, job_state_name(wanted));
	return 0;
}

/* Writes one report for each of @count steps; the values begin at @from and grow by @rise. */
static inline void reports_write(struct bench *bench, int64_t run, int count, double from, double rise)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%lld/output.metrics", bench->trials_dir, (long long)run);
	file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 1; i <= count; i++)
		fprintf(file,
			"{\"global_step\":\"%d\",\"timestamp\":%.3f,\"accuracy\":\"%.6f\",\"trial\":\"1\"}\n",
			i, (double)clock_wall_us(&system_clock) / 1e6 + i, from + rise * i);
	fclose(file);
}

static inline void run_exit(struct bench *bench, int64_t run, int code)
{
	const struct replica_key key = key_of(run, ROLE_MASTER, 0);

	fake_engine_exit(bench->fake, &key, code);
}

static inline void daemon_restart(struct bench *bench)
{
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
}

/* Lets each trial after the first @ended report and end as soon as it runs, until the job has ended. @ret_most: the
 * highest number of open trials. */
static inline void trials_drive_from(struct bench *bench, int64_t job, size_t ended, bool restarts,
				     size_t *ret_most)
{
	*ret_most = 0;
	for (int i = 0; i < WAIT_MS; i++) {
		struct trial_list list AUTO_TRIAL_LIST = { 0 };
		AUTO(job) struct job *row = NULL;
		size_t open = 0;

		assert_int_equal(job_get_by_id(bench->store, job, &row, NULL), STATUS_OK);
		if (job_state_is_final(row->state))
			return;
		trials_read(bench, job, &list);
		for (size_t t = 0; t < list.count; t++)
			open += list.trials[t].outcome == OUTCOME_OPEN;
		*ret_most = open > *ret_most ? open : *ret_most;
		if (ended < list.count && list.trials[ended].state == JOB_RUNNING) {
			reports_write(bench, list.trials[ended].run, 3, 0.1, 0.01);
			run_exit(bench, list.trials[ended++].run, 0);
			i = 0;
		}
		if (restarts)
			daemon_restart(bench);
		usleep(1000);
	}
	fail_msg("the job never ended");
}

static inline void trials_drive(struct bench *bench, int64_t job, bool restarts, size_t *ret_most)
{
	trials_drive_from(bench, job, 0, restarts, ret_most);
}

static inline void check_trials(struct bench *bench, int64_t job, size_t count, enum trial_outcome outcome)
{
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	unsigned long long places = 0;

	trials_read(bench, job, &list);
	assert_int_equal(list.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list.trials[i].outcome, outcome);
		assert_true(list.trials[i].ended_as >= 1 && list.trials[i].ended_as <= count);
		places |= 1ull << list.trials[i].ended_as;
	}
	assert_true(places == (2ull << count) - 2);
	/* The reports of all trials are removed. */
	assert_true(rmdir(bench->trials_dir) == 0);
}
