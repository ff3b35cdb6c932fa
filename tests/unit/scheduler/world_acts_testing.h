/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/world_acts_testing.h: what may happen in world_testing.h: the daemon begins, dies and takes its turns;
 * operations are done or go wrong, events arrive, programs end, and other people touch containers and networks. */
#include "scheduler/job_entry.h"
#include "tests/unit/scheduler/world_engine_testing.h"
#include "tests/unit/testing.h"

static const struct capacity capacity = { .max_jobs = 2,
					  .max_containers = 6,
					  .accelerators = ACCELERATORS_WAIT };

/* ---- the daemon ---- */

static void event_post(const struct engine_event *event)
{
	const struct engine_sink sink = scheduler_sink(world.scheduler, 0);

	sink.event(sink.arg, event);
}

static void up_post(void)
{
	static const struct host host = { .known = true,
					  .cpus = 8,
					  .memory_bytes = (int64_t)64 << 30,
					  .devices = (char **)device_names,
					  .device_count = DEVICES };

	TELL("engine: is up");
	event_post(&(struct engine_event){ .kind = ENGINE_UP, .text = "engine", .host = &host });
	world.reported_up = true;
	world.list_asked = true;
}

static void daemon_start(void)
{
	world.effects_left = -1;
	world.reported_up = false;
	world.scheduler =
		scheduler_new(&(struct scheduler_options){ .clock = &world.clock,
							   .project_number = "42",
							   .stop_grace_s = 1,
							   .retry_pause_ms = 1,
							   .capacity = capacity,
							   .inventory = { .automatic = true },
							   .faults = (struct fault_registry *)&world,
							   .pooled_network_ms = world.pooled_network_ms });
	assert_int_equal(scheduler_resume(world.scheduler, (struct engine *[]){ &world.engine }, NULL),
			 STATUS_OK);
}

/* Drops the daemon's memory and its waiting events. Each operation that it ordered may or may not be carried out. */
static void daemon_die(void)
{
	TELL("daemon: dies");
	scheduler_free(world.scheduler);
	for (size_t i = 0; i < world.barrier_count; i++)
		inbox_event_free(world.barriers[i]);
	world.barrier_count = 0;
	for (size_t i = 0; i < world.operation_count; i++) {
		struct operation *operation = &world.operations[i];

		if (operation->verb != NO_VERB && !operation->answered && choose(2))
			operation_run(operation);
	}
	world.operation_count = world.event_count = 0;
	for (size_t i = 0; i < world.container_count; i++)
		world.containers[i].followed = world.containers[i].logs_ended = false;
}

static void daemon_restart(void)
{
	daemon_die();
	daemon_start();
}

static int64_t turn(void)
{
	int64_t deadline_us = scheduler_turn(world.scheduler);

	if (world.effects_left == 0) {
		daemon_restart();
		return world.mono_us;
	}
	return deadline_us;
}

/* Deciding again about a job without new events must change nothing: everything due was already done. */
static void idle_check(void)
{
	const unsigned effects = world.effects;

	if (world.scheduler->first) /* the pass itself has cancelled jobs of trials, which the next pass handles */
		return;
	TELL("looks at all jobs");
	for (size_t i = 0; i < world.scheduler->entry_count; i++)
		if (!world.scheduler->entries[i]->queued) /* this would make the scheduler look at the whole queue */
			job_entry_touch(world.scheduler->entries[i]);
	scheduler_turn(world.scheduler);
	if (world.effects != effects)
		VIOLATE("a job was not looked at when it had to be");
}

/* ---- what happens to it ---- */

static void event_take(size_t at)
{
	struct pending_event pending = world.events[at];

	memmove(&world.events[at], &world.events[at + 1],
		(--world.event_count - at) * sizeof(world.events[0]));
	if (pending.of)
		pending.of->verb = NO_VERB;
	pending.event.replicas = pending.event.replica_count ? &pending.replica : NULL;
	pending.event.networks = pending.event.network_count ? &pending.network : NULL;
	pending.event.image = pending.image[0] ? pending.image : NULL;
	TELL("event %d of %s %s", pending.event.kind,
	     pending.event.replica_count ? key_text(&pending.replica.key) : "-",
	     status_name(pending.event.status));
	event_post(&pending.event);
}

static void event_deliver(void)
{
	size_t at = world.event_count ? choose((unsigned)world.event_count) : 0;

	if (!world.event_count)
		return;
	for (size_t i = 0; i < at && world.events[at].streamed; i++)
		if (world.events[i].streamed)
			at = i;
	event_take(at);
}

static bool listing_post(void)
{
	struct replica_status replicas[CONTAINERS_MAX];
	struct network_status networks[NETWORKS_MAX];
	size_t count = 0;

	if (!world.engine_up || !world.reported_up)
		return false;
	world.list_asked = false;
	for (size_t i = 0; i < world.container_count; i++)
		if (world.containers[i].exists)
			replicas[count++] = world.containers[i].status;
	for (size_t i = 0; i < world.network_count; i++)
		network_fill(world.networks[i], &networks[i]);
	TELL("engine: lists %zu containers, %zu networks", count, world.network_count);
	event_post(&(struct engine_event){ .kind = ENGINE_LISTING,
					   .text = "",
					   .replicas = replicas,
					   .replica_count = count,
					   .networks = networks,
					   .network_count = world.network_count });
	return true;
}

/* The engine carries out the operations of a replica, or of a network, in their order. */
static bool has_older(const struct operation *operation)
{
	for (const struct operation *other = world.operations;
	     other < world.operations + world.operation_count; other++)
		if (other->verb != NO_VERB && other->number < operation->number &&
		    other->network == operation->network &&
		    memcmp(&other->key, &operation->key, sizeof(other->key)) == 0 &&
		    strcmp(other->image, operation->image) == 0)
			return true;
	return false;
}

static struct operation *operation_choose(void)
{
	struct operation *waiting[OPERATIONS_MAX];
	unsigned count = 0;

	for (size_t i = 0; i < world.operation_count; i++)
		if (world.engine_up && world.operations[i].verb != NO_VERB && !world.operations[i].answered &&
		    !has_older(&world.operations[i]))
			waiting[count++] = &world.operations[i];
	return count ? waiting[choose(count)] : NULL;
}

static bool operation_do(void)
{
	struct operation *operation = operation_choose();

	if (operation)
		operation_run(operation);
	return operation;
}

/* Carries the operation out, but loses its answer. */
static void answer_lose(struct operation *operation)
{
	const size_t before = world.event_count;

	operation_run(operation);
	for (size_t i = before; i < world.event_count;)
		if (world.events[i].of == operation)
			memmove(&world.events[i], &world.events[i + 1],
				(--world.event_count - i) * sizeof(world.events[0]));
		else
			i++;
	if (operation->answered)
		operation_fail(operation, STATUS_UNAVAILABLE);
}

static void operation_go_wrong(void)
{
	static const enum status statuses[] = { STATUS_UNAVAILABLE, STATUS_INTERNAL,
						STATUS_INVALID_ARGUMENT };
	struct operation *operation = operation_choose();
	const unsigned choice = choose(4);

	if (!operation)
		return;
	if (choice == 3)
		answer_lose(operation);
	else
		operation_fail(operation, statuses[choice]);
}

static void barrier_pass(void)
{
	struct inbox_event *inbox_event;
	size_t at;

	if (!world.barrier_count)
		return;
	at = choose((unsigned)world.barrier_count);
	inbox_event = world.barriers[at];
	world.barriers[at] = world.barriers[--world.barrier_count];
	if (inbox_event->kind == INBOX_LOGS_STORED && container_find(&inbox_event->key))
		container_find(&inbox_event->key)->logs_stored = true;
	inbox_event_deliver(inbox_event);
}

static struct container *container_choose(bool running)
{
	struct container *some[CONTAINERS_MAX];
	unsigned count = 0;

	for (size_t i = 0; i < world.container_count; i++)
		if (world.containers[i].exists && (!running || runs(&world.containers[i])))
			some[count++] = &world.containers[i];
	return count ? some[choose(count)] : NULL;
}

static void program_end(void)
{
	static const int codes[] = { 0, 0, 0, 1, 134, 137, 143, 2 };
	struct container *container = container_choose(true);

	if (container && !container->status.paused)
		container_end(container, BY_ITSELF, codes[choose(8)], true);
}

static void trial_report(void)
{
	struct container *container = container_choose(true);
	struct client_job *job = container ? client_job(container->status.key.job) : NULL;

	if (!job || !job->row.parent || container->status.key.role != ROLE_MASTER)
		return;
	job->reports += 1 + choose(3);
	TELL("job %d has reported %u times", (int)job->row.id, job->reports);
}

static void container_pause(struct container *container, bool paused)
{
	TELL("somebody %s %s", paused ? "pauses" : "unpauses", key_text(&container->status.key));
	container->status.paused = paused;
	if (world.engine_up)
		replica_event(ENGINE_REPLICA_PAUSED, &container->status, NULL);
}

static void outside_pause(void)
{
	struct container *container = container_choose(true);

	if (container)
		container_pause(container, !container->status.paused);
}

static void clock_step(void)
{
	static const int64_t steps_us[] = { -3600000000, -60000000, -5000000, 90000000, 3600000000 };
	const int64_t step_us = steps_us[choose(5)];

	TELL("somebody puts the clock %d s forward", (int)(step_us / 1000000));
	world.wall_us += step_us;
	world.clock_set = true;
}

static void outside_kill(void)
{
	struct container *container = container_choose(true);

	if (!container)
		return;
	client_job(container->status.key.job)->troubled = true;
	container_end(container, KILLED_OUTSIDE, choose(2) ? 137 : 143, true);
}

static void outside_snatch(void)
{
	struct container *container = container_choose(false);

	if (!container)
		return;
	TELL("somebody removes %s", key_text(&container->status.key));
	client_job(container->status.key.job)->troubled = true;
	if (runs(container))
		container_end(container, SNATCHED, 137, true);
	container_drop(container, SNATCHED);
}

static void outside_network_remove(void)
{
	unsigned at;

	if (!world.network_count)
		return;
	at = choose((unsigned)world.network_count);
	for (size_t i = 0; i < world.container_count; i++)
		if (runs(&world.containers[i]) && world.containers[i].network == world.networks[at])
			return;
	TELL("somebody removes network %d", (int)world.networks[at]);
	/* The network may be used by another job than the one for which it was made. */
	for (size_t i = 0; i < world.job_count; i++)
		if (world.pooled_network_ms || world.jobs[i].row.id == world.networks[at])
			world.jobs[i].troubled = true;
	world.networks[at] = world.networks[--world.network_count];
}

/* What was under way is done, or is not: nobody is told. */
static void engine_go(bool dies)
{
	if (!world.engine_up)
		return;
	TELL("engine: %s", dies ? "dies" : "is out of reach");
	for (size_t i = 0; i < world.operation_count; i++) {
		struct operation *operation = &world.operations[i];

		if (operation->verb != NO_VERB && !operation->answered && choose(2))
			operation_run(operation);
	}
	world.engine_up = false;
	for (size_t i = 0; i < world.container_count; i++)
		if (dies && runs(&world.containers[i])) {
			container_end(&world.containers[i], WITH_THE_ENGINE, choose(2) ? 137 : 255, false);
			client_job(world.containers[i].status.key.job)->troubled = true;
		}
	for (size_t i = 0; i < world.event_count; i++) {
		struct container *followed = container_find(&world.events[i].replica.key);

		if (world.events[i].event.kind == ENGINE_LOGS_ENDED && followed)
			followed->logs_ended = false; /* the reading goes on when the engine is back */
	}
	world.event_count = 0;
	/* A container that waits to be made may be made when the engine is back. */
	for (size_t i = 0; i < world.operation_count; i++)
		if (world.operations[i].verb != NO_VERB &&
		    (world.operations[i].verb != CREATE || world.operations[i].answered || choose(2)))
			operation_fail(&world.operations[i], STATUS_UNAVAILABLE);
	while (world.event_count && choose(2))
		event_take(0);
	if (world.reported_up)
		event_post(&(struct engine_event){ .kind = ENGINE_DOWN, .text = "no answer" });
	world.reported_up = false;
	while (world.event_count)
		event_take(0);
	if (choose(3) == 1)
		clock_step();
}

/* Followers are told anew of what ended meanwhile. */
static void engine_come(void)
{
	world.engine_up = true;
	if (!world.reported_up)
		up_post();
	for (size_t i = 0; i < world.container_count; i++)
		output_end(&world.containers[i]);
}
