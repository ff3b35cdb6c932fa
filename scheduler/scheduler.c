/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/cloud_tried.h"
#include "scheduler/device_claims.h"
#include "scheduler/engine_events.h"
#include "scheduler/faults/fault_registry.h"
#include "scheduler/faults/faults.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/jobs.h"
#include "scheduler/logs/log_pump.h"
#include "scheduler/observe.h"
#include "scheduler/passes.h"
#include "scheduler/queue.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/search/suggester.h"
#include "scheduler/search/trial_directory.h"
#include "store/logs/logs.h"
#include "store/store.h"

enum {
	MICROS = 1000000,
	TRIED_WAITING_MAX = 64,
	/* Choice: how long the queue waits at the start for engines to answer; those on a local network answer within a
	 * second. Without this wait all queued jobs would go to the engine that answers first. */
	NODES_HEARD_US = 2000000,
};

#define DAY_US (INT64_C(86400) * MICROS)

static void on_engine_event(void *arg, const struct engine_event *event)
{
	struct node *node = arg;
	struct inbox_event *inbox_event = inbox_event_of_engine(event);

	inbox_event->node = node;
	scheduler_post(node->scheduler, inbox_event);
}

static bool on_line(void *arg, const struct replica_line *line)
{
	struct scheduler *scheduler = ((struct node *)arg)->scheduler;

	/* Fault patterns see the line before it is stored: a line refused by the store comes again, a stored one never
	 * does, even if a process dies in between. */
	if (scheduler->reconciler.faults && fault_registry_line(scheduler->reconciler.faults, line))
		scheduler_post(scheduler, inbox_event_new(INBOX_FAULTS, line->key.job));
	return log_pump_line(scheduler->reconciler.pump, line);
}

static void on_log_room(void *arg)
{
	scheduler_post(arg, inbox_event_new(INBOX_LOG_ROOM, 0));
}

struct engine_sink scheduler_sink(struct scheduler *scheduler, size_t node)
{
	return (struct engine_sink){ on_engine_event, on_line, &scheduler->nodes[node] };
}

/* The rules of fault injection have changed. */
static void on_faults(void *arg)
{
	scheduler_post(arg, inbox_event_new(INBOX_FAULTS, 0));
}

void scheduler_wake(void *arg, int64_t job)
{
	scheduler_post(arg, inbox_event_new(INBOX_WAKE, job));
}

/* Reserves room in the inbox for a report of a call. False: the inbox is full of them, and one more would tell nothing
 * new. */
static bool tried_admit(struct scheduler *scheduler)
{
	bool fits;

	pthread_mutex_lock(&scheduler->mutex);
	fits = scheduler->tried_waiting < TRIED_WAITING_MAX;
	scheduler->tried_waiting += fits;
	pthread_mutex_unlock(&scheduler->mutex);
	return fits;
}

static void tried_leave(struct scheduler *scheduler)
{
	pthread_mutex_lock(&scheduler->mutex);
	scheduler->tried_waiting--;
	pthread_mutex_unlock(&scheduler->mutex);
}

void scheduler_cloud_tried(struct scheduler *scheduler, int64_t job, const char *host)
{
	struct inbox_event *inbox_event;

	/* A job that gets the report late, or not at all, only loses a hint; a program that calls in a loop must not
	 * cost more. */
	if (!tried_admit(scheduler))
		return;
	inbox_event = inbox_event_new(INBOX_CLOUD_TRIED, job);
	inbox_event->event.text = memory_strdup(host);
	scheduler_post(scheduler, inbox_event);
}

void scheduler_call_failed(struct scheduler *scheduler, int64_t job, const char *host, const char *text)
{
	struct inbox_event *inbox_event;

	if (!tried_admit(scheduler))
		return;
	inbox_event = inbox_event_new(INBOX_CALL_FAILED, job);
	inbox_event->event.text = memory_strdup(host);
	inbox_event->detail = memory_strdup(text);
	scheduler_post(scheduler, inbox_event);
}

/* Waits for an event, at most until @mono_us or for a day. A step of the clock ends the wait (scheduler_clock_stepped). */
static void wait_until(struct scheduler *scheduler, int64_t mono_us)
{
	const int64_t left_us = mono_us - clock_mono_us(scheduler->reconciler.clock);
	const int64_t wait_us = left_us < 0 ? 0 : left_us < DAY_US ? left_us : DAY_US;
	const int64_t at_us = clock_mono_us(&system_clock) + wait_us;
	const struct timespec when = { .tv_sec = at_us / MICROS, .tv_nsec = at_us % MICROS * 1000 };

	pthread_cond_timedwait(&scheduler->changed, &scheduler->mutex, &when);
}

void scheduler_clock_stepped(void *arg)
{
	struct scheduler *scheduler = arg;

	pthread_mutex_lock(&scheduler->mutex);
	pthread_cond_broadcast(&scheduler->changed);
	pthread_mutex_unlock(&scheduler->mutex);
}

static void logs_stored(struct scheduler *scheduler, const struct replica_key *key)
{
	struct job_run *run;
	struct replica_run *replica = observed_replica(scheduler, key, &run);

	if (!replica)
		return;
	replica->output = OUTPUT_STORED;
	job_run_touch(run);
}

/* Adds the node to those that jobs are placed on. Its engine may have sent events before. */
static void node_enter(struct scheduler *scheduler, struct node *node)
{
	log_event(LOG_INFO, "node-joined", "node=%s", node->name);
	if (node->state != ENGINE_LISTED)
		node->away_us = clock_mono_us(scheduler->reconciler.clock);
	pthread_mutex_lock(&scheduler->mutex);
	scheduler->node_count = node->index + 1;
	pthread_mutex_unlock(&scheduler->mutex);
	queue_reconsider(scheduler);
}

static void node_gone_set(struct node *node, int64_t gone_us)
{
	pthread_mutex_lock(&node->scheduler->mutex);
	node->gone_us = gone_us;
	pthread_mutex_unlock(&node->scheduler->mutex);
}

static void inbox_event_handle(struct scheduler *scheduler, struct inbox_event *inbox_event)
{
	struct job_entry *entry;
	struct job_run *run;
	bool was_listed;

	switch (inbox_event->kind) {
	case INBOX_LOG_ROOM:
		for (size_t i = 0; i < scheduler->node_count; i++)
			scheduler->nodes[i].common.resumes_logs = true;
		break;
	case INBOX_WAKE:
		jobs_wake(scheduler, inbox_event->job);
		break;
	case INBOX_ENGINE:
		was_listed = inbox_event->node->state == ENGINE_LISTED;
		engine_event_apply(inbox_event->node, &inbox_event->event);
		/* Since the engine answered, queued jobs waited for this listing. */
		if (!was_listed && inbox_event->node->state == ENGINE_LISTED)
			queue_reconsider(scheduler);
		if (!inbox_event->event.host || inbox_event->node->is_twin)
			break;
		room_host_take(inbox_event->node, &inbox_event->host);
		queue_reconsider(scheduler);
		break;
	case INBOX_NODE:
		node_enter(scheduler, inbox_event->node);
		break;
	case INBOX_NODE_GONE:
		node_gone_set(inbox_event->node, clock_mono_us(scheduler->reconciler.clock));
		break;
	case INBOX_NODE_BACK:
		node_gone_set(inbox_event->node, 0);
		break;
	case INBOX_LOGS_STORED:
		logs_stored(scheduler, &inbox_event->key);
		break;
	case INBOX_SUGGESTED:
		run = scheduler_find(scheduler, inbox_event->job);
		if (run)
			job_run_touch(run);
		break;
	case INBOX_LAST_WORDS:
		run = scheduler_find(scheduler, inbox_event->job);
		if (!run)
			break;
		run->last_words = OUTPUT_STORED;
		job_run_touch(run);
		break;
	case INBOX_FAULTS:
		entry = inbox_event->job ? job_table_find(scheduler, inbox_event->job) : NULL;
		if (entry)
			job_entry_touch(entry);
		for (size_t i = 0; !inbox_event->job && i < scheduler->entry_count; i++)
			job_entry_touch(scheduler->entries[i]);
		break;
	case INBOX_CLOUD_TRIED:
		tried_leave(scheduler);
		run = scheduler_find(scheduler, inbox_event->job);
		if (run)
			cloud_tried(run, inbox_event->event.text, scheduler->reconciler.cut_off);
		break;
	case INBOX_CALL_FAILED:
		tried_leave(scheduler);
		run = scheduler_find(scheduler, inbox_event->job);
		if (run)
			call_failed(run, inbox_event->event.text, inbox_event->detail);
		break;
	}
}

static struct inbox_event *queue_take(struct scheduler *scheduler)
{
	struct inbox_event *first = scheduler->first;

	scheduler->first = NULL;
	scheduler->last = &scheduler->first;
	return first;
}

static void inbox_events_handle(struct scheduler *scheduler, struct inbox_event *inbox_event)
{
	while (inbox_event) {
		struct inbox_event *next = inbox_event->next;

		inbox_event_handle(scheduler, inbox_event);
		inbox_event_free(inbox_event);
		inbox_event = next;
	}
}

static bool pools_are_empty(const struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->node_count; i++)
		if (!network_pool_is_empty(&scheduler->nodes[i].pool))
			return false;
	return true;
}

int64_t scheduler_turn(struct scheduler *scheduler)
{
	struct inbox_event *inbox_event;
	int64_t deadline_us;

	pthread_mutex_lock(&scheduler->mutex);
	inbox_event = queue_take(scheduler);
	for (size_t i = 0; i < scheduler->node_count; i++)
		scheduler->nodes[i].pool.closing = scheduler->clearing;
	scheduler->clearing_seen = scheduler->clearing;
	pthread_mutex_unlock(&scheduler->mutex);
	inbox_events_handle(scheduler, inbox_event);
	scheduler_reconcile(scheduler);
	deadline_us = scheduler_deadline_us(scheduler);
	pthread_mutex_lock(&scheduler->mutex);
	scheduler->idle = scheduler->entry_count == 0 && !scheduler->first;
	scheduler->cleared = pools_are_empty(scheduler) && !scheduler->first;
	if (scheduler->idle || scheduler->cleared)
		pthread_cond_broadcast(&scheduler->changed);
	pthread_mutex_unlock(&scheduler->mutex);
	return deadline_us;
}

static void *scheduler_main(void *arg)
{
	struct scheduler *scheduler = arg;

	store_read_first();
	pthread_mutex_lock(&scheduler->mutex);
	while (!scheduler->stopping) {
		int64_t deadline_us;

		pthread_mutex_unlock(&scheduler->mutex);
		deadline_us = scheduler_turn(scheduler);
		pthread_mutex_lock(&scheduler->mutex);
		while (!scheduler->stopping && !scheduler->first &&
		       scheduler->clearing == scheduler->clearing_seen &&
		       clock_mono_us(scheduler->reconciler.clock) < deadline_us)
			wait_until(scheduler, deadline_us);
	}
	pthread_mutex_unlock(&scheduler->mutex);
	return NULL;
}

/* Call with the mutex held. */
static bool is_clear(const struct scheduler *scheduler, bool of_jobs)
{
	return scheduler->cleared && scheduler->clearing == scheduler->clearing_seen &&
	       (scheduler->idle || !of_jobs);
}

static bool wait_clear(struct scheduler *scheduler, bool of_jobs, unsigned timeout_ms)
{
	int64_t deadline = clock_mono_us(scheduler->reconciler.clock) + (int64_t)timeout_ms * 1000;
	bool clear;

	pthread_mutex_lock(&scheduler->mutex);
	scheduler->clearing = true;
	pthread_cond_broadcast(&scheduler->changed);
	while (!is_clear(scheduler, of_jobs) && clock_mono_us(scheduler->reconciler.clock) < deadline)
		wait_until(scheduler, deadline);
	clear = is_clear(scheduler, of_jobs);
	pthread_mutex_unlock(&scheduler->mutex);
	return clear;
}

bool scheduler_wait_idle(struct scheduler *scheduler, unsigned timeout_ms)
{
	return wait_clear(scheduler, true, timeout_ms);
}

bool scheduler_clear_networks(struct scheduler *scheduler, unsigned timeout_ms)
{
	return wait_clear(scheduler, false, timeout_ms);
}

size_t scheduler_node_count(struct scheduler *scheduler)
{
	size_t count;

	pthread_mutex_lock(&scheduler->mutex);
	count = scheduler->node_count;
	pthread_mutex_unlock(&scheduler->mutex);
	return count;
}

struct node_state scheduler_node_state(struct scheduler *scheduler, size_t node)
{
	const struct node *of = &scheduler->nodes[node];
	struct node_state state = { .name = of->name };

	pthread_mutex_lock(&scheduler->mutex);
	state.answers = of->state >= ENGINE_ANSWERS;
	state.ready = of->state == ENGINE_LISTED;
	snprintf(state.text, sizeof(state.text), "%s", of->text);
	snprintf(state.id, sizeof(state.id), "%s", of->room.capacity.host.engine);
	pthread_mutex_unlock(&scheduler->mutex);
	return state;
}

static void on_suggested(void *arg, int64_t job)
{
	scheduler_post(arg, inbox_event_new(INBOX_SUGGESTED, job));
}

static void node_init(struct node *node, const char *name, const struct inventory *inventory,
		      struct scheduler *scheduler, const struct capacity *capacity)
{
	const struct host given = { .devices = inventory->devices, .device_count = inventory->device_count };

	*node = (struct node){
		.scheduler = scheduler,
		.name = memory_strdup(name),
		.index = (size_t)(node - scheduler->nodes),
		.pool.keep_us = scheduler->pooled_network_us,
		.devices_automatic = inventory->automatic,
		.claims = device_claims_new(),
		.room.capacity = *capacity,
		.text = "not asked yet",
	};
	node->room.capacity.host = host_copy(&given);
	node->room.capacity.node = node->name;
}

static void node_deinit(struct node *node)
{
	room_deinit(&node->room);
	device_claims_free(node->claims);
	json_decref(node->labels);
	free(node->name);
	free(node->common.orphans);
	free(node->pool.doomed);
}

struct scheduler *scheduler_new(const struct scheduler_options *options)
{
	struct scheduler *scheduler = memory_calloc(1, sizeof(*scheduler));
	pthread_condattr_t attributes;

	scheduler->last = &scheduler->first;
	scheduler->project_number = memory_strdup(options->project_number);
	scheduler->trials_dir = memory_strdup(options->trials_dir);
	scheduler->adc = memory_strdup(options->adc);
	scheduler->wheels = memory_strdup(options->wheels);
	scheduler->reconciler = (struct reconciler){
		.store = options->store,
		.clock = options->clock,
		.pump = log_pump_new(options->store, options->clock),
		.project_number = scheduler->project_number,
		.stop_grace_s = options->stop_grace_s,
		.retry_pause_ms = options->retry_pause_ms,
		.node_patience_us = (int64_t)options->node_patience_s * MICROS,
		.gateway = options->gateway,
		.gcs = options->gcs,
		.trials_dir = scheduler->trials_dir,
		.objects = options->objects,
		.adc = scheduler->adc,
		.wheels = scheduler->wheels,
		.faults = options->faults,
		.cut_off = options->cut_off,
	};
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&scheduler->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&scheduler->mutex, NULL);
	suggester_new(options->suggest ? options->suggest : study_suggest, on_suggested, scheduler,
		      &scheduler->suggester);
	scheduler->project_vcpus = json_object();
	scheduler->node_count = scheduler->nodes_joined = 1 + options->other_count;
	scheduler->node_size = scheduler->node_count + options->later_max;
	scheduler->nodes_span = options->nodes_span;
	scheduler->pooled_network_us = (int64_t)options->pooled_network_ms * 1000;
	scheduler->nodes = memory_calloc(scheduler->node_size, sizeof(*scheduler->nodes));
	node_init(scheduler->nodes, MAIN_NODE, &options->inventory, scheduler, &options->capacity);
	for (size_t i = 0; i < options->other_count; i++)
		node_init(&scheduler->nodes[1 + i], options->others[i].name, &options->others[i].inventory,
			  scheduler, &options->capacity);
	return scheduler;
}

bool scheduler_node_make(struct scheduler *scheduler, const char *name, json_t *labels, size_t *ret_node)
{
	struct node *node = &scheduler->nodes[scheduler->nodes_joined];
	struct capacity capacity;

	if (scheduler->nodes_joined == scheduler->node_size)
		return false;
	if (node->name)
		node_deinit(node);
	pthread_mutex_lock(&scheduler->mutex);
	/* the settings of all nodes; node_init() sets the members that differ */
	capacity = scheduler->nodes->room.capacity;
	pthread_mutex_unlock(&scheduler->mutex);
	node_init(node, name, &(struct inventory){ .automatic = true }, scheduler, &capacity);
	node->labels = json_incref(labels);
	node->room.capacity.labels = labels;
	*ret_node = node->index;
	return true;
}

void scheduler_node_join(struct scheduler *scheduler, size_t node, struct engine *engine)
{
	struct inbox_event *inbox_event = inbox_event_new(INBOX_NODE, 0);

	scheduler->nodes[node].engine = engine;
	scheduler->nodes_joined = node + 1;
	inbox_event->node = &scheduler->nodes[node];
	scheduler_post(scheduler, inbox_event);
}

void scheduler_node_gone(struct scheduler *scheduler, size_t node, bool is_gone)
{
	struct node *of = &scheduler->nodes[node];
	struct inbox_event *inbox_event;
	bool is_known;

	pthread_mutex_lock(&scheduler->mutex);
	is_known = (of->gone_us != 0) == is_gone;
	pthread_mutex_unlock(&scheduler->mutex);
	if (is_known)
		return;
	inbox_event = inbox_event_new(is_gone ? INBOX_NODE_GONE : INBOX_NODE_BACK, 0);
	inbox_event->node = of;
	scheduler_post(scheduler, inbox_event);
}

enum status scheduler_resume(struct scheduler *scheduler, struct engine *const *engines, struct error *err)
{
	enum status rc = jobs_load(scheduler, err);

	if (!rc)
		rc = room_leases_load(scheduler, err);
	if (!rc)
		rc = faults_resume(scheduler, err);
	for (size_t i = 0; i < scheduler->node_count; i++) {
		scheduler->nodes[i].engine = engines[i];
		scheduler->nodes[i].away_us = clock_mono_us(scheduler->reconciler.clock);
	}
	if (scheduler->node_count > 1)
		scheduler->hear_until_us = clock_mono_us(scheduler->reconciler.clock) + NODES_HEARD_US;
	return rc;
}

enum status scheduler_start(struct scheduler *scheduler, struct engine *const *engines, struct error *err)
{
	enum status rc = scheduler_resume(scheduler, engines, err);

	if (!rc)
		rc = suggester_start(scheduler->suggester, err);
	if (rc)
		return rc;
	trial_directories_sweep(scheduler);
	log_on_room(scheduler->reconciler.store, on_log_room, scheduler);
	if (scheduler->reconciler.faults)
		fault_registry_on_change(scheduler->reconciler.faults, on_faults, scheduler);
	store_on_intent(scheduler->reconciler.store, scheduler_wake, scheduler);
	if (pthread_create(&scheduler->thread, NULL, scheduler_main, scheduler))
		return error_set(err, STATUS_INTERNAL, NULL, "cannot start the scheduler's thread");
	scheduler->started = true;
	return STATUS_OK;
}

void scheduler_stop(struct scheduler *scheduler)
{
	pthread_mutex_lock(&scheduler->mutex);
	scheduler->stopping = true;
	pthread_cond_broadcast(&scheduler->changed);
	pthread_mutex_unlock(&scheduler->mutex);
	suggester_end(scheduler->suggester);
	if (scheduler->started)
		pthread_join(scheduler->thread, NULL);
	scheduler->started = false;
	suggester_stop(scheduler->suggester);
}

void scheduler_free(struct scheduler *scheduler)
{
	struct inbox_event *inbox_event;

	suggester_free(scheduler->suggester); /* its thread may report until here */
	inbox_event = queue_take(scheduler);
	while (inbox_event) {
		struct inbox_event *next = inbox_event->next;

		inbox_event_free(inbox_event);
		inbox_event = next;
	}
	jobs_free(scheduler);
	json_decref(scheduler->project_vcpus);
	decisions_free(scheduler);
	for (size_t i = 0; i < scheduler->node_size && scheduler->nodes[i].name; i++)
		node_deinit(&scheduler->nodes[i]);
	free(scheduler->nodes);
	log_pump_free(scheduler->reconciler.pump);
	pthread_cond_destroy(&scheduler->changed);
	pthread_mutex_destroy(&scheduler->mutex);
	free(scheduler->project_number);
	free(scheduler->trials_dir);
	free(scheduler->adc);
	free(scheduler->wheels);
	free(scheduler);
}
