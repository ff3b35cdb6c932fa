/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/device_claims.h"
#include "scheduler/faults/faults.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/observe.h"
#include "scheduler/observe_devices.h"
#include "scheduler/observe_listing.h"
#include "scheduler/observe_networks.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "store/job_progress.h"
#include "store/logs/logs.h"
#include "store/store.h"

enum {
	STEADY_US =
		5000000, /* an engine that fails again sooner is still in the same outage: not logged again */
	ENGINE_STOP_US = 20000000, /* a stopping dockerd gives its containers 15 s before it kills them */
};

static void engine_state_set(struct node *node, enum engine_state state, const char *text)
{
	pthread_mutex_lock(&node->scheduler->mutex);
	node->state = state;
	snprintf(node->text, sizeof(node->text), "%s", text);
	pthread_mutex_unlock(&node->scheduler->mutex);
}

/* Invalidates the observed state of the node's networks. */
static void networks_forget(struct node *node)
{
	network_pool_forget(&node->pool);
	node->look = (struct network_look){ 0 };
}

/* Another node with the same engine; NULL: none. A node that joined its swarm later is no twin of one that is away: an
 * engine that leaves a swarm and joins it again is a new node there, and the former one never answers again. */
static const struct node *twin_of(const struct node *node, const struct host *host)
{
	const struct scheduler *scheduler = node->scheduler;

	for (const struct node *other = scheduler->nodes; other < scheduler->nodes + scheduler->node_count;
	     other++)
		if (other != node && !other->is_twin && !(node->labels && other->state == ENGINE_AWAY) &&
		    host && host->engine[0] && strcmp(other->room.capacity.host.engine, host->engine) == 0)
			return other;
	return NULL;
}

/* Whether the node is a second name for another node's engine. True: ignore the event. */
static bool is_of_twin(struct node *node, const struct engine_event *event)
{
	const struct node *twin = event->kind == ENGINE_UP ? twin_of(node, event->host) : NULL;
	char text[sizeof(node->text)];

	if (event->kind == ENGINE_UP)
		node->is_twin = twin;
	if (!node->is_twin)
		return false;
	if (twin) {
		snprintf(text, sizeof(text), "it is the engine of the node %s", twin->name);
		log_event(LOG_ERROR, "node-twin", "node=%s error=\"%s\"", node->name, text);
		engine_state_set(node, ENGINE_AWAY, text);
	}
	return true;
}

static void on_up(struct node *node, const struct engine_event *event)
{
	struct scheduler *scheduler = node->scheduler;

	if (node->state < ENGINE_ANSWERS)
		node->up_us = clock_mono_us(scheduler->reconciler.clock);
	node->back_ns = clock_outside_ns(scheduler->reconciler.clock);
	clock_watch_note(&scheduler->clock_watch, scheduler->reconciler.clock);
	node->clock_set_in_loss = scheduler->clock_watch.set_us &&
				  scheduler->clock_watch.set_us >= node->lost_us - ENGINE_STOP_US;
	engine_state_set(node, ENGINE_ANSWERS, event->text);
	node->is_lost = false;
	networks_forget(node);
	device_claims_forget(node->claims);
	for (struct job_run *run = scheduler->way_first; run; run = run->way_next)
		if (job_run_on(run, node))
			job_run_invalidate(run, job_run_on(run, node));
}

static void on_down(struct node *node, const struct engine_event *event)
{
	struct scheduler *scheduler = node->scheduler;
	const bool steady = node->state >= ENGINE_ANSWERS &&
			    clock_mono_us(scheduler->reconciler.clock) >= node->up_us + STEADY_US;

	/* Events are missing since the last complete listing, so a second failure before the next one keeps this time. */
	if (node->state == ENGINE_LISTED) {
		node->lost_ns = clock_outside_ns(scheduler->reconciler.clock);
		node->lost_us = clock_mono_us(scheduler->reconciler.clock);
	}
	if (!node->away_us)
		node->away_us = clock_mono_us(scheduler->reconciler.clock);
	node->loss += steady || !node->loss;
	networks_forget(node);
	engine_state_set(node, ENGINE_AWAY, event->text);
	scheduler->queue_stirred = true; /* queued jobs report that they wait for the engine */
	for (size_t i = 0; i < scheduler->entry_count; i++) {
		struct job_entry *entry = scheduler->entries[i];
		struct job_node *on = entry->run ? job_run_on(entry->run, node) : NULL;

		if (on)
			job_run_invalidate(entry->run, on);
		/* While another node answers, queued jobs can still start there. */
		if (nodes_are_away(scheduler) || (on && entry->run->counted))
			job_entry_touch(entry);
	}
}

/* The default image of a runtime version is large and must be downloaded, so a failure to get it is reported with
 * the advice to build an image locally. */
static void fold_image_failure(struct job_run *run, const struct job_node *on, enum role role,
			       const char *text)
{
	const char *version = run->plan->runtime_version, *node = node_shown(on->node);
	AUTO(string) char *there = node ? memory_printf("on the node %s: %s", node, text) : NULL;
	AUTO(string) char *advice = NULL;

	if (there)
		text = there;
	if (version)
		advice = memory_printf(
			"%s. Another image can stand for the runtime version %s: deploy/runtime/build makes "
			"one of this machine's packages, and trainyard serve --runtime %s=trainyard-runtime "
			"uses it",
			text, version, version);
	replica_refuse(job_run_replica(run, role, 0), END_REFUSED, advice ? advice : text);
}

static void fold_image(struct job_run *run, struct job_node *on, enum role role,
		       const struct engine_event *event)
{
	switch (event->kind) {
	case ENGINE_IMAGE_READY:
		free(on->image_ids[role]);
		on->image_ids[role] = memory_strdup(event->text);
		break;
	case ENGINE_IMAGE_FAILED:
		on->images.epoch++;
		if (event->status == STATUS_UNAVAILABLE)
			observe_hold(on->node->scheduler, run);
		else
			fold_image_failure(run, on, role, event->text);
		break;
	default:
		break;
	}
	job_run_touch(run);
}

static void on_image(struct node *node, const struct engine_event *event)
{
	struct progress_board *board = store_progress(node->scheduler->reconciler.store);
	const struct image_pull pull = { event->image, event->pulled_bytes, event->image_bytes };

	if (event->kind != ENGINE_IMAGE_PROGRESS)
		progress_pull_end(board, event->image);
	for (struct job_run *run = node->scheduler->way_first; run; run = run->way_next) {
		struct job_node *on = job_run_on(run, node);
		bool concerned = false;

		for (int role = 0; on && role < ROLE_COUNT; role++) {
			if (!order_was_given(&on->images, (unsigned)role) || on->image_ids[role] ||
			    strcmp(run->plan->pools[role].image, event->image) != 0)
				continue;
			fold_image(run, on, (enum role)role, event);
			concerned = true;
		}
		if (concerned && event->kind == ENGINE_IMAGE_PROGRESS) {
			notes_say(&run->notes, SEVERITY_INFO, "%s", event->text);
			progress_pull_set(board, job_run_owner(run), &pull);
		}
	}
}

static void on_replica_failed(struct job_run *run, struct replica_run *replica,
			      const struct engine_event *event)
{
	if (event->status == STATUS_UNAVAILABLE) {
		if (replica->observed == OBSERVED_CREATING)
			replica->observed = OBSERVED_NOTHING; /* the next listing shows whether it exists */
		replica->orders.epoch++; /* a stop sent during the start must be sent again */
		observe_lost_answer(run, &run->nodes[replica->at]);
		return;
	}
	/* If the start of an existing container answers NOT_FOUND, its network was removed: the next attempt creates
	 * the network again. */
	if (replica->observed == OBSERVED_STARTING && event->status == STATUS_NOT_FOUND) {
		run->network = NETWORK_NONE;
		replica_refuse(replica, END_BROKEN, event->text);
	}
	/* The answer may be late: a newer observation is kept. */
	if (replica->observed == OBSERVED_STARTING)
		replica->observed = OBSERVED_CREATED;
	else if (replica->observed == OBSERVED_CREATING)
		replica->observed = OBSERVED_NOTHING;
	replica_refuse(replica, refusal_kind(event->status), event->text);
}

/* All of a replica's log lines were passed to the log writer. Once they are stored, its container can be removed. */
static void on_logs_ended(struct scheduler *scheduler, struct replica_run *replica)
{
	struct inbox_event *inbox_event;

	if (replica->output != OUTPUT_OPEN)
		return;
	inbox_event = inbox_event_new(INBOX_LOGS_STORED, replica->key.job);
	inbox_event->key = replica->key;
	inbox_event->to = scheduler;
	log_barrier(scheduler->reconciler.store, inbox_event_deliver, inbox_event);
	replica->output = OUTPUT_ENDED;
}

/* Returns the replica that the key names; NULL: it neither runs on the node nor is planned for it. */
static struct replica_run *node_replica(struct node *node, const struct replica_key *key,
					struct job_run **ret_run)
{
	struct replica_run *replica = observed_replica(node->scheduler, key, ret_run);

	return replica && job_run_node_of(*ret_run, replica) == node ? replica : NULL;
}

static void on_replica(struct node *node, const struct engine_event *event)
{
	const struct replica_status *status = &event->replicas[0];
	struct scheduler *scheduler = node->scheduler;
	struct job_run *run;
	struct replica_run *replica = node_replica(node, &status->key, &run);

	if (!replica)
		return;
	job_run_touch(run);
	switch (event->kind) {
	case ENGINE_REPLICA_CREATED:
		if (replica->observed == OBSERVED_CREATING || replica->observed == OBSERVED_STARTING)
			replica->observed = OBSERVED_CREATED;
		break;
	case ENGINE_REPLICA_STARTED:
		if (replica->observed == OBSERVED_STARTING)
			replica->observed = OBSERVED_RUNNING;
		break;
	case ENGINE_REPLICA_EXITED:
		observe_exit(scheduler, run, replica, status);
		break;
	case ENGINE_REPLICA_REMOVED:
		observe_removal(replica);
		break;
	case ENGINE_REPLICA_PAUSED:
		observe_pause(run, replica, status->paused);
		break;
	case ENGINE_REPLICA_FAILED:
		on_replica_failed(run, replica, event);
		break;
	case ENGINE_LOGS_ENDED:
		on_logs_ended(scheduler, replica);
		break;
	default:
		break;
	}
}

static void on_throttle_failed(struct node *node, const struct engine_event *event)
{
	struct job_run *run;
	struct replica_run *replica = node_replica(node, &event->replicas[0].key, &run);

	if (!replica || replica->observed != OBSERVED_RUNNING)
		return;
	if (faults_throttle_failed(run, replica, event->status, event->text)) {
		replica->orders.epoch++;
		observe_hold(node->scheduler, run);
	}
	job_run_touch(run);
}

/* A stop, a removal or the reading of output failed: ask again after a while. */
static void on_failed(struct node *node, const struct engine_event *event)
{
	const struct replica_key *key = event->replica_count ? &event->replicas[0].key : NULL;
	int64_t job = key ? key->job : event->job;
	struct job_run *run = scheduler_find(node->scheduler, job);
	struct replica_run *replica = key ? node_replica(node, key, &run) : NULL;

	log_event(LOG_WARNING, "engine-refused", "id=%lld error=\"%s\"", (long long)job, event->text);
	if (!key) {
		pooled_network_stays(&node->pool, clock_mono_us(node->scheduler->reconciler.clock));
		return;
	}
	if (!run || !job_run_on(run, node))
		return;
	if (replica)
		replica->orders.epoch++;
	observe_hold(node->scheduler, run);
	job_run_touch(run);
}

void engine_event_apply(struct node *node, const struct engine_event *event)
{
	if (is_of_twin(node, event))
		return;
	switch (event->kind) {
	case ENGINE_UP:
		on_up(node, event);
		break;
	case ENGINE_DOWN:
		on_down(node, event);
		break;
	case ENGINE_LISTING:
		observe_listing(node, event);
		break;
	case ENGINE_IMAGE_PROGRESS:
	case ENGINE_IMAGE_READY:
	case ENGINE_IMAGE_FAILED:
		on_image(node, event);
		break;
	case ENGINE_NETWORK_READY:
	case ENGINE_NETWORK_FAILED:
	case ENGINE_NETWORK_REMOVED:
		network_update(node, event);
		break;
	case ENGINE_NETWORKS_FREE:
		networks_reported(node, event);
		break;
	case ENGINE_DEVICES_CLAIMED:
		devices_reported(node, event);
		break;
	case ENGINE_REPLICA_CREATED:
	case ENGINE_REPLICA_STARTED:
	case ENGINE_REPLICA_FAILED:
	case ENGINE_REPLICA_EXITED:
	case ENGINE_REPLICA_REMOVED:
	case ENGINE_REPLICA_PAUSED:
	case ENGINE_LOGS_ENDED:
		on_replica(node, event);
		break;
	case ENGINE_THROTTLE_FAILED:
		on_throttle_failed(node, event);
		break;
	case ENGINE_FAILED:
		on_failed(node, event);
		break;
	}
}
