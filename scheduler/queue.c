/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/decision.h"
#include "scheduler/faults/faults.h"
#include "scheduler/job_run.h"
#include "scheduler/network_sight.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/difference.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/told_differences.h"
#include "store/logs/logs.h"

enum {
	RETRY_AFTER_US = 1000000, /* when its place could not be found */
	TELL_AGAIN_US = 60000000, /* what a job has been waiting for before is told no sooner */
	TELLINGS_AT_ONCE = 64,    /* jobs that a walk tells why they wait; the next walk tells more */
};

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
	for (size_t i = 0; i < scheduler->queue_count; i++)
		scheduler->queue[i]->lacks_host = false;
	scheduler->queue_stirred = true;
}

void queue_retract(struct scheduler *scheduler, struct job_run *run)
{
	room_return(scheduler, run);
	spare_network_return(&scheduler->spares, scheduler->reconciler.engine, run,
			     clock_mono_us(scheduler->reconciler.clock));
	assignment_free(run->assignment);
	run->assignment = NULL;
}

/* One walk along the queue. */
struct walk {
	struct scheduler *scheduler;
	int64_t now_us;
	bool closed;        /* nobody else is let in */
	bool looks;         /* it goes on in a moment, when the engine has told of free networks */
	bool devices_short; /* nobody who wants GPUs */
	json_t *projects;   /* nobody of these: an object with their names; NULL: none */
	unsigned told;      /* why they wait */
};

/* The log says why the job waits when it begins to, and when that changes. */
static void wait_tell(struct walk *walk, struct job_run *run, enum shortage shortage, const char *text)
{
	static const char *const words[SHORTAGE_KINDS] = {
		[SHORTAGE_NONE] = "its turn",
		[SHORTAGE_ROOM] = "room on this machine",
		[SHORTAGE_DEVICES] = "GPUs",
		[SHORTAGE_PROJECT] = "the project's quota",
		[SHORTAGE_HOST] = "GPUs that this machine does not have",
		[SHORTAGE_ENGINE] = "the container engine",
		[SHORTAGE_NETWORK] = "a network",
	};
	int64_t *told_us = &run->told_wait_us[shortage];

	if ((*told_us && (run->told_wait == shortage || walk->now_us - *told_us < TELL_AGAIN_US)) ||
	    walk->told == TELLINGS_AT_ONCE)
		return;
	notes_say(&run->notes, SEVERITY_INFO, "The job is queued: it waits for %s. %s", words[shortage],
		  text ? text : "");
	job_run_touch(run);
	walk->told++;
	run->told_wait = shortage;
	*told_us = walk->now_us;
}

static bool was_told(const struct job_run *run)
{
	return run->told_wait_us[run->told_wait];
}

/* It was not looked at, as none may overtake those before it. What it would lack itself is told when it is. */
static void turn_tell(struct walk *walk, struct job_run *run, size_t before)
{
	char text[64];

	if (was_told(run) || !before)
		return;
	snprintf(text, sizeof(text), before == 1 ? "%zu job is before it." : "%zu jobs are before it.",
		 before);
	wait_tell(walk, run, SHORTAGE_NONE, text);
}

static bool is_passed_over(struct walk *walk, struct job_run *run)
{
	if (run->lacks_host || faults_hold(run, walk->now_us))
		return true;
	if (walk->devices_short && placement_wants_devices(run->plan, &walk->scheduler->room.capacity)) {
		wait_tell(walk, run, SHORTAGE_DEVICES, "Jobs before it wait for GPUs, too.");
		return true;
	}
	if (json_object_get(walk->projects, run->row->project)) {
		wait_tell(walk, run, SHORTAGE_PROJECT, "Jobs of the project before it wait for it, too.");
		return true;
	}
	return false;
}

static void note_shortage(struct walk *walk, struct job_run *run, enum shortage shortage)
{
	switch (shortage) {
	case SHORTAGE_NONE:
	case SHORTAGE_ROOM:
	case SHORTAGE_ENGINE:
	case SHORTAGE_NETWORK:
		walk->closed = true;
		break;
	case SHORTAGE_DEVICES:
		walk->devices_short = true;
		break;
	case SHORTAGE_PROJECT:
		if (!walk->projects)
			walk->projects = json_object();
		json_object_set_new_nocheck(walk->projects, run->row->project, json_true());
		break;
	case SHORTAGE_HOST:
		run->lacks_host = true;
		break;
	}
}

static void put_off(struct walk *walk, struct job_run *run, const struct error *err)
{
	log_event(LOG_ERROR, "job-unplaced", "job=%s error=\"%s\"", run->row->job_id,
		  err->text ? err->text : "");
	job_run_hold(run, walk->now_us + RETRY_AFTER_US);
	job_run_touch(run);
	walk->closed = true;
}

/* What holds for every job of this daemon. */
static void surroundings_tell(const struct reconciler *reconciler, json_t *differences)
{
	if (reconciler->adc)
		difference_add(
			differences, DONE_OTHERWISE, "adc-given", NULL,
			"The replicas are given the developer's own credentials (--adc), not those of the "
			"job's service account.");
	if (reconciler->cut_off)
		difference_add(differences, DONE_OTHERWISE, "cut-off", NULL,
			       "The replicas are cut off from the outside (--egress none).");
}

static void differences_tell(struct decision *decision, const struct job_run *run)
{
	json_t *all = run->assignment->differences;
	AUTO(string) char *line = NULL;

	decision->told = run->told ? differences_untold(run->told, all) : NULL;
	line = differences_line(run->plan->differences, decision->told ? decision->told : all);
	if (line)
		notes_say(&decision->says, SEVERITY_NOTICE, "%s", line);
}

/* With what was assigned to it: from here on the engine may hold something of it. */
static void let_in(struct walk *walk, struct job_run *run)
{
	struct scheduler *scheduler = walk->scheduler;
	struct decision decision = { 0 };

	room_take(scheduler, run);
	room_lease(scheduler, run);
	spare_network_take(&scheduler->spares, run);
	surroundings_tell(&scheduler->reconciler, run->assignment->differences);
	decision_change(&decision, run, JOB_PREPARING);
	decision.assigns = true;
	decision.change.started_us = clock_wall_us(scheduler->reconciler.clock);
	decision.leases = assignment_leases(run->assignment, run->row->id, &decision.lease_count);
	differences_tell(&decision, run);
	notes_say_all(&decision.says, SEVERITY_INFO, dialect_of(run->plan)->admitted);
	decisions_add(scheduler, run, &decision);
	/* Where blocks were short, the next is let in when this one has its network. */
	walk->closed = walk->closed || scheduler->network_lack[0];
}

/* Its fault decides it. */
static void turn_away(struct job_run *run, struct error *err)
{
	free(run->fault);
	run->fault_code = STATUS_RESOURCE_EXHAUSTED;
	run->fault = err->text ? TAKE(err->text) : memory_strdup("The job cannot run on this machine.");
	job_run_touch(run);
}

static void visit(struct walk *walk, struct job_run *run)
{
	struct room room = room_for(walk->scheduler, run->row->project);
	enum shortage shortage = SHORTAGE_NONE;
	struct error err AUTO_ERROR = { 0 };

	switch (placement_find(run->plan, &room, &run->assignment, &shortage, &err)) {
	case STATUS_OK:
		if (network_grant(walk->scheduler, run, walk->now_us)) {
			let_in(walk, run);
			break;
		}
		assignment_free(run->assignment);
		run->assignment = NULL;
		walk->closed = walk->looks = true;
		break;
	case STATUS_RESOURCE_EXHAUSTED:
		if (shortage == SHORTAGE_NETWORK)
			network_look(walk->scheduler, run, walk->now_us);
		wait_tell(walk, run, shortage, err.text);
		note_shortage(walk, run, shortage);
		break;
	case STATUS_FAILED_PRECONDITION:
		turn_away(run, &err);
		break;
	case STATUS_UNAVAILABLE:
		wait_tell(walk, run, SHORTAGE_ENGINE, err.text);
		walk->closed = true;
		break;
	default:
		put_off(walk, run, &err);
		break;
	}
}

/* Those behind are not visited. Most have been told before, and these are not walked along again. */
static void turns_tell(struct walk *walk, size_t from)
{
	struct scheduler *scheduler = walk->scheduler;

	while (scheduler->queue_told < scheduler->queue_count &&
	       was_told(scheduler->queue[scheduler->queue_told]))
		scheduler->queue_told++;
	if (from < scheduler->queue_told)
		from = scheduler->queue_told;
	for (size_t i = from; i < scheduler->queue_count && walk->told < TELLINGS_AT_ONCE; i++)
		turn_tell(walk, scheduler->queue[i], i);
}

void queue_serve(struct scheduler *scheduler, int64_t now_us)
{
	struct walk walk = { .scheduler = scheduler, .now_us = now_us };
	size_t i = 0;

	networks_settle(scheduler);
	if (scheduler->network_look.again_us && scheduler->network_look.again_us <= now_us) {
		scheduler->network_look.again_us = 0;
		scheduler->queue_stirred = true;
	}
	if (!scheduler->queue_stirred || !scheduler->engine_listed)
		return;
	scheduler->queue_stirred = false;
	for (; i < scheduler->queue_count && walk.told < TELLINGS_AT_ONCE; i++) {
		struct job_run *run = scheduler->queue[i];

		/* One that rests for a moment, or whose line is being stored, keeps its place. */
		walk.closed = walk.closed || run->stale || run->hold_until_us > now_us;
		if (walk.closed)
			break;
		if (!is_passed_over(&walk, run))
			visit(&walk, run);
	}
	if (walk.closed && !walk.looks)
		turns_tell(&walk, i);
	json_decref(walk.projects);
}
