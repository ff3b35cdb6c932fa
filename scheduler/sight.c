/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine said, folded into what is known of the jobs. Every event may come twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/faults/faults.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/restarts.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/steps.h"
#include "store/logs/logs.h"

enum {
	HOLD_AFTER_FAILURE_US = 1000000,
	SIGNAL_EXIT_KILL = 137,
	SIGNAL_EXIT_TERM = 143,
	ENGINE_LOST_EXIT = 255, /* what an engine reports of containers that died with the machine */
	STEADY_US = 5000000, /* one that was up for less was not back: no log tells again that it is away */
	DOUBT_US = 2000000,  /* an engine that stops kills its containers before its connections */
};

/* A dockerd that is told to stop gives its containers 15 s before it kills them. */
#define ENGINE_STOP_NS ((int64_t)20 * 1000000000)
/* How long its loss may go unnoticed. */
#define LOSS_NOTICED_NS ((int64_t)1 * 1000000000)

void sight_hold(struct scheduler *scheduler, struct job_run *run)
{
	job_run_hold(run, clock_mono_us(scheduler->reconciler.clock) + HOLD_AFTER_FAILURE_US);
}

struct replica_run *sight_find(struct scheduler *scheduler, const struct replica_key *key,
			       struct job_run **ret_run)
{
	struct job_run *run = scheduler_find(scheduler, key->job);
	struct replica_run *replica;

	*ret_run = run;
	if (!run || run->row->attempt != key->attempt)
		return NULL;
	replica = job_run_replica(run, key->role, key->index);
	return replica && replica->key.restart == key->restart ? replica : NULL;
}

void sight_follow(struct scheduler *scheduler, struct job_run *run)
{
	struct engine *engine = scheduler->reconciler.engine;

	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];
		const struct replica_key *key = &replica->key;
		struct stream_reach reached[2];
		struct log_position from;
		struct error err AUTO_ERROR = { 0 };

		if (replica->follows || (replica->seen != SEEN_RUNNING && replica->seen != SEEN_EXITED))
			continue;
		if (log_pump_open(scheduler->reconciler.pump, run->plan, job_run_owner(run), key, &err) ||
		    log_position_get(scheduler->reconciler.store, key->job, key->attempt, key->role,
				     key->index, key->restart, reached, &err)) {
			log_event(LOG_ERROR, "logs-unfollowed", "job=%s error=\"%s\"", run->row->job_id,
				  err.text ? err.text : "");
			sight_hold(scheduler, run);
			continue;
		}
		replica->follows = true;
		for (int stream = 0; stream < 2; stream++)
			from.streams[stream] =
				(struct log_reach){ reached[stream].time_ns, reached[stream].behind,
						    reached[stream].parts, reached[stream].parts_ns };
		log_pump_offered(scheduler->reconciler.pump, key, &from);
		engine->ops->follow_logs(engine, key, &from);
	}
}

static bool exit_is_kill(const struct replica_status *status)
{
	return !status->out_of_memory &&
	       (status->exit_code == SIGNAL_EXIT_KILL || status->exit_code == SIGNAL_EXIT_TERM ||
		status->exit_code == ENGINE_LOST_EXIT);
}

/* Whether what is seen in the first listing happened while the engine was away, or up to @before_ns before. Times that
 * were taken before and after the clock was set tell nothing: it may have. */
static bool is_of_loss(const struct scheduler *scheduler, const struct replica_status *status,
		       int64_t before_ns)
{
	return scheduler->clock_set_in_loss ||
	       (status->finished_ns >= scheduler->engine_lost_ns - before_ns &&
		status->finished_ns <= scheduler->engine_back_ns);
}

/* Whether a kill seen in the first listing is the engine's doing, which it can't witness to be otherwise: it happened
 * around the time in which the engine was away, or nobody knows, because we were away ourselves: the machine may have gone
 * down. */
static bool kill_is_loss(const struct scheduler *scheduler, const struct replica_status *status)
{
	return !status->witnessed &&
	       (!scheduler->engine_lost_ns || is_of_loss(scheduler, status, ENGINE_STOP_NS));
}

/* An engine that dies leaves programs that write into pipes which nobody reads; what is in them when they end is gone.
 * One that was only out of reach has read on. */
static void tell_missing_lines(const struct scheduler *scheduler, struct job_run *run,
			       const struct replica_run *replica, const struct replica_status *status)
{
	char name[REPLICA_NAME_MAX];

	if (run->sighted || status->witnessed || !scheduler->engine_lost_ns ||
	    (replica->seen != SEEN_STARTING && replica->seen != SEEN_RUNNING) ||
	    !is_of_loss(scheduler, status, LOSS_NOTICED_NS))
		return;
	replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
	job_run_say(
		run, SEVERITY_WARNING,
		"The container engine was away when the replica %s ended: the last lines that it printed may be "
		"missing.",
		name);
}

/* Whether it ended while nobody looked, and after its job should have been cancelled: that comes first then. */
static bool exit_is_late(const struct scheduler *scheduler, struct job_run *run,
			 const struct replica_status *status)
{
	const struct clock *clock = scheduler->reconciler.clock;
	const int64_t now_us = clock_mono_us(clock);
	const int64_t ago_us = (clock_outside_ns(clock) - status->finished_ns) / 1000;

	return !run->sighted && run->row->state == JOB_RUNNING && !scheduler->clock_set_in_loss &&
	       now_us - ago_us > job_deadline_us(run, clock_wall_us(clock), now_us);
}

/* An exit status tells nothing by itself: a program may end with that of any signal. END_NONE: that cannot be told yet. */
static enum replica_end exit_judge(const struct scheduler *scheduler, const struct job_run *run,
				   const struct replica_run *replica, const struct replica_status *status)
{
	if (!exit_is_kill(status) || status->witnessed || replica->stop_asked ||
	    run->row->verdict != JOB_STATE_UNSPECIFIED)
		return END_EXIT;
	/* It was not sent from here: the engine stops, perhaps long before its connections end. */
	if (status->exit_code == SIGNAL_EXIT_TERM && status->signalled)
		return END_LOST;
	if (!run->sighted)
		return kill_is_loss(scheduler, status) ? END_LOST : END_EXIT;
	return status->exit_code == ENGINE_LOST_EXIT ? END_EXIT : END_NONE;
}

void sight_exit(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
		const struct replica_status *status)
{
	const bool doubted = replica->in_doubt;

	tell_missing_lines(scheduler, run, replica, status);
	replica->seen = SEEN_EXITED;
	if (!replica->ordered) { /* looked at once more, it still ended as ordered */
		replica->exit_code = status->exit_code;
		replica->out_of_memory = status->out_of_memory;
		replica->of_itself = status->witnessed;
	}
	if (replica->end != END_NONE || faults_end(run, replica) || exit_is_late(scheduler, run, status) ||
	    (doubted && !status->witnessed && !status->signalled))
		return;
	replica->end = exit_judge(scheduler, run, replica, status);
	replica->in_doubt = replica->end == END_NONE;
	if (replica->in_doubt && !doubted)
		run->doubt_until_us = clock_mono_us(scheduler->reconciler.clock) + DOUBT_US;
}

void sight_settle(struct job_run *run, int64_t now_us)
{
	const bool stays = job_run_doubts(run) && now_us < run->doubt_until_us;
	bool doubted = false;

	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (replica->in_doubt && !stays) {
			replica->end = END_EXIT;
			replica->in_doubt = false;
		}
		doubted = doubted || replica->in_doubt;
	}
	if (!doubted)
		run->doubt_until_us = 0;
}

/* Gone: by our wish, or behind our back, which a job whose end is open does not survive. A kill that is in doubt was part
 * of the removal. */
void sight_removed(struct replica_run *replica)
{
	if (!replica->remove_asked && replica->end == END_NONE && replica->seen >= SEEN_STARTING)
		replica->end = END_LOST;
	if (replica->follows && !replica->logs_ended && replica->remove_asked)
		replica->logs_ended = replica->logs_stored = true;
	replica->seen = SEEN_NOTHING;
	replica->missing = replica->in_doubt = false;
}

void replica_refuse(struct replica_run *replica, enum replica_end end, const char *text)
{
	char *copy;

	if (replica->end != END_NONE)
		return;
	copy = memory_strdup(text);
	if (!copy)
		return; /* it is asked for again, and refused again */
	replica->end = end;
	free(replica->refusal);
	replica->refusal = copy;
}

/* An engine that was killed forgets starts that its runtime still knows, and refuses them ever after: the next
 * attempt has other names. The job is not to blame for that, nor for anything else that is wrong inside. */
enum replica_end refusal_kind(enum status status)
{
	return status == STATUS_INTERNAL || status == STATUS_ALREADY_EXISTS || status == STATUS_UNKNOWN
		       ? END_BROKEN
		       : END_REFUSED;
}

/* Choice: a job with a paused replica goes on when that does; its limits count on meanwhile. */
void sight_paused(struct job_run *run, struct replica_run *replica, bool paused)
{
	char name[REPLICA_NAME_MAX];

	if (replica->paused == paused)
		return;
	replica->paused = paused;
	replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
	if (paused)
		job_run_say(
			run, SEVERITY_WARNING,
			"The container of the replica %s was paused from outside; it goes on when it is unpaused "
			"(docker unpause).",
			name);
	else
		job_run_say(run, SEVERITY_INFO, "The container of the replica %s goes on.", name);
}

static void engine_text_set(struct scheduler *scheduler, bool answers, const char *text)
{
	pthread_mutex_lock(&scheduler->mutex);
	scheduler->engine_answers = answers;
	snprintf(scheduler->engine_text, sizeof(scheduler->engine_text), "%s", text);
	pthread_mutex_unlock(&scheduler->mutex);
}

static void on_up(struct scheduler *scheduler, const struct engine_event *event)
{
	if (!scheduler->engine_up)
		scheduler->engine_up_us = clock_mono_us(scheduler->reconciler.clock);
	scheduler->engine_up = true;
	scheduler->engine_back_ns = clock_outside_ns(scheduler->reconciler.clock);
	scheduler_clock_look(scheduler);
	scheduler->clock_set_in_loss =
		scheduler->clock_set_us &&
		scheduler->clock_set_us >= scheduler->engine_lost_us - ENGINE_STOP_NS / 1000;
	scheduler->engine_down = scheduler->engine_listed = false;
	engine_text_set(scheduler, true, event->text);
	spare_networks_forget(&scheduler->spares);
	for (size_t i = 0; i < scheduler->run_count; i++) {
		struct job_run *run = scheduler->runs[i];

		job_run_unsee(run);
		run->has_left_network = false; /* what was spare is forgotten: it is left anew */
	}
}

static void on_down(struct scheduler *scheduler, const struct engine_event *event)
{
	const bool steady = scheduler->engine_up &&
			    clock_mono_us(scheduler->reconciler.clock) >= scheduler->engine_up_us + STEADY_US;

	if (scheduler->engine_up) {
		scheduler->engine_lost_ns = clock_outside_ns(scheduler->reconciler.clock);
		scheduler->engine_lost_us = clock_mono_us(scheduler->reconciler.clock);
	}
	scheduler->engine_up = scheduler->engine_listed = false;
	scheduler->engine_down = true;
	spare_networks_forget(&scheduler->spares);
	engine_text_set(scheduler, false, event->text);
	for (size_t i = 0; i < scheduler->run_count; i++) {
		struct job_run *run = scheduler->runs[i];

		job_run_unsee(run);
		run->told_down = run->told_down && !steady;
		run->dirty = true;
	}
}

/* The images that stand for runtime versions by default are on the network and large. */
static void fold_image_failure(struct job_run *run, enum role role, const char *text)
{
	const char *version = run->plan->runtime_version;
	AUTO(string) char *advice = NULL;

	if (version &&
	    asprintf(&advice,
		     "%s. Another image can stand for the runtime version %s: deploy/runtime/build makes "
		     "one of this machine's packages, and trainyard serve --runtime %s=trainyard-runtime "
		     "uses it",
		     text, version, version) < 0)
		advice = NULL;
	replica_refuse(job_run_replica(run, role, 0), END_REFUSED, advice ? advice : text);
}

static void fold_image(struct scheduler *scheduler, struct job_run *run, enum role role,
		       const struct engine_event *event)
{
	switch (event->kind) {
	case ENGINE_IMAGE_READY:
		free(run->image_ids[role]);
		run->image_ids[role] = memory_strdup(event->text);
		break;
	case ENGINE_IMAGE_FAILED:
		run->image_asked[role] = false;
		if (event->status == STATUS_UNAVAILABLE)
			sight_hold(scheduler, run);
		else
			fold_image_failure(run, role, event->text);
		break;
	default:
		break;
	}
	run->dirty = true;
}

static void on_image(struct scheduler *scheduler, const struct engine_event *event)
{
	for (size_t i = 0; i < scheduler->run_count; i++) {
		struct job_run *run = scheduler->runs[i];
		bool concerned = false;

		for (int role = 0; role < ROLE_COUNT; role++) {
			if (!run->image_asked[role] || run->image_ids[role] ||
			    strcmp(run->plan->pools[role].image, event->image) != 0)
				continue;
			fold_image(scheduler, run, (enum role)role, event);
			concerned = true;
		}
		if (concerned && event->kind == ENGINE_IMAGE_PROGRESS)
			job_run_say(run, SEVERITY_INFO, "%s", event->text);
	}
}

static void on_replica_failed(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
			      const struct engine_event *event)
{
	if (event->status == STATUS_UNAVAILABLE) {
		/* Nobody knows what became of it: look again. A stop that met the start is lost with its answer. */
		replica->create_awaited = replica->stop_asked = replica->remove_asked = false;
		run->sighted = false;
		run->network = NETWORK_NONE;
		sight_hold(scheduler, run);
		scheduler->reconciler.engine->ops->list(scheduler->reconciler.engine);
		return;
	}
	/* All that a start needs and a created container has not is its network. Somebody removed it: the next attempt
	 * makes it anew. */
	if (replica->seen == SEEN_STARTING && event->status == STATUS_NOT_FOUND) {
		run->network = NETWORK_NONE;
		replica_refuse(replica, END_BROKEN, event->text);
	}
	replica->seen = replica->seen == SEEN_STARTING ? SEEN_CREATED : SEEN_NOTHING;
	replica_refuse(replica, refusal_kind(event->status), event->text);
}

/* All of a replica's lines were offered; once they can be read, its container may go. */
static void on_logs_ended(struct scheduler *scheduler, struct replica_run *replica)
{
	struct happening *happening;
	struct error err AUTO_ERROR = { 0 };

	if (replica->logs_ended)
		return;
	happening = happening_new(HAPPENED_LOGS_STORED, replica->key.job);
	if (!happening) {
		memory_note_failure();
		replica->follows = false; /* the end is asked for again */
		return;
	}
	happening->key = replica->key;
	happening->to = scheduler;
	replica->logs_ended = true;
	if (log_barrier(scheduler->reconciler.store, happening_deliver, happening, &err)) {
		log_event(LOG_ERROR, "log-barrier", "error=\"%s\"", err.text ? err.text : "");
		replica->logs_ended = replica->follows = false;
		happening_free(happening);
	}
}

static void on_replica(struct scheduler *scheduler, const struct engine_event *event)
{
	const struct replica_status *status = &event->replicas[0];
	struct job_run *run;
	struct replica_run *replica = sight_find(scheduler, &status->key, &run);

	if (!replica)
		return;
	run->dirty = true;
	switch (event->kind) {
	case ENGINE_REPLICA_CREATED:
		restarts_see(run, replica);
		if (replica->seen == SEEN_CREATING || replica->seen == SEEN_STARTING)
			replica->seen = SEEN_CREATED;
		break;
	case ENGINE_REPLICA_STARTED:
		if (replica->seen == SEEN_STARTING)
			replica->seen = SEEN_RUNNING;
		break;
	case ENGINE_REPLICA_EXITED:
		sight_exit(scheduler, run, replica, status);
		break;
	case ENGINE_REPLICA_REMOVED:
		sight_removed(replica);
		break;
	case ENGINE_REPLICA_PAUSED:
		replica->pause_doubted = false;
		sight_paused(run, replica, status->paused);
		break;
	case ENGINE_REPLICA_FAILED:
		on_replica_failed(scheduler, run, replica, event);
		break;
	case ENGINE_LOGS_ENDED:
		on_logs_ended(scheduler, replica);
		break;
	default:
		break;
	}
}

static void on_throttle_failed(struct scheduler *scheduler, const struct engine_event *event)
{
	struct job_run *run;
	struct replica_run *replica = sight_find(scheduler, &event->replicas[0].key, &run);

	if (!replica || replica->seen != SEEN_RUNNING)
		return;
	replica->link_again = faults_throttle_failed(run, replica, event->status, event->text);
	if (replica->link_again)
		sight_hold(scheduler, run);
	run->dirty = true;
}

/* A stop, a removal or the reading of output failed: ask again after a while. */
static void on_failed(struct scheduler *scheduler, const struct engine_event *event)
{
	const struct replica_key *key = event->replica_count ? &event->replicas[0].key : NULL;
	int64_t job = key ? key->job : event->job;
	struct job_run *run = scheduler_find(scheduler, job);
	struct replica_run *replica = key ? sight_find(scheduler, key, &run) : NULL;

	log_event(LOG_WARNING, "engine-refused", "id=%lld error=\"%s\"", (long long)job, event->text);
	if (!key) {
		spare_network_stays(&scheduler->spares, clock_mono_us(scheduler->reconciler.clock));
		return;
	}
	if (!run)
		return;
	if (replica) {
		replica->stop_asked = replica->remove_asked = false;
		replica->link_asked = LINK_AS_MADE;
		replica->follows = replica->logs_ended; /* asking twice is harmless */
	}
	sight_hold(scheduler, run);
	run->dirty = true;
}

void sight_update(struct scheduler *scheduler, const struct engine_event *event)
{
	switch (event->kind) {
	case ENGINE_UP:
		on_up(scheduler, event);
		break;
	case ENGINE_DOWN:
		on_down(scheduler, event);
		break;
	case ENGINE_LISTING:
		sight_listing(scheduler, event);
		break;
	case ENGINE_IMAGE_PROGRESS:
	case ENGINE_IMAGE_READY:
	case ENGINE_IMAGE_FAILED:
		on_image(scheduler, event);
		break;
	case ENGINE_NETWORK_READY:
	case ENGINE_NETWORK_FAILED:
	case ENGINE_NETWORK_REMOVED:
		network_update(scheduler, event);
		break;
	case ENGINE_REPLICA_CREATED:
	case ENGINE_REPLICA_STARTED:
	case ENGINE_REPLICA_FAILED:
	case ENGINE_REPLICA_EXITED:
	case ENGINE_REPLICA_REMOVED:
	case ENGINE_REPLICA_PAUSED:
	case ENGINE_LOGS_ENDED:
		on_replica(scheduler, event);
		break;
	case ENGINE_THROTTLE_FAILED:
		on_throttle_failed(scheduler, event);
		break;
	case ENGINE_FAILED:
		on_failed(scheduler, event);
		break;
	}
}
