/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/observe_networks.h"

#include <stdio.h>

#include "daemon/base/log.h"
#include "scheduler/job_run.h"
#include "scheduler/observe.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/room.h"
#include "scheduler/scheduler_state.h"
#include "store/logs/logs.h"

static unsigned network_turn(const struct job_run *run)
{
	return run->assignment ? run->assignment->network_turn : 0;
}

/* The job that uses the network made for job @network, or that used it last. NULL: every such job is over or has left the
 * network. A job must not leave a network twice, because by then it may be pooled or used by another job. */
static struct job_run *network_holder(const struct node *node, int64_t network)
{
	struct job_run *holder = NULL;

	for (struct job_run *run = node->scheduler->way_first; run; run = run->way_next) {
		if (run->counted && run->nodes->node == node && !pooled_network_was_left(&node->pool, run) &&
		    job_run_network(run) == network && (!holder || network_turn(run) > network_turn(holder)))
			holder = run;
	}
	return holder;
}

void networks_find(struct node *node, const struct engine_event *listing)
{
	for (size_t i = 0; i < listing->network_count; i++) {
		struct job_run *run = network_holder(node, listing->networks[i].job);

		if (!run || job_node_is_observed(run->nodes))
			continue;
		run->network = NETWORK_READY;
		run->network_status = listing->networks[i];
	}
}

void networks_compare(struct node *node, const struct engine_event *listing)
{
	struct network_pool *pool = &node->pool;

	network_pool_compare(pool, listing->networks, listing->network_count);
	for (size_t i = 0; i < listing->network_count; i++)
		if (!network_holder(node, listing->networks[i].job) &&
		    !network_pool_has(pool, listing->networks[i].job))
			pooled_network_remove(pool, listing->networks[i].job);
}

/* How often the engine is asked for a block: other jobs, instances or programs may have given one back. */
enum {
	ASK_AGAIN_US = 2000000,
	ASK_SOON_US = 50000, /* networks that are being made or removed change the answer */
	LOOK_HOLDS_US = 1000000,
};

/* Whether the log already says that no address block is free for the network that the job waits for. */
static bool lack_was_logged(const struct job_run *run)
{
	return run->lack_logged_after == run->networks_had + 1;
}

/* Called when no address block is free for the job's network. First gives back the addresses of pooled networks. */
static void network_lack(struct node *node, struct job_run *run, const char *text)
{
	if (network_pool_release(&node->pool)) {
		observe_hold(node->scheduler, run);
		return;
	}
	snprintf(node->network_lack, sizeof(node->network_lack), "No network can be made now: %s", text);
	job_run_hold(run, clock_mono_us(node->scheduler->reconciler.clock) + ASK_AGAIN_US);
	if (lack_was_logged(run))
		return;
	run->lack_logged_after = run->networks_had + 1;
	notes_say(&run->notes, SEVERITY_WARNING, "The job waits for a network: %s", text);
}

static void network_fail(struct node *node, struct job_run *run, enum status status, const char *text)
{
	run->network = NETWORK_NONE;
	if (status == STATUS_UNAVAILABLE)
		observe_lost_answer(run, run->nodes);
	else if (status == STATUS_RESOURCE_EXHAUSTED)
		network_lack(node, run, text);
	else if (run->replica_count)
		replica_refuse(&run->replicas[0], refusal_kind(status), text);
}

static bool awaits_network(const struct job_run *run)
{
	return run->row->state == JOB_PREPARING && run->row->outcome == JOB_STATE_UNSPECIFIED &&
	       run->network != NETWORK_READY && run->counted;
}

void network_look(struct node *node, unsigned replicas)
{
	struct network_look *look = &node->look;

	look->asked = true;
	look->again_us = 0;
	look->replicas = replicas;
	node->common.looks = true;
}

void network_enter(struct job_run *run)
{
	struct node *node = run->nodes->node;
	struct network_look *look = &node->look;
	const int64_t network = run->assignment ? run->assignment->network : 0;
	struct pooled_network taken;

	if (!network || !pooled_network_take(&node->pool, network, &taken)) {
		look->free -= look->free != 0;
		return;
	}
	run->network = NETWORK_READY;
	run->network_status = taken.status;
	log_event(LOG_DEBUG, "network-taken", "job=%s network=%lld turn=%u", run->row->job_id,
		  (long long)network, run->assignment->network_turn);
}

static unsigned awaiting_count(const struct node *node)
{
	unsigned count = 0;

	for (const struct job_run *run = node->scheduler->way_first; run; run = run->way_next)
		count += run->nodes->node == node && awaits_network(run);
	return count;
}

static void look_lacks(struct node *node, const char *text, int64_t now_us)
{
	struct network_look *look = &node->look;

	if (network_pool_release(&node->pool)) {
		look->again_us = now_us + ASK_SOON_US;
		return;
	}
	look->again_us = now_us + ASK_AGAIN_US;
	if (!look->lacks)
		log_event(LOG_WARNING, "networks-short", "error=\"%s\"", text);
	look->lacks = true;
	snprintf(node->network_lack, sizeof(node->network_lack), "No network can be made now: %s", text);
}

void networks_reported(struct node *node, const struct engine_event *event)
{
	const int64_t now_us = clock_mono_us(node->scheduler->reconciler.clock);
	const unsigned awaiting = awaiting_count(node);
	struct network_look *look = &node->look;

	look->asked = false;
	look->free = 0;
	look->until_us = now_us + LOOK_HOLDS_US;
	switch (event->status) {
	case STATUS_OK:
		look->lacks = false;
		/* Jobs that await a network may not have taken their blocks yet, so one block for each is not counted
		 * as free. */
		look->free = event->free_blocks > awaiting ? event->free_blocks - awaiting : 0;
		look->again_us = look->free ? 0 : now_us + ASK_SOON_US;
		break;
	case STATUS_RESOURCE_EXHAUSTED:
		look_lacks(node, event->text, now_us);
		break;
	case STATUS_UNAVAILABLE:
		look->again_us = now_us + ASK_AGAIN_US;
		break;
	default: /* unknown: let the next job try, so that it fails with the engine's error text */
		look->lacks = false;
		look->free = 1;
		break;
	}
	node->scheduler->queue_stirred = true;
}

void networks_resolve(struct node *node)
{
	const struct network_look *look = &node->look;
	bool awaited = look->lacks && node->scheduler->queue_count;

	for (const struct job_run *run = node->network_lack[0] ? node->scheduler->way_first : NULL;
	     run && !awaited; run = run->way_next)
		awaited = run->nodes->node == node && awaits_network(run);
	room_network_lack(node, awaited ? node->network_lack : "");
}

void network_update(struct node *node, const struct engine_event *event)
{
	struct job_run *run = network_holder(node, event->job);

	if (event->kind == ENGINE_NETWORK_REMOVED)
		pooled_network_removed(&node->pool);
	if (!run || run->network != NETWORK_CREATING)
		return;
	job_run_touch(run);
	if (event->kind == ENGINE_NETWORK_READY) {
		run->network = NETWORK_READY;
		run->network_status = event->networks[0];
		if (!lack_was_logged(run))
			node->network_lack[0] = '\0';
		run->networks_had++;
	} else if (event->kind == ENGINE_NETWORK_FAILED) {
		network_fail(node, run, event->status, event->text);
	}
}
