/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/order_give.h"

#include <stdlib.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/create.h"
#include "scheduler/device_claims.h"
#include "scheduler/gateway_keep.h"
#include "scheduler/job_run.h"
#include "scheduler/logs/log_pump.h"
#include "scheduler/observe.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/scheduler_state.h"
#include "store/logs/logs.h"

/* ---- orders for a replica ---- */

/* Orders the engine to read the replica's output, from the position up to which the store has
 * it. */
static void replica_follow(struct scheduler *scheduler, struct job_run *run, struct replica_run *replica)
{
	struct engine *engine = job_run_node_of(run, replica)->engine;
	const struct replica_key *key = &replica->key;
	struct log_position from;
	struct error err AUTO_ERROR = { 0 };

	log_pump_open(scheduler->reconciler.pump, run->plan, job_run_owner(run), key);
	if (log_position_get(scheduler->reconciler.store, key, &from, &err)) {
		log_event(LOG_ERROR, "logs-unfollowed", "job=%s error=\"%s\"", run->row->job_id,
			  err.text ? err.text : "");
		observe_hold(scheduler, run);
		return;
	}
	order_give(&replica->orders, ORDER_FOLLOW);
	log_pump_offered(scheduler->reconciler.pump, key, &from);
	engine->ops->follow_logs(engine, key, &from);
}

static void replica_create(const struct reconciler *reconciler, struct job_run *run,
			   struct replica_run *replica)
{
	struct engine *engine = job_run_node_of(run, replica)->engine;
	struct description description AUTO_DESCRIPTION = { 0 };

	if (!replica_describe(reconciler, run, replica, &description))
		return;
	replica->observed = OBSERVED_CREATING;
	engine->ops->create_replica(engine, &description.spec);
}

static void replica_cut(struct engine *engine, const struct job_run *run, const struct replica_key *key)
{
	engine->ops->link_replica(engine, key, &(struct replica_link){ .network = run->network_status.id });
}

static void replica_restore(struct engine *engine, const struct job_run *run, const struct replica_key *key)
{
	char address[16], alias[REPLICA_NAME_MAX];

	job_run_address(run, key->role, key->index, address);
	replica_address_name(run->plan, key->role, key->index, alias);
	engine->ops->link_replica(engine, key,
				  &(struct replica_link){ .network = run->network_status.id,
							  .address = address,
							  .alias = alias });
}

static void replica_link(struct engine *engine, const struct job_run *run, struct replica_run *replica,
			 const struct order *order)
{
	const enum link_request request = (enum link_request)order->how;

	if (replica->link != request)
		replica->throttle_failures = 0;
	replica->link = request;
	switch (request) {
	case LINK_CUT:
		replica_cut(engine, run, &replica->key);
		break;
	case LINK_RESTORED:
		replica_restore(engine, run, &replica->key);
		break;
	case LINK_SLOWED:
		engine->ops->throttle_replica(engine, &replica->key, (unsigned)order->bytes_per_s);
		break;
	case LINK_HASTENED:
		engine->ops->throttle_replica(engine, &replica->key, 0);
		break;
	case LINK_AS_MADE:
		break;
	}
}

static void replica_execute(struct scheduler *scheduler, struct job_run *run, const struct order *order)
{
	struct replica_run *replica = &run->replicas[order->of];
	struct engine *engine = job_run_node_of(run, replica)->engine;

	if (order->verb < ORDERS_KEPT && order->verb != ORDER_FOLLOW)
		order_give(&replica->orders, order->verb);
	switch (order->verb) {
	case ORDER_STOP:
		engine->ops->stop_replica(engine, &replica->key, order->how);
		break;
	case ORDER_REMOVE:
		engine->ops->remove_replica(engine, &replica->key);
		break;
	case ORDER_FOLLOW:
		replica_follow(scheduler, run, replica);
		break;
	case ORDER_LINK:
		replica_link(engine, run, replica, order);
		break;
	case ORDER_CREATE:
		replica_create(&scheduler->reconciler, run, replica);
		break;
	default:
		replica->observed = OBSERVED_STARTING;
		engine->ops->start_replica(engine, &replica->key);
		break;
	}
}

/* ---- orders of a job ---- */

/* Requests a message when the last service lines of a closed job can be read. */
static void last_words_ask(struct scheduler *scheduler, struct job_run *run)
{
	struct inbox_event *inbox_event = inbox_event_new(INBOX_LAST_WORDS, run->row->id);

	inbox_event->to = scheduler;
	log_barrier(scheduler->reconciler.store, inbox_event_deliver, inbox_event);
	run->last_words = OUTPUT_ENDED;
}

static void image_want(struct job_run *run, enum role role, struct job_node *on)
{
	order_give(&on->images, role);
	on->node->engine->ops->ensure_image(on->node->engine, run->plan->pools[role].image);
}

void order_give_out(struct scheduler *scheduler, struct job_run *run, const struct order *order)
{
	struct reconciler *reconciler = &scheduler->reconciler;
	struct engine *engine = run->nodes->node->engine;

	switch (order->verb) {
	case ORDER_STOP:
	case ORDER_REMOVE:
	case ORDER_FOLLOW:
	case ORDER_LINK:
	case ORDER_CREATE:
	case ORDER_START:
		replica_execute(scheduler, run, order);
		break;
	case ORDER_IMAGE:
		image_want(run, (enum role)order->of, &run->nodes[order->how]);
		break;
	case ORDER_NETWORK:
		run->network = NETWORK_CREATING;
		engine->ops->create_network(engine, job_run_network(run), (unsigned)run->replica_count);
		break;
	case ORDER_LEAVE:
		gateway_leave(reconciler, run);
		pooled_network_leave(&run->nodes->node->pool, run, clock_mono_us(reconciler->clock));
		break;
	case ORDER_GATEWAY_OPEN:
		gateway_open(reconciler, run);
		break;
	case ORDER_GATEWAY_CLOSE:
		gateway_leave(reconciler, run);
		break;
	case ORDER_LAST_WORDS:
		last_words_ask(scheduler, run);
		break;
	}
}

/* ---- orders that belong to no job ---- */

void listing_want(struct node *node, int64_t at_us)
{
	if (!node->common.list_at_us || at_us < node->common.list_at_us)
		node->common.list_at_us = at_us;
}

void orphan_remove(struct node *node, const struct replica_key *key)
{
	struct common_orders *orders = &node->common;

	orders->orphans = memory_resize(orders->orphans, orders->orphan_count + 1, sizeof(*orders->orphans));
	orders->orphans[orders->orphan_count++] = *key;
}

void common_orders_give(struct node *node)
{
	struct common_orders *orders = &node->common;
	struct network_pool *pool = &node->pool;
	struct engine *engine = node->engine;
	unsigned number;
	AUTO(json) json_t *devices = device_claims_order(node->claims, &number);

	if (devices)
		engine->ops->claim_devices(engine, devices, number);
	if (orders->resumes_logs)
		engine->ops->resume_logs(engine);
	for (size_t i = 0; i < orders->orphan_count; i++)
		engine->ops->remove_replica(engine, &orders->orphans[i]);
	for (size_t i = 0; i < pool->doomed_count; i++)
		engine->ops->remove_network(engine, pool->doomed[i]);
	pool->doomed_count = 0;
	if (orders->looks && node->look.asked) /* the engine's connection has not been lost or restored since */
		engine->ops->look_for_networks(engine, node->look.replicas);
	free(orders->orphans);
	*orders = (struct common_orders){ .list_at_us = orders->list_at_us };
	if (!orders->list_at_us || orders->list_at_us > clock_mono_us(node->scheduler->reconciler.clock))
		return;
	orders->list_at_us = 0;
	engine->ops->list(engine);
}
