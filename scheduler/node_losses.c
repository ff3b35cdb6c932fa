/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/node_losses.h"

#include <stdbool.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "scheduler/engine/engine.h"
#include "scheduler/job_run.h"
#include "scheduler/node.h"
#include "scheduler/scheduler_state.h"

static bool another_is_listed(const struct scheduler *scheduler, const struct node *node)
{
	for (const struct node *other = scheduler->nodes; other < scheduler->nodes + scheduler->node_count;
	     other++)
		if (other != node && other->state == ENGINE_LISTED)
			return true;
	return false;
}

enum { GONE_PATIENCE_US = 5000000, WAY_LOOK_US = 1000000 };

static int64_t later(int64_t one_us, int64_t other_us)
{
	return one_us > other_us ? one_us : other_us;
}

/* When the node will be lost according to this daemon's own observations, without the swarm's reports. */
static int64_t silence_us(const struct scheduler *scheduler, const struct node *node)
{
	const struct node *main = scheduler->nodes;
	const int64_t now_us = clock_mono_us(scheduler->reconciler.clock);
	const struct engine_way way = node->engine && node->engine->ops->way
					      ? node->engine->ops->way(node->engine)
					      : (struct engine_way){ INT64_MAX, 0 };
	int64_t since_us = node->away_us;

	/* While the way to the node (struct engine_way) was closed, the node may have been well: that time does not
	 * count. */
	if (way.closed_ago_us < INT64_MAX)
		since_us = later(since_us, now_us - way.closed_ago_us);
	if (node != main)
		since_us = later(since_us, main->up_us);
	/* The way was not seen open since then. It may lead through a machine that hangs, which is not known yet, so
	 * the node's silence proves nothing: look again later. */
	if (way.open_ago_us == INT64_MAX || now_us - way.open_ago_us < since_us)
		return now_us + WAY_LOOK_US;
	return since_us + scheduler->reconciler.node_patience_us;
}

/* When the node will be lost if it stays away (monotonic); INT64_MAX: never, or it is lost already. */
static int64_t loss_us(const struct scheduler *scheduler, const struct node *node)
{
	const struct node *main = scheduler->nodes;
	const int64_t patience_us = scheduler->reconciler.node_patience_us;
	int64_t at_us;
	bool counts;

	if (!patience_us || !node->away_us || node->state >= ENGINE_ANSWERS || node->is_lost || node->is_twin)
		return INT64_MAX;
	counts = node == main ? !scheduler->nodes_span && another_is_listed(scheduler, node)
			      : main->state == ENGINE_LISTED;
	if (!counts)
		return INT64_MAX;
	at_us = silence_us(scheduler, node);
	/* The swarm's managers hear from the node directly, so their report counts even if this daemon's way to it is
	 * closed. */
	if (node->gone_us && later(node->gone_us, node->away_us) + GONE_PATIENCE_US < at_us)
		at_us = later(node->gone_us, node->away_us) + GONE_PATIENCE_US;
	return at_us;
}

static void node_lose(struct scheduler *scheduler, struct node *node)
{
	node->is_lost = true;
	log_event(LOG_WARNING, "node-lost", "node=%s gone=%d error=\"%s\"", node->name, node->gone_us != 0, node->text);
	for (struct job_run *run = scheduler->way_first; run; run = run->way_next)
		if (run->counted && job_run_on(run, node))
			job_run_touch(run);
}

void node_losses_look(struct scheduler *scheduler)
{
	const int64_t now_us = clock_mono_us(scheduler->reconciler.clock);

	for (struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count; node++)
		if (loss_us(scheduler, node) <= now_us)
			node_lose(scheduler, node);
}

int64_t node_losses_deadline_us(const struct scheduler *scheduler)
{
	int64_t at_us = INT64_MAX;

	for (const struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count;
	     node++) {
		const int64_t loss = loss_us(scheduler, node);

		at_us = loss < at_us ? loss : at_us;
	}
	return at_us;
}
