/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/store/no_memory_testing.h: every asking for memory of every operation on state.db fails once: it is done, or
 * it is not and an error says so. */
#include "store/jobs/faults.h"
#include "store/jobs/resources.h"
#include "tests/support/memory_faults.h"
#include "tests/unit/store/eye_testing.h"
#include "tests/unit/store/store_testing.h"

struct world {
	struct bench bench;
	sqlite3 *eye;
	/* What prepare() made for the run that follows. */
	int64_t job, trial;
	char id[32], operation_id[32];
};

#define PLACE "us-central1"

/* ---- what is there ---- */

static inline void state_look(void *arg, struct text *ret_seen)
{
	static const char *const tables[] = { "job",         "lease",     "policy",    "trial",
					      "curve",       "operation", "pipeline",  "model",
					      "model_alias", "fault",     "fault_hit", "fault_mark" };
	struct world *world = arg;

	for (size_t i = 0; i < COUNT_OF(tables); i++)
		eye_look(world->eye, tables[i], ret_seen);
}

/* ---- what operations are about ---- */

static inline struct job job_drawn(struct world *world, unsigned number, enum job_kind kind)
{
	struct job job;

	snprintf(world->id, sizeof(world->id), "%s%u", kind ? "9" : "job", number);
	job = job_named(world->id);
	job.labels = LITERAL("{\"team\":\"red\"}");
	job.kind = kind;
	if (kind) {
		job.location = LITERAL(PLACE);
		job.display_name = LITERAL("mine");
	}
	return job;
}

static inline void job_store(struct world *world, const struct job *job)
{
	AUTO(job) struct job *stored = NULL;

	assert_int_equal(job_insert(world->bench.store, job, NULL, 0, &stored, NULL), STATUS_OK);
	world->job = stored->id;
}

static inline void job_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	const struct job job = job_drawn(world, number, KIND_TRAINING);

	job_store(world, &job);
}

static inline void custom_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	const struct job job = job_drawn(world, number, KIND_CUSTOM);

	job_store(world, &job);
}

static inline void step(struct world *world, enum job_state from, enum job_state to)
{
	struct job_change change = { .job = world->job, .from = from, .to = to };

	change.running_us = to == JOB_RUNNING ? START_NS / 1000 : 0;
	change.ended_us = job_state_is_final(to) ? START_NS / 1000 : 0;
	if (to == JOB_FAILED)
		change.error_message = "it broke";
	assert_int_equal(job_apply(world->bench.store, &change, 1, NULL), STATUS_OK);
	assert_true(change.applied);
}

static inline void fault_prepare(void *arg, unsigned number)
{
	struct world *world = arg;

	(void)number;
	assert_int_equal(fault_insert(world->bench.store, "{\"rule\":1}", false, &world->job, NULL),
			 STATUS_OK);
}

static inline struct fault_hit hit_of(struct world *world, int64_t fault)
{
	return (struct fault_hit){ .job = world->job,
				   .attempt = 1,
				   .stage = 2,
				   .role = 1,
				   .fault = fault,
				   .kind = 3,
				   .line = LITERAL("it breaks") };
}

/* ---- operations ---- */

#define WORLD                                                                                                \
	struct world *world = arg;                                                                           \
	struct store *store = world->bench.store

static inline void job_say(const struct job *job, struct text *said)
{
	text_printf(said, "%d %s %s %s %s;", job->state, job->labels ? job->labels : "-", job->input,
		    job->plan, job->error_message ? job->error_message : "-");
}

/* All pages. */
static inline enum status page_say(struct world *world, const struct resource *resource, const char *filter,
				   struct text *said, struct error *err)
{
	AUTO(string) char *token = NULL;
	enum status rc;

	do {
		struct job_list list AUTO_JOB_LIST = { 0 };

		rc = resource ? resource_list_page(world->bench.store, resource, filter, 2, token, &list, err)
			      : job_list_page(world->bench.store, "demo", filter, 2, token, &list, err);
		for (size_t i = 0; !rc && i < list.count; i++)
			job_say(&list.jobs[i], said);
		free(token);
		token = TAKE(list.next_page_token);
	} while (!rc && token);
	return rc;
}

#define READS(name, prepare, run)                                                                            \
	{                                                                                                    \
		name, prepare, run, state_look, false                                                        \
	}
#define CHANGES(name, prepare, run)                                                                          \
	{                                                                                                    \
		name, prepare, run, state_look, true                                                         \
	}

static inline int world_open(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	return bench_open_at(&world->bench, eye_directory_pattern()) ||
	       eye_open(world->bench.dir, "state.db", &world->eye);
}

static inline int world_close(void **state)
{
	struct world *world = *state;

	sqlite3_close_v2(world->eye);
	bench_end(&world->bench);
	free(world);
	return 0;
}
