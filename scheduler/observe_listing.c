/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/observe_listing.h"

#include "daemon/base/log.h"
#include "scheduler/job_run.h"
#include "scheduler/observe.h"
#include "scheduler/observe_networks.h"
#include "scheduler/order_give.h"
#include "scheduler/scheduler_state.h"

enum { PAUSE_DOUBT_US = 3000000, ORPHANS_LOOK_US = 1000000, ORPHANS_PATIENCE_US = 60000000 };

/* Docker reports a pause and its end before its list shows them (observed with 20.10), and when loaded it sends several
 * listings older than that event: a contradiction counts when all listings have shown it for a while. */
static void fold_listed_pause(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
			      bool paused)
{
	const int64_t now_us = clock_mono_us(scheduler->reconciler.clock);

	if (!job_node_is_observed(&run->nodes[replica->at]) || replica->paused == paused ||
	    (replica->pause_doubted_us && now_us - replica->pause_doubted_us >= PAUSE_DOUBT_US)) {
		observe_pause(run, replica, paused);
		return;
	}
	if (!replica->pause_doubted_us)
		replica->pause_doubted_us = now_us;
	listing_want(job_run_node_of(run, replica), replica->pause_doubted_us + PAUSE_DOUBT_US);
}

static void fold_listed(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica,
			const struct replica_status *status)
{
	const bool first = !job_node_is_observed(&run->nodes[replica->at]);

	if (status->gateway_port)
		run->gateway.port = status->gateway_port;
	switch (status->observed) {
	case REPLICA_CREATED:
		if (first)
			replica->observed = OBSERVED_CREATED;
		break;
	case REPLICA_RUNNING:
		if (first)
			replica->made_us = status->made_us;
		if (first || replica->observed == OBSERVED_CREATED || replica->observed == OBSERVED_STARTING)
			replica->observed = OBSERVED_RUNNING;
		fold_listed_pause(scheduler, run, replica, status->paused);
		break;
	case REPLICA_EXITED:
		if (first || replica->observed != OBSERVED_EXITED)
			observe_exit(scheduler, run, replica, status);
		break;
	}
}

/* Handles a replica that a listing does not contain. The first listing after the engine came up is exact, except for
 * containers requested before it was read. A later listing may have been taken before the container was made, so only the
 * second one in a row without the container counts. */
static void fold_unlisted(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica)
{
	struct node *node = job_run_node_of(run, replica);

	if (replica->observed == OBSERVED_CREATING)
		return;
	if (!job_node_is_observed(&run->nodes[replica->at])) {
		if (run->row->state == JOB_RUNNING && replica->observed == OBSERVED_NOTHING &&
		    replica->end == END_NONE && replica->journaled >= JOURNALED_MADE)
			replica->end = END_LOST;
		observe_removal(replica);
		return;
	}
	if (replica->observed == OBSERVED_NOTHING)
		return;
	if (replica->missing_in && replica->missing_in == node->listings - 1) {
		observe_removal(replica);
		return;
	}
	replica->missing_in = node->listings;
	listing_want(node, clock_mono_us(scheduler->reconciler.clock));
}

static const struct replica_status *listed(const struct engine_event *event, const struct replica_key *key)
{
	for (size_t i = 0; i < event->replica_count; i++)
		if (replica_keys_equal(&event->replicas[i].key, key))
			return &event->replicas[i];
	return NULL;
}

static void fold_listing_of_job(struct scheduler *scheduler, struct job_run *run, struct job_node *on,
				const struct engine_event *event)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		const bool is_there = &run->nodes[run->replicas[i].at] == on;
		const struct replica_status *status = is_there ? listed(event, &run->replicas[i].key) : NULL;

		if (!is_there)
			continue;
		if (status)
			fold_listed(scheduler, run, &run->replicas[i], status);
		else
			fold_unlisted(scheduler, run, &run->replicas[i]);
	}
	on->listed_in = on->observation;
	job_run_touch(run);
}

/* Removes containers of jobs that have ended, of replicas that are on another node, of earlier attempts, and of no known
 * job. False: there are none. */
static bool remove_orphans(struct node *node, const struct engine_event *event)
{
	bool any = false;

	for (size_t i = 0; i < event->replica_count; i++) {
		const struct replica_key *key = &event->replicas[i].key;
		struct job_run *run;
		const struct replica_run *replica = observed_replica(node->scheduler, key, &run);

		if (replica && job_run_node_of(run, replica) == node)
			continue;
		log_event(LOG_INFO, "orphan-removed", "id=%lld replica=%s-%u attempt=%u", (long long)key->job,
			  role_name(key->role), key->index, key->attempt);
		orphan_remove(node, key);
		any = true;
	}
	return any;
}

/* To be called after a listing of a node that was away: from now on the node gets jobs, once it has no containers of
 * earlier attempts. Such containers may hold GPUs and addresses that new ones are given, because a former daemon may
 * have given up the places of these attempts.
 * Choice: a container that cannot be removed for a minute does not close the node any longer. It is usually dead. */
static void node_open(struct node *node, bool has_orphans)
{
	struct scheduler *scheduler = node->scheduler;
	const int64_t now_us = clock_mono_us(scheduler->reconciler.clock);

	if (has_orphans && now_us < node->up_us + ORPHANS_PATIENCE_US) {
		if (node->orphans_up_us != node->up_us)
			log_event(LOG_INFO, "node-waits",
				  "node=%s reason=\"containers of earlier attempts are removed first\"", node->name);
		node->orphans_up_us = node->up_us;
		listing_want(node, now_us + ORPHANS_LOOK_US);
		return;
	}
	if (has_orphans)
		log_event(LOG_WARNING, "node-opened",
			  "node=%s error=\"containers of earlier attempts cannot be removed\"", node->name);
	node->away_us = 0;
	pthread_mutex_lock(&scheduler->mutex);
	node->state = ENGINE_LISTED;
	pthread_mutex_unlock(&scheduler->mutex);
}

void observe_listing(struct node *node, const struct engine_event *event)
{
	struct scheduler *scheduler = node->scheduler;
	bool has_orphans;

	node->listings++;
	networks_find(node, event);
	for (struct job_run *run = scheduler->way_first; run; run = run->way_next)
		if (job_run_on(run, node))
			fold_listing_of_job(scheduler, run, job_run_on(run, node), event);
	scheduler->queue_stirred = true;
	node->clock_set_in_loss = false; /* the events since then are known */
	has_orphans = remove_orphans(node, event);
	networks_compare(node, event);
	if (node->state == ENGINE_ANSWERS)
		node_open(node, has_orphans);
}
