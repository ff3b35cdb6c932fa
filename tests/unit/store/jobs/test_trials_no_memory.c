/* SPDX-License-Identifier: Apache-2.0 */
/* Trials and their curves, as no_memory_testing.h says. */
#include "store/jobs/trials.h"
#include "tests/unit/store/no_memory_testing.h"

static enum status trials_add(struct world *world, struct error *err)
{
	char names[2][48];
	struct job runs[2];
	struct trial_start starts[2];
	enum status rc;

	for (unsigned i = 0; i < 2; i++) {
		snprintf(names[i], sizeof(names[i]), "%s.%u", world->id, i + 1);
		runs[i] = job_named(names[i]);
		runs[i].parent = world->job;
		runs[i].trial = i + 1;
		starts[i] =
			(struct trial_start){ .number = i + 1, .parameters = "[1.5,null]", .run = &runs[i] };
	}
	rc = trials_start(world->bench.store, world->job, starts, 2, err);
	if (!rc)
		world->trial = starts[0].run_id;
	return rc;
}

static void trials_prepare(void *arg, unsigned number)
{
	job_prepare(arg, number);
	assert_int_equal(trials_add(arg, NULL), STATUS_OK);
}

static void curves_prepare(void *arg, unsigned number)
{
	struct world *world = arg;

	trials_prepare(arg, number);
	assert_int_equal(trial_curves_put(world->bench.store,
					  &(struct trial_curve){ .run = world->trial, .points = "[[1,0.5]]" },
					  1, NULL),
			 STATUS_OK);
}

MEMORY_RUN(trials_begin)
{
	return trials_add(arg, err);
}

MEMORY_RUN(trial_finish)
{
	WORLD;
	const struct trial_ending ending = { .job = world->job,
					     .number = 1,
					     .outcome = OUTCOME_COMPLETED,
					     .final = "{\"step\":1}",
					     .run = world->trial,
					     .curve = "[[1,0.5]]" };

	return trial_end(store, &ending, err);
}

MEMORY_RUN(trial_halt)
{
	WORLD;

	return trial_stop(
		store,
		&(struct trial_stopping){ .job = world->job,
					  .number = 2,
					  .run = world->trial + 1,
					  .message = "Stopped.",
					  .line = &(struct service_line){ SEVERITY_INFO, "stopped" } },
		err);
}

MEMORY_RUN(curves_write)
{
	WORLD;
	const struct trial_curve curves[] = { { .run = world->trial, .points = "[[1,0.5]]" },
					      { .run = world->trial + 1, .points = "[[2,0.25]]" } };

	return trial_curves_put(store, curves, COUNT_OF(curves), err);
}

static enum status curve_say(void *arg, const struct trial_curve *curve, struct error *err)
{
	(void)err;
	text_printf(arg, "%u %s;", curve->number, curve->points);
	return STATUS_OK;
}

MEMORY_RUN(curves_read)
{
	WORLD;

	return trial_curves_visit(store, world->job, curve_say, ret_said, err);
}

MEMORY_RUN(trials_read)
{
	WORLD;
	struct trial_list list AUTO_TRIAL_LIST = { 0 };
	enum status rc = trial_list_read(store, world->job, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++)
		text_printf(ret_said, "%u %s;", list.trials[i].number, list.trials[i].parameters);
	return rc;
}

static void trial_say(void *arg, size_t index, const struct stored_trial *trial)
{
	text_printf(arg, "%zu %u %s;", index, trial->number, trial->parameters);
}

MEMORY_RUN(trials_look)
{
	WORLD;

	return trials_visit(store, &world->job, 1, trial_say, ret_said, err);
}

static void run_say(void *arg, const struct trial_run *run)
{
	text_printf(arg, "%u %s;", run->number, strchr(run->job_id, '.'));
}

MEMORY_RUN(runs_read)
{
	WORLD;

	return trial_runs_visit(store, world->job, run_say, ret_said, err);
}

/* A KIND_CUSTOM that runs a trial. */
static void custom_trial_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	const struct job tuning = job_drawn(world, number, KIND_TUNING);
	char id[sizeof(world->id)];
	struct job run;
	struct trial_start start = { .number = 1, .parameters = "[]", .run = &run };

	job_store(world, &tuning);
	snprintf(id, sizeof(id), "1%u", number);
	run = job_drawn(world, number, KIND_CUSTOM);
	run.job_id = id;
	run.parent = world->job;
	run.trial = 1;
	assert_int_equal(trials_start(world->bench.store, world->job, &start, 1, NULL), STATUS_OK);
	memcpy(world->id, id, sizeof(id));
}

MEMORY_RUN(trial_owner)
{
	WORLD;
	AUTO(string) char *owner = NULL;
	unsigned trial = 0;
	enum status rc = trial_of_job(store, "demo", world->id, &owner, &trial, err);

	text_printf(ret_said, "%d %u", owner != NULL, trial);
	return rc;
}

static const struct memory_operation operations[] = {
	CHANGES("trials_start", job_prepare, trials_begin),
	CHANGES("trial_end", trials_prepare, trial_finish),
	CHANGES("trial_stop", trials_prepare, trial_halt),
	CHANGES("trial_curves_put", trials_prepare, curves_write),
	READS("trial_curves_visit", curves_prepare, curves_read),
	READS("trial_list_read", trials_prepare, trials_read),
	READS("trials_visit", trials_prepare, trials_look),
	READS("trial_runs_visit", trials_prepare, runs_read),
	READS("trial_of_job", custom_trial_prepare, trial_owner),
};

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(operations)];

	memory_faults_init();
	memory_tests_fill(tests, operations, COUNT_OF(operations), world_open, world_close);
	return cmocka_run_group_tests_name("trials without memory", tests, NULL, NULL);
}
