/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/queue.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/admission.h"
#include "scheduler/decision.h"
#include "scheduler/device_claims.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/jobs.h"
#include "scheduler/observe_devices.h"
#include "scheduler/observe_networks.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"

/* Whether @a goes before @b: the one with the higher priority, else the earlier one. */
static bool goes_before(const struct job_entry *a, const struct job_entry *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->place != b->place)
		return a->place < b->place;
	return a->id < b->id;
}

static size_t find_place(const struct scheduler *scheduler, const struct job_entry *entry)
{
	size_t low = 0, high = scheduler->queue_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (goes_before(scheduler->queue[middle], entry))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void queue_opened(struct scheduler *scheduler, const struct job_entry *entry)
{
	if (scheduler->opened_count == scheduler->opened_size) {
		scheduler->opened_size = scheduler->opened_size * 2 + 16;
		scheduler->opened = memory_resize(scheduler->opened, scheduler->opened_size, sizeof(int64_t));
	}
	scheduler->opened[scheduler->opened_count++] = entry->id;
}

void queue_insert(struct scheduler *scheduler, struct job_entry *entry)
{
	size_t at = find_place(scheduler, entry);

	memmove(&scheduler->queue[at + 1], &scheduler->queue[at],
		(scheduler->queue_count - at) * sizeof(struct job_entry *));
	scheduler->queue[at] = entry;
	scheduler->queue_count++;
	if (scheduler->queue_logged > at)
		scheduler->queue_logged = at;
	entry->queued = true;
	queue_opened(scheduler, entry);
}

void queue_leave(struct scheduler *scheduler, struct job_run *run)
{
	struct job_entry *entry = run->entry;
	size_t at = find_place(scheduler, entry);

	if (!entry->queued)
		return;
	memmove(&scheduler->queue[at], &scheduler->queue[at + 1],
		(scheduler->queue_count - at - 1) * sizeof(struct job_entry *));
	scheduler->queue_count--;
	scheduler->queue_logged -= scheduler->queue_logged > at;
	entry->queued = false;
	scheduler->queue_stirred = true; /* other jobs may have waited for this one alone */
}

void queue_update(struct scheduler *scheduler, struct job_run *run)
{
	/* A tuning job needs no room of its own: its trials wait for theirs. */
	bool waits = job_run_waits(run) && run->row->outcome == JOB_STATE_UNSPECIFIED;

	if (waits && !run->entry->queued)
		queue_insert(scheduler, run->entry);
	else if (!waits)
		queue_leave(scheduler, run);
}

void queue_reconsider(struct scheduler *scheduler)
{
	scheduler->host_us = clock_mono_us(scheduler->reconciler.clock);
	scheduler->queue_stirred = true;
}

static struct job_run *entry_open(void *arg, struct job_entry *entry)
{
	return jobs_open(arg, entry) ? entry->run : NULL;
}

static enum claim device_claim(void *arg, size_t node, const char *device)
{
	const struct scheduler *scheduler = arg;

	return device_claims_take(scheduler->nodes[node].claims, device);
}

static void admission_execute(struct scheduler *scheduler, struct admission *admission)
{
	for (size_t i = 0; i < admission->count; i++)
		decisions_add(scheduler, admission->decisions[i].run, &admission->decisions[i]);
	scheduler->queue_logged = admission->logged;
	for (size_t i = 0; i < scheduler->node_count; i++)
		if (admission->look_for[i])
			network_look(&scheduler->nodes[i], admission->look_for[i]);
	if (admission->claims_short)
		devices_await(scheduler);
	admission_deinit(admission);
	decisions_execute(scheduler);
	room_claims_keep(scheduler); /* keeps the claims of admitted jobs */
}

static bool any_is_listed(const struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->node_count; i++)
		if (scheduler->nodes[i].state == ENGINE_LISTED)
			return true;
	return false;
}

/* Whether a node that has sent no listing since the start may still do so in time. */
static bool awaits_nodes(struct scheduler *scheduler, int64_t now_us)
{
	if (scheduler->hear_until_us <= now_us)
		scheduler->hear_until_us = 0;
	for (size_t i = 0; scheduler->hear_until_us && i < scheduler->node_count; i++)
		if (scheduler->nodes[i].state == ENGINE_UNKNOWN ||
		    scheduler->nodes[i].state == ENGINE_ANSWERS)
			return true;
	return false;
}

/* Returns a copy of the nodes' states for readers; the caller frees it. */
static struct node_view *nodes_view(const struct scheduler *scheduler)
{
	struct node_view *views = memory_calloc(scheduler->node_count, sizeof(*views));

	for (size_t i = 0; i < scheduler->node_count; i++) {
		const struct node *node = &scheduler->nodes[i];

		views[i] = (struct node_view){
			.name = node->name,
			.room = &node->room,
			.pool = &node->pool,
			.look = &node->look,
			.networks_short = node->network_lack[0],
			.engine_lack = node->state == ENGINE_LISTED ? NULL : node->text,
			.claims_lack = device_claims_failure(node->claims),
		};
	}
	return views;
}

void queue_serve(struct scheduler *scheduler, int64_t now_us)
{
	struct node_view *nodes;
	struct queue_view view;
	struct admission admission;

	for (struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count; node++) {
		networks_resolve(node);
		if (node->look.again_us && node->look.again_us <= now_us) {
			node->look.again_us = 0;
			scheduler->queue_stirred = true;
		}
	}
	devices_retry(scheduler, now_us);
	if (awaits_nodes(scheduler, now_us) || !scheduler->queue_stirred || !any_is_listed(scheduler))
		return;
	scheduler->queue_stirred = false;
	for (struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count; node++)
		device_claims_begin_walk(node->claims);
	nodes = nodes_view(scheduler);
	view = (struct queue_view){ .open = entry_open,
				    .claim = device_claim,
				    .arg = scheduler,
				    .reconciler = &scheduler->reconciler,
				    .queue = scheduler->queue,
				    .count = scheduler->queue_count,
				    .logged = scheduler->queue_logged,
				    .nodes = nodes,
				    .node_count = scheduler->node_count,
				    .span = scheduler->nodes_span,
				    .project_vcpus = scheduler->project_vcpus,
				    .host_us = scheduler->host_us,
				    .wall_us = clock_wall_us(scheduler->reconciler.clock),
				    .mono_us = now_us };
	admission = admission_decide(&view);
	free(nodes);
	admission_execute(scheduler, &admission);
}
