/* SPDX-License-Identifier: Apache-2.0 */
/* A table for scheduler/admission.h: the input is the queue, the resources and the networks; the output is which jobs
 * are admitted and what is logged for the others. */
#include "scheduler/admission.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/decision.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/network_pool.h"
#include "scheduler/observe_networks.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/reconciler.h"
#include "tests/unit/scheduler/plan/plan_testing.h"
#include "tests/unit/testing.h"

#define S INT64_C(1000000)

/* A waiting job, at second 100. */
struct waiting {
	unsigned replicas;   /* 0: the job does not exist */
	unsigned gpus;       /* GPUs of each replica */
	const char *project; /* @project: NULL: "p" */
	bool stale, rests;
	enum shortage logged; /* what was logged 90 s ago, unless NONE */
};

struct row {
	const char *what;
	struct waiting queue[4];
	unsigned max_jobs, project_vcpus; /* limits; 0: 32 jobs, any number of vCPUs */
	unsigned devices;
	enum accelerator_policy accelerators;
	bool unknown;         /* the host's resources are unknown */
	unsigned free;        /* free address blocks, for networks of 8 replicas */
	bool asked, short_of; /* the engine was asked for blocks; an admitted job waits for one */
	unsigned pooled[2];   /* capacities of the pooled networks 71 and 72 */
	int64_t host_s;
	const char *decided;
};

static const struct row rows[] = {
	{ "empty", .free = 9, .decided = "" },
	{ "room for all", { { 1 }, { 2 }, { 3 } }, .free = 9, .decided = "1 in; 2 in; 3 in;" },
	/* Fails with: walk.free_blocks that is not counted down: the third had no network, and could not go back. */
	{ "two blocks", { { 1 }, { 2 }, { 3 } }, .free = 2, .decided = "1 in; 2 in; look for 3;" },
	{ "no block", { { 1 }, { 2 } }, .decided = "look for 1;" },
	{ "asked for blocks", { { 1 }, { 2 } }, .free = 9, .asked = true, .decided = "" },
	{ "too large for the free blocks", { { 9 }, { 1 } }, .free = 9, .decided = "look for 9;" },
	{ "pooled networks",
	  { { 2 }, { 1 }, { 1 } },
	  .pooled = { 4, 3 },
	  .decided = "1 in on 72; 2 in on 71; look for 1;" },
	{ "a job waits for its network",
	  { { 1 }, { 1 }, { 1 } },
	  .free = 9,
	  .short_of = true,
	  .decided = "1 in; 2 waits for 0; 3 waits for 0;" },
	/* Fails with: room_use() without plan_usage_add(): all were let in at once. */
	{ "room for one",
	  { { 1 }, { 1 }, { 1 } },
	  .max_jobs = 1,
	  .free = 9,
	  .decided = "1 in; 2 waits for 1; 3 waits for 0;" },
	{ "told already",
	  { { 1 }, { 1, .logged = SHORTAGE_ROOM } },
	  .max_jobs = 1,
	  .free = 9,
	  .decided = "1 in;" },
	{ "told something else",
	  { { 1 }, { 1, .logged = SHORTAGE_ENGINE } },
	  .max_jobs = 1,
	  .free = 9,
	  .decided = "1 in; 2 waits for 1;" },
	{ "the first rests", { { 1, .rests = true }, { 1 } }, .free = 9, .decided = "2 waits for 0;" },
	{ "the second is being stored",
	  { { 1 }, { 1, .stale = true }, { 1 } },
	  .free = 9,
	  .decided = "1 in; 3 waits for 0;" },
	/* Fails with: room_use() without the leases: both got the only device. */
	{ "one device",
	  { { 1, 1 }, { 1, 1 }, { 1 } },
	  .devices = 1,
	  .accelerators = ACCELERATORS_REQUIRE,
	  .free = 9,
	  .decided = "1 in with 0; 2 waits for 2; 3 in;" },
	{ "two devices",
	  { { 1, 1 }, { 1, 1 }, { 1, 1 } },
	  .devices = 2,
	  .accelerators = ACCELERATORS_REQUIRE,
	  .free = 9,
	  .decided = "1 in with 0; 2 in with 1; 3 waits for 2;" },
	{ "more devices than there are",
	  { { 1, 2 }, { 1 } },
	  .devices = 1,
	  .accelerators = ACCELERATORS_REQUIRE,
	  .free = 9,
	  .decided = "1 fails; 2 in;" },
	{ "waits for another host",
	  { { 1, 2 }, { 1 } },
	  .devices = 1,
	  .accelerators = ACCELERATORS_WAIT,
	  .free = 9,
	  .decided = "1 waits for 4; 2 in;" },
	{ "the host is another",
	  { { 1, 2, .logged = SHORTAGE_HOST }, { 1 } },
	  .devices = 2,
	  .host_s = 50,
	  .accelerators = ACCELERATORS_WAIT,
	  .free = 9,
	  .decided = "1 in with 0,1; 2 in;" },
	{ "the host is the same",
	  { { 1, 2, .logged = SHORTAGE_HOST }, { 1 } },
	  .devices = 2,
	  .host_s = 5,
	  .accelerators = ACCELERATORS_WAIT,
	  .free = 9,
	  .decided = "2 in;" },
	{ "the host is not known",
	  { { 1 }, { 1 } },
	  .unknown = true,
	  .free = 9,
	  .decided = "1 waits for 5; 2 waits for 0;" },
	/* Fails with: taken_vcpus() without those that are let in: the project got twice what it may have. */
	{ "a project's quota",
	  { { 1 }, { 1 }, { 1, .project = "q" } },
	  .project_vcpus = 4,
	  .free = 9,
	  .decided = "1 in; 2 waits for 3; 3 in;" },
};

static char *ids[] = { (char *)"0", (char *)"1", (char *)"2", (char *)"3" };

static struct job_run *run_new(int64_t id, const struct waiting *waiting)
{
	struct job *row = calloc(1, sizeof(*row));
	struct job_run *run;

	*row = (struct job){ .id = id,
			     .state = JOB_QUEUED,
			     .attempt = 1,
			     .project = strdup(waiting->project ? waiting->project : "p"),
			     .job_id = strdup("j") };
	run = job_run_new(row);
	run->plan = plan_named(row->project, "j");
	run->plan->pools[ROLE_MASTER] =
		(struct pool){ .count = waiting->replicas,
			       .image = strdup("image:1"),
			       .machine_type = strdup("n1-standard-4"),
			       .accelerator_count = waiting->gpus,
			       .accelerator_type = waiting->gpus ? strdup("NVIDIA_TESLA_T4") : NULL };
	run->replica_count = 0; /* replicas have no effect here */
	run->stale = waiting->stale;
	run->hold_until_us = waiting->rests ? 101 * S : 0;
	return run;
}

/* What the queue knows of the job. */
static struct job_entry entry_of(struct job_run *run, const struct waiting *waiting)
{
	struct job_entry entry = { .id = run->row->id,
				   .run = run,
				   .accelerators = plan_accelerator_count(run->plan),
				   .project = run->row->project,
				   .logged_wait = waiting->logged };

	entry.logged_wait_us[waiting->logged] = waiting->logged ? 10 * S : 0;
	return entry;
}

/* Every second job is only in the store until it is read. */
static struct job_run *stored[4];

static struct job_run *entry_open(void *arg, struct job_entry *entry)
{
	(void)arg;
	entry->run = stored[entry->id - 1];
	return entry->run;
}

static void decision_write(struct text *text, const struct decision *decision)
{
	const struct assignment *assignment = decision->assignment;

	text_printf(text, "%d", (int)decision->run->row->id);
	if (decision->logged_wait_us)
		text_printf(text, " waits for %d", (int)decision->logged_wait);
	if (decision->change.decides)
		text_printf(text, " %s", decision->change.outcome == JOB_FAILED ? "fails" : "?");
	if (assignment)
		text_puts(text, " in");
	if (assignment && assignment->network)
		text_printf(text, " on %d", (int)assignment->network);
	for (size_t i = 0; i < decision->lease_count; i++)
		text_printf(text, "%s%s", i ? "," : " with ", decision->leases[i].device);
	text_puts(text, "; ");
}

static char *admission_text(const struct admission *admission)
{
	struct text text AUTO_TEXT = { 0 };

	for (size_t i = 0; i < admission->count; i++)
		decision_write(&text, &admission->decisions[i]);
	if (*admission->look_for)
		text_printf(&text, "look for %u; ", *admission->look_for);
	text_puts(&text, "");
	if (text.length)
		text.data[--text.length] = '\0';
	return text_take(&text);
}

static bool row_holds(const struct row *row)
{
	const struct reconciler reconciler = { 0 };
	const struct room room = { .capacity = { .host = { .known = !row->unknown,
							   .cpus = 64,
							   .memory_bytes = (int64_t)256 << 30,
							   .devices = ids,
							   .device_count = row->devices },
						 .accelerators = row->accelerators,
						 .max_jobs = row->max_jobs ? row->max_jobs : 32,
						 .max_containers = 64,
						 .project_vcpus = row->project_vcpus } };
	const struct network_look look = {
		.asked = row->asked, .replicas = 8, .free = row->free, .until_us = 101 * S
	};
	struct network_pool pool = { 0 };
	struct job_entry entries[4], *queue[4];
	const struct node_view node = {
		.name = "main", .room = &room, .pool = &pool, .look = &look, .networks_short = row->short_of
	};
	struct queue_view view = { .open = entry_open,
				   .reconciler = &reconciler,
				   .queue = queue,
				   .nodes = &node,
				   .node_count = 1,
				   .host_us = row->host_s * S,
				   .wall_us = 5000 * S,
				   .mono_us = 100 * S };
	struct admission admission;
	AUTO(string) char *decided = NULL;

	for (; pool.count < 2 && row->pooled[pool.count]; pool.count++)
		pool.items[pool.count].status =
			(struct network_status){ .job = 71 + (int64_t)pool.count,
						 .capacity = row->pooled[pool.count] };
	for (; view.count < 4 && row->queue[view.count].replicas; view.count++) {
		struct job_run *run = run_new((int64_t)view.count + 1, &row->queue[view.count]);

		run->replica_count = row->queue[view.count].replicas;
		entries[view.count] = entry_of(run, &row->queue[view.count]);
		run->entry = queue[view.count] = &entries[view.count];
		stored[view.count] = run;
		if (view.count % 2 && !run->stale && !run->hold_until_us)
			queue[view.count]->run = NULL;
	}
	admission = admission_decide(&view);
	decided = admission_text(&admission);
	for (size_t i = 0; i < admission.count; i++)
		decision_deinit(&admission.decisions[i]);
	admission_deinit(&admission);
	for (size_t i = 0; i < view.count; i++) {
		assert_null(stored[i]->assignment);
		assert_int_equal(stored[i]->notes.count, 0);
		stored[i]->replica_count = 0;
		job_run_free(stored[i]);
	}
	if (strcmp(decided, row->decided) != 0)
		print_error("%s: \"%s\", not \"%s\"\n", row->what, decided, row->decided);
	return strcmp(decided, row->decided) == 0;
}

static void who_is_let_in_follows_from_the_queue_and_the_room(void **state)
{
	bool hold = true;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		hold = row_holds(&rows[i]) && hold;
	assert_true(hold);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_let_in_follows_from_the_queue_and_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
