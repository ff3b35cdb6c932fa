/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/world_testing.h: everything outside of the scheduler as values: a store of job rows and its clients, an engine with
 * containers and networks, and a clock, all on one thread. The scheduler itself is the real one; its turns are called one by
 * one. Each choice of a history is a number of a list, so that a history can be run again and made shorter.
 *
 * The store keeps what it was told (rows, which output is stored) over a crash of the daemon; the engine keeps containers and
 * networks. Truth about every container is kept for good, and the scheduler's acts are compared with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "scheduler/faults/fault_registry.h"
#include "scheduler/inbox.h"
#include "scheduler/job_run.h"
#include "scheduler/logs/log_pump.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_state.h"
#include "store/jobs/faults.h"
#include "store/jobs/journal.h"
#include "store/jobs/leases.h"
#include "store/jobs/trials.h"
#include "store/logs/logs.h"
#include "tests/unit/scheduler/plan/plan_testing.h"

enum {
	CLIENT_JOBS_MAX = 6,
	TRIALS_MAX = 4, /* of one search */
	JOBS_MAX = CLIENT_JOBS_MAX * (1 + TRIALS_MAX),
	CONTAINERS_MAX = 1024,
	NETWORKS_MAX = 64,
	OPERATIONS_MAX = 512,
	EVENTS_MAX = 1024,
	BARRIERS_MAX = 512,
	CHOICES_MAX = 4096,
	JOURNAL_MAX = 128,
	INJECTIONS_MAX = 64,
	LEASES_MAX = 64,
	DEVICES = 2,
};

/* How a container ended in truth. */
enum truth { LIVES, BY_ITSELF, BY_OUR_STOP, KILLED_OUTSIDE, WITH_THE_ENGINE, SNATCHED, REMOVED_BY_US };

struct container {
	struct replica_status status;
	int64_t network;
	bool exists, started, followed, logs_ended, logs_stored;
	enum truth truth;
};

struct operation {
	enum verb {
		NO_VERB,
		ENSURE_IMAGE,
		LOOK,
		CLAIM,
		CREATE_NETWORK,
		REMOVE_NETWORK,
		CREATE,
		START,
		STOP,
		REMOVE,
	} verb;
	struct replica_key key;
	int64_t network;
	int64_t joins; /* CREATE: the container's network */
	unsigned order; /* CLAIM: its number */
	char image[16];
	unsigned number; /* in the order in which all were asked for */
	bool answered;   /* its answer is on its way */
};

static const char *const verb_names[] = {
	"-",      "fetch", "look for networks", "claim GPUs", "make a network", "remove a network",
	"create", "start", "stop",              "remove"
};

/* An event on its way. Those of the stream come in their order; answers overtake. */
struct pending_event {
	struct engine_event event;
	struct replica_status replica;
	struct network_status network;
	char image[16];
	bool streamed;
	struct operation *of; /* the operation that it answers; NULL: none */
};

struct client_job {
	struct job row; /* texts are on the heap */
	struct journal_row journal[JOURNAL_MAX];
	size_t journal_count;
	struct fault_injection injections[INJECTIONS_MAX]; /* without lines */
	size_t injection_count;
	unsigned gpus;                /* of its master */
	int64_t running_us, waits_us; /* its limits; 0: none */
	unsigned engine_lines;        /* of its log that tell that the engine is waited for */
	unsigned workers;
	/* Of a search: */
	bool searches, stops_early, exhausted; /* exhausted: a suggestion had fewer trials than were asked for */
	unsigned trial_limit, parallel, failed_limit;
	int64_t trial_running_us;
	struct stored_trial trials[TRIALS_MAX];
	size_t trial_count;
	/* Of a trial's: */
	unsigned reports, reports_stored;
	bool has_directory;

	bool stored, cancelled, troubled; /* troubled: something was done to it that a job need not survive */
};

struct world {
	/* The history. */
	uint16_t choices[CHOICES_MAX];
	size_t choice_count, choice_at;
	uint64_t random; /* 0: choices are read from the list, and are 0 behind its end */
	bool tells;      /* prints what happens */
	char violation[256];

	int64_t mono_us, wall_us;
	bool clock_set; /* the wall clock was set from outside */
	struct clock clock;
	unsigned pooled_network_ms;
	unsigned fault_seed; /* 0: no faults are ordered */

	struct client_job jobs[JOBS_MAX];
	size_t job_count, client_count; /* trials are run by jobs of their own */
	unsigned stores_failing;
	int64_t cancels_when_read; /* the job that a client cancels just before its row is read; 0: none */
	struct lease leases[LEASES_MAX]; /* devices are one of device_names */
	size_t lease_count;

	struct engine engine;
	bool engine_up, list_asked, reported_up, image_refused;
	struct container containers[CONTAINERS_MAX];
	size_t container_count;
	int64_t networks[NETWORKS_MAX];
	size_t network_count;
	struct operation operations[OPERATIONS_MAX];
	size_t operation_count;
	unsigned asked;
	struct pending_event events[EVENTS_MAX];
	size_t event_count;
	struct inbox_event *barriers[BARRIERS_MAX];
	size_t barrier_count;

	struct suggestion *suggestions; /* asked for, the last first */
	void (*suggested)(void *arg, int64_t job);
	void *suggested_arg;

	struct scheduler *scheduler;
	int effects_left; /* until the daemon dies; -1: it does not */
	unsigned effects; /* of the present daemon: calls of the engine and changes of rows */
};

static struct world world;
static char device_0[] = "0", device_1[] = "1";
static char *const device_names[DEVICES] = { device_0, device_1 };

#define TELL(...)                                                                                            \
	do {                                                                                                 \
		if (world.tells) {                                                                           \
			printf("# " __VA_ARGS__);                                                            \
			printf("\n");                                                                        \
		}                                                                                            \
	} while (0)

#define VIOLATE(...)                                                                                         \
	do {                                                                                                 \
		if (!world.violation[0])                                                                     \
			snprintf(world.violation, sizeof(world.violation), __VA_ARGS__);                     \
		TELL("VIOLATION: %s", world.violation);                                                      \
	} while (0)

/* One choice among @count. */
static unsigned choose(unsigned count)
{
	unsigned choice = 0;

	if (world.random) {
		world.random ^= world.random << 13;
		world.random ^= world.random >> 7;
		world.random ^= world.random << 17;
		choice = (unsigned)(world.random >> 20) % count;
		if (world.choice_at < CHOICES_MAX)
			world.choices[world.choice_at] = (uint16_t)choice;
		world.choice_count = world.choice_at + 1 < CHOICES_MAX ? world.choice_at + 1 : CHOICES_MAX;
	} else if (world.choice_at < world.choice_count) {
		choice = world.choices[world.choice_at] % count;
	}
	world.choice_at++;
	return choice;
}

/* Whether the daemon lives to have one effect more on the outside. */
static bool has_effect(void)
{
	world.effects++;
	if (world.effects_left < 0)
		return true;
	if (!world.effects_left)
		return false;
	world.effects_left--;
	return true;
}

static int64_t world_wall_ns(void *arg)
{
	(void)arg;
	return world.wall_us * 1000;
}

static int64_t world_mono_us(void *arg)
{
	(void)arg;
	return world.mono_us;
}

static void time_pass(int64_t us)
{
	world.mono_us += us;
	world.wall_us += us;
}

static struct client_job *client_job(int64_t id)
{
	return id >= 1 && id <= (int64_t)world.job_count ? &world.jobs[id - 1] : NULL;
}

static char *text_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static const char *key_text(const struct replica_key *key)
{
	static char texts[4][64];
	static unsigned next;

	next = (next + 1) % 4;
	snprintf(texts[next], sizeof(texts[next]), "%d/%s-%u attempt %u restart %u", (int)key->job,
		 role_name(key->role), key->index, key->attempt, key->restart);
	return texts[next];
}

static struct container *container_find(const struct replica_key *key)
{
	for (size_t i = world.container_count; i-- > 0;)
		if (replica_keys_equal(&world.containers[i].status.key, key))
			return &world.containers[i];
	return NULL;
}

/* ---- the clients ---- */

static void text_replace(char **place, const char *text)
{
	free(*place);
	*place = text_of(text);
}

/* The plan of a job of theirs; NULL: they have submitted as many as they may. */
static struct plan *client_plan(unsigned workers, unsigned gpus)
{
	char name[16];
	struct plan *plan;

	if (world.client_count == CLIENT_JOBS_MAX)
		return NULL;
	snprintf(name, sizeof(name), "j%zu", world.job_count + 1);
	plan = plan_named("p", name);
	plan->pools[ROLE_MASTER] = (struct pool){ .count = 1, .image = strdup("image:1") };
	if (gpus) {
		plan->pools[ROLE_MASTER].accelerator_type = strdup("NVIDIA_TESLA_K80");
		plan->pools[ROLE_MASTER].accelerator_count = gpus;
	}
	plan->pools[ROLE_WORKER] = (struct pool){ .count = workers, .image = strdup("image:2") };
	return plan;
}

static struct client_job *client_add(const struct plan *plan)
{
	struct client_job *job = &world.jobs[world.job_count++];

	world.client_count++;
	*job = (struct client_job){
		.workers = plan->pools[ROLE_WORKER].count,
		.gpus = plan->pools[ROLE_MASTER].accelerator_count,
		.running_us = plan->max_running_us,
		.waits_us = plan->max_wait_us,
		.row = { .id = (int64_t)world.job_count,
			 .project = strdup(plan->project),
			 .job_id = strdup(plan->job_id),
			 .state = JOB_QUEUED,
			 .created_us = world.wall_us,
			 .plan = plan_to_text(plan),
			 .attempt = 1 },
	};
	TELL("client: submits job %zu with %u workers and %u GPUs", world.job_count, job->workers, job->gpus);
	scheduler_wake(world.scheduler, job->row.id);
	return job;
}

static void client_submit(unsigned workers, unsigned gpus, int64_t max_running_us, int64_t max_wait_us)
{
	AUTO(plan) struct plan *plan = client_plan(workers, gpus);

	if (!plan)
		return;
	plan->max_running_us = max_running_us;
	plan->max_wait_us = max_wait_us;
	client_add(plan);
}

static void client_cancel(struct client_job *job)
{
	struct job *row = &job->row;

	if (job_state_is_final(row->state) || (row->outcome && row->outcome != JOB_PREPARING))
		return;
	TELL("client: cancels job %d", (int)row->id);
	job->cancelled = true;
	row->state = JOB_CANCELLING;
	row->outcome = JOB_CANCELLED;
	row->outcome_code = STATUS_CANCELLED;
	text_replace(&row->outcome_message, "Cancelled.");
	scheduler_wake(world.scheduler, row->id);
}
