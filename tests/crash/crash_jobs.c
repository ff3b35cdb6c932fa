/* SPDX-License-Identifier: Apache-2.0 */
/* The script for state.db and logs.db: jobs of every kind are created, labelled, run, retried, cancelled and deleted,
 * and write log lines; a fault rule is added, waits for a line, is applied and is deleted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/jobs/faults.h"
#include "store/jobs/jobs.h"
#include "store/jobs/leases.h"
#include "store/jobs/pipelines.h"
#include "store/jobs/policies.h"
#include "store/jobs/resources.h"
#include "store/jobs/trials.h"
#include "store/logs/logs.h"
#include "store/store.h"
#include "tests/crash/crash_world.h"

/* Converts a literal: members of struct job are not const. */
#define LITERAL(text) ((char *)(uintptr_t)(text))

/* The store's numbers of the jobs, in the order in which the script creates them. */
enum { FIRST = 1, CUSTOM, TUNING };
enum { RULE = 1 };

enum { LINES = 40, ATTEMPTS = 2, LINES_STEP_1 = 8, LINES_STEP_2 = 13 };

static const struct service_line two_lines[] = { { SEVERITY_INFO, "one" }, { SEVERITY_ERROR, "two" } };

static bool jobs_open(struct world *world)
{
	return store_open(world->dir, &world->clock, &world->store, &world->err) == STATUS_OK;
}

static void jobs_close(struct world *world)
{
	store_close(world->store);
	world->store = NULL;
}

static struct job job_of(enum job_kind kind, const char *job_id)
{
	return (struct job){
		.kind = kind,
		.project = LITERAL("demo"),
		.location = kind == KIND_TRAINING ? NULL : LITERAL("us-central1"),
		.job_id = LITERAL(job_id),
		.display_name = kind == KIND_TRAINING ? NULL : LITERAL("named"),
		.input = LITERAL("{}"),
		.output = LITERAL("{}"),
		.plan = LITERAL("{}"),
	};
}

static enum status job_create(struct world *world, enum job_kind kind, const char *job_id)
{
	struct job job = job_of(kind, job_id);

	return job_insert(world->store, &job, two_lines, 2, NULL, &world->err);
}

static enum status change_apply(struct world *world, struct job_change change)
{
	enum status rc;

	change.lines = two_lines;
	change.line_count = 2;
	rc = job_apply(world->store, &change, 1, &world->err);
	if (!rc && !change.applied)
		return error_set(&world->err, STATUS_INTERNAL, NULL, "the job is in another state");
	return rc;
}

/* ---- lines of a container ---- */

static int64_t lines_stored(struct world *world, int attempt)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM entry WHERE stream > 0 AND payload LIKE 'attempt %d line %%'",
		 attempt);
	return number_read(world, "logs.db", sql);
}

static int stream_of(int line)
{
	return line % 3 ? 1 : 2;
}

static int64_t line_time_ns(int attempt, int line)
{
	return 1000 * (attempt * INT64_C(1000) + line + 1);
}

/* Continues at the position that the store has, as the reader of containers does. */
static enum status lines_add(struct world *world, int attempt)
{
	struct log_source *source = log_source_new(&(struct log_source_spec){
		.job = FIRST,
		.project = "demo",
		.log_name = "task",
		.resource_type = "ml_job",
		.resource_labels = "{\"job_id\":\"first\",\"task_name\":\"master-replica-0\"}" });

	for (int line = (int)lines_stored(world, attempt); line < LINES; line++) {
		char payload[64];
		struct log_record record = {
			.source = source,
			.time_ns = line_time_ns(attempt, line),
			.kind = LOG_TEXT,
			.payload = payload,
			.payload_length = (size_t)snprintf(payload, sizeof(payload), "attempt %d line %d",
							   attempt, line),
			.position = { .key.job = FIRST,
				      .key.attempt = (unsigned)attempt,
				      .stream = stream_of(line),
				      .reach = { .time_ns = line_time_ns(attempt, line) } },
		};

		if (!log_offer(world->store, &record))
			break;
		/* The lines are stored in two batches. */
		if (line == LINES / 2)
			log_flush(world->store, NULL);
	}
	log_source_unref(source);
	return log_flush(world->store, &world->err);
}

/* Checks that the stored lines are the first ones, in their order, and agree with the position. */
static bool lines_check(struct world *world, int attempt, bool are_all)
{
	int64_t stored = lines_stored(world, attempt), reach_ns[3] = { 0 };
	struct text expected AUTO_TEXT = { 0 }, found AUTO_TEXT = { 0 };
	struct text position AUTO_TEXT = { 0 }, reached AUTO_TEXT = { 0 };
	char sql[256];

	if (are_all && stored != LINES)
		return complain(world, "attempt %d has %lld lines", attempt, (long long)stored);
	for (int line = 0; line < stored; line++) {
		text_printf(&expected, "attempt %d line %d|\n", attempt, line);
		reach_ns[stream_of(line)] = line_time_ns(attempt, line);
	}
	snprintf(
		sql, sizeof(sql),
		"SELECT payload FROM entry WHERE job = 1 AND payload LIKE 'attempt %d line %%' ORDER BY ts, insert_id",
		attempt);
	rows_print(world, "logs.db", sql, &found);
	if (stored && strcmp(expected.data, found.data) != 0)
		return complain(world, "attempt %d said %s", attempt, found.data);
	if (stored)
		text_printf(&position, "%lld|%lld|\n", (long long)reach_ns[1], (long long)reach_ns[2]);
	snprintf(sql, sizeof(sql), "SELECT stdout_ns, stderr_ns FROM replica_position WHERE attempt = %d",
		 attempt);
	rows_print(world, "logs.db", sql, &reached);
	return strcmp(position.data ? position.data : "", reached.data ? reached.data : "") == 0 ||
	       complain(world, "the position of attempt %d is %s, not %s", attempt, reached.data,
			position.data);
}

/* ---- steps ---- */

static enum status trials_add(struct world *world)
{
	struct job runs[2] = { job_of(KIND_CUSTOM, "31"), job_of(KIND_CUSTOM, "32") };
	struct trial_start starts[2];

	for (unsigned i = 0; i < 2; i++) {
		runs[i].parent = TUNING;
		runs[i].trial = i + 1;
		starts[i] = (struct trial_start){ .number = i + 1, .parameters = "[1.5]", .run = &runs[i] };
	}
	return trials_start(world->store, TUNING, starts, 2, &world->err);
}

static enum status custom_cancel(struct world *world)
{
	const struct resource custom = { KIND_CUSTOM, "demo", "us-central1", "2" };

	return resource_cancel(world->store, &custom, "enough", &world->err);
}

static enum status custom_delete(struct world *world)
{
	const struct resource custom = { KIND_CUSTOM, "demo", "us-central1", "2" };
	struct operation operation AUTO_OPERATION = { 0 };

	return resource_delete(world->store, &custom, &operation, &world->err);
}

static enum status pipeline_add(struct world *world)
{
	struct job job = job_of(KIND_CUSTOM, "41");
	struct pipeline pipeline AUTO_PIPELINE = { 0 };
	const struct pipeline_draft draft = { .pipeline_id = "40",
					      .display_name = "pipeline",
					      .input = "{}",
					      .model_id = "model",
					      .model_input = "{}",
					      .job = &job,
					      .lines = two_lines,
					      .line_count = 2 };

	return pipeline_insert(world->store, &draft, &pipeline, &world->err);
}

static enum status policy_put(struct world *world)
{
	AUTO(string) char *etag = NULL;

	return policy_set(world->store, "demo", "first", "{\"bindings\":[]}", NULL, &etag, &world->err);
}

static enum status first_admit(struct world *world)
{
	struct lease leases[2] = { { FIRST, 0, 0, LITERAL("GPU-a"), false },
				   { FIRST, 1, 0, LITERAL("GPU-b"), false } };

	return change_apply(world, (struct job_change){ .job = FIRST,
							.from = JOB_QUEUED,
							.to = JOB_PREPARING,
							.started_us = clock_wall_us(&world->clock),
							.assignment = "{\"a\":1}",
							.leases = leases,
							.lease_count = 2 });
}

static enum status trial_finish(struct world *world)
{
	const struct trial_ending ending = { .job = TUNING,
					     .number = 1,
					     .outcome = OUTCOME_COMPLETED,
					     .final_step = 1,
					     .final = "[2]",
					     .run = TUNING + 1,
					     .curve = "[[1,2]]" };

	return trial_end(world->store, &ending, &world->err);
}

#define APPLY(...) change_apply(world, (struct job_change){ __VA_ARGS__ })

static enum status step_run(struct world *world, int step)
{
	const struct fault_injection injection = {
		.key.job = FIRST, .key.attempt = 1, .fault = RULE, .line = LITERAL("taken")
	};
	int64_t rule, now_us = clock_wall_us(&world->clock);

	switch (step) {
	case 0:
		return job_create(world, KIND_TRAINING, "first");
	case 1:
		return job_create(world, KIND_CUSTOM, "2");
	case 2:
		return job_set_labels(world->store, "demo", "first", "{\"a\":\"b\"}", NULL, NULL,
				      &world->err);
	case 3:
		return policy_put(world);
	case 4:
		return first_admit(world);
	case 5:
		return APPLY(.job = FIRST, .from = JOB_PREPARING, .to = JOB_RUNNING, .running_us = now_us,
			     .announces = true);
	case 6:
		return fault_insert(world->store, "{\"fault\":\"preempt\"}", false, &rule, &world->err);
	case 7:
		return fault_mark_put(world->store,
				      &(struct fault_mark){ { FIRST, 1, ROLE_MASTER, 0, 0 }, RULE },
				      &world->err);
	case LINES_STEP_1:
		return lines_add(world, 1);
	case 9:
		return custom_cancel(world);
	case 10:
		return APPLY(.job = FIRST, .from = JOB_RUNNING, .to = JOB_RUNNING, .decides = true,
			     .outcome = JOB_PREPARING, .outcome_message = "lost", .injections = &injection,
			     .injection_count = 1);
	case 11:
		return APPLY(.job = FIRST, .from = JOB_RUNNING, .to = JOB_PREPARING, .retries = true);
	case 12:
		return APPLY(.job = FIRST, .from = JOB_PREPARING, .to = JOB_RUNNING, .announces = true);
	case LINES_STEP_2:
		return lines_add(world, 2);
	case 14:
		return APPLY(.job = CUSTOM, .from = JOB_CANCELLING, .to = JOB_CANCELLED, .ended_us = now_us);
	case 15:
		return job_create(world, KIND_TUNING, "3");
	case 16:
		return trials_add(world);
	case 17:
		return trial_finish(world);
	case 18:
		return APPLY(.job = FIRST, .from = JOB_RUNNING, .to = JOB_RUNNING, .decides = true,
			     .outcome = JOB_FAILED, .outcome_message = "status of 4", .outcome_code = 9);
	case 19:
		return APPLY(.job = FIRST, .from = JOB_RUNNING, .to = JOB_RUNNING, .tears_down = true,
			     .error_message = "The replica", .error_code = 9);
	case 20:
		return APPLY(.job = FIRST, .from = JOB_RUNNING, .to = JOB_FAILED, .ended_us = now_us);
	case 21:
		return custom_delete(world);
	case 22:
		return fault_delete(world->store, RULE, &world->err);
	default:
		return pipeline_add(world);
	}
}

static bool jobs_repeats(int step)
{
	return step == LINES_STEP_1 || step == LINES_STEP_2;
}

static bool jobs_run(struct world *world, int step)
{
	return step_run(world, step) == STATUS_OK;
}

/* ---- looks ---- */

static char *jobs_look(struct world *world)
{
	static const char *const tables[] = { "job",       "lease",      "policy",   "trial",
					      "curve",     "pipeline",   "model",    "fault",
					      "fault_hit", "fault_mark", "operation" };
	struct text text AUTO_TEXT = { 0 };

	/* The lines that an earlier process left in the outbox are written. */
	if (log_flush(world->store, &world->err))
		text_puts(&text, "the logs cannot be written\n");
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		char sql[64];

		text_printf(&text, "%s\n", tables[i]);
		snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY 1, 2", tables[i]);
		rows_print(world, "state.db", sql, &text);
	}
	/* Lines of containers are stored in batches: lines_check(). */
	text_puts(&text, "lines\n");
	rows_print(
		world, "logs.db",
		"SELECT entry.job, severity, payload FROM entry WHERE stream = 0 ORDER BY entry.job, ts, insert_id",
		&text);
	return text_take(&text);
}

static bool jobs_check(struct world *world, int answered)
{
	const int steps[] = { LINES_STEP_1, LINES_STEP_2 };

	for (int attempt = 1; attempt <= ATTEMPTS; attempt++)
		if (!lines_check(world, attempt, !world->power_lost && answered > steps[attempt - 1]))
			return false;
	if (number_read(world, "logs.db", "SELECT count(*) - count(DISTINCT insert_id) FROM entry") != 0)
		return complain(world, "an insert id is there twice");
	return number_read(
		       world, "logs.db",
		       "SELECT (SELECT value FROM meta WHERE name = 'sequence') < max(insert_id) FROM entry") ==
		       0 ||
	       complain(world, "an insert id will be there twice");
}

const struct script jobs_script = {
	.name = "jobs",
	.step_count = 24,
	.survives_power_loss = true,
	.open = jobs_open,
	.run = jobs_run,
	.repeats = jobs_repeats,
	.look = jobs_look,
	.check = jobs_check,
	.close = jobs_close,
};
