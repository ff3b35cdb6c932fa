/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/queue.h"

#include <string.h>

#include "scheduler/admission.h"
#include "scheduler/decision.h"
#include "scheduler/job_run.h"
#include "scheduler/network_sight.h"
#include "scheduler/scheduler_state.h"

/* Choice: the trials that a tuning job begins with hold its place in the queue. Each later one queues behind whatever
 * came before it was suggested, so a search of a thousand trials keeps others waiting no longer than for those that it
 * may have under way at once. */
static int64_t place_of(const struct job_run *run)
{
	const struct job *row = run->row;

	return row->parent && row->trial <= run->plan->parallel_trial_count ? row->parent : row->id;
}

/* Higher priority first, then who came first. */
static bool goes_before(const struct job_run *a, const struct job_run *b)
{
	if (a->row->priority != b->row->priority)
		return a->row->priority > b->row->priority;
	if (place_of(a) != place_of(b))
		return place_of(a) < place_of(b);
	return a->row->id < b->row->id;
}

static size_t find_place(const struct scheduler *scheduler, const struct job_run *run)
{
	size_t low = 0, high = scheduler->queue_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (goes_before(scheduler->queue[middle], run))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void queue_insert(struct scheduler *scheduler, struct job_run *run)
{
	size_t at = find_place(scheduler, run);

	memmove(&scheduler->queue[at + 1], &scheduler->queue[at],
		(scheduler->queue_count - at) * sizeof(struct job_run *));
	scheduler->queue[at] = run;
	scheduler->queue_count++;
	if (scheduler->queue_told > at)
		scheduler->queue_told = at;
	run->queued = true;
}

void queue_leave(struct scheduler *scheduler, struct job_run *run)
{
	size_t at = find_place(scheduler, run);

	if (!run->queued)
		return;
	memmove(&scheduler->queue[at], &scheduler->queue[at + 1],
		(scheduler->queue_count - at - 1) * sizeof(struct job_run *));
	scheduler->queue_count--;
	scheduler->queue_told -= scheduler->queue_told > at;
	run->queued = false;
	scheduler->queue_stirred = true; /* others may have waited for it alone */
}

void queue_update(struct scheduler *scheduler, struct job_run *run)
{
	/* A tuning job needs no room of its own: its trials wait for theirs. */
	bool waits = run->row->state == JOB_QUEUED && run->row->verdict == JOB_STATE_UNSPECIFIED &&
		     !plan_tunes(run->plan);

	if (waits && !run->queued)
		queue_insert(scheduler, run);
	else if (!waits)
		queue_leave(scheduler, run);
}

void queue_reconsider(struct scheduler *scheduler)
{
	scheduler->host_us = clock_mono_us(scheduler->reconciler.clock);
	scheduler->queue_stirred = true;
}

static void admission_execute(struct scheduler *scheduler, struct admission *admission)
{
	for (size_t i = 0; i < admission->count; i++)
		decisions_add(scheduler, admission->decisions[i].run, &admission->decisions[i]);
	scheduler->queue_told = admission->told;
	if (admission->look_for)
		network_look(scheduler, admission->look_for);
	admission_deinit(admission);
	decisions_execute(scheduler);
}

void queue_serve(struct scheduler *scheduler, int64_t now_us)
{
	struct queue_view view;
	struct admission admission;

	networks_settle(scheduler);
	if (scheduler->network_look.again_us && scheduler->network_look.again_us <= now_us) {
		scheduler->network_look.again_us = 0;
		scheduler->queue_stirred = true;
	}
	if (!scheduler->queue_stirred || !scheduler->engine_listed)
		return;
	scheduler->queue_stirred = false;
	view = (struct queue_view){ .reconciler = &scheduler->reconciler,
				    .queue = scheduler->queue,
				    .count = scheduler->queue_count,
				    .told = scheduler->queue_told,
				    .room = &scheduler->room,
				    .project_vcpus = scheduler->project_vcpus,
				    .spares = &scheduler->spares,
				    .look = &scheduler->network_look,
				    .networks_short = scheduler->network_lack[0],
				    .host_us = scheduler->host_us,
				    .wall_us = clock_wall_us(scheduler->reconciler.clock),
				    .mono_us = now_us };
	admission = admission_decide(&view);
	admission_execute(scheduler, &admission);
}
