/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/network_pool.h"

#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/assignment.h"

/* PATIENCE_US: how much longer a network is kept while other jobs are being started, because its removal would delay
 * them. */
enum { PATIENCE_US = 10 * 1000000, LOOK_AFTER_US = 1000000, LOOK_MOST_US = 64 * 1000000 };

static void item_drop(struct network_pool *pool, size_t index)
{
	pool->count--;
	memmove(&pool->items[index], &pool->items[index + 1], (pool->count - index) * sizeof(pool->items[0]));
}

void pooled_network_remove(struct network_pool *pool, int64_t network)
{
	pool->going++;
	pool->doomed = memory_resize(pool->doomed, pool->doomed_count + 1, sizeof(*pool->doomed));
	pool->doomed[pool->doomed_count++] = network;
}

static void item_remove(struct network_pool *pool, size_t index)
{
	const int64_t network = pool->items[index].status.job;

	item_drop(pool, index);
	pooled_network_remove(pool, network);
}

void pooled_network_leave(struct network_pool *pool, struct job_run *run, int64_t now_us)
{
	const bool is_kept = run->network == NETWORK_READY && !pool->closing && pool->keep_us &&
			     !job_run_lacks_node(run);
	const bool is_there = run->network != NETWORK_NONE;

	run->network = NETWORK_NONE;
	run->left_network_in = pool->epoch + 1;
	if (is_there && !is_kept)
		pooled_network_remove(pool, job_run_network(run));
	if (!is_kept)
		return;
	if (pool->count == POOLED_NETWORKS_MAX)
		item_remove(pool, 0);
	pool->items[pool->count++] = (struct pooled_network){
		.status = run->network_status,
		.turn = run->assignment ? run->assignment->network_turn : 0,
		.left_us = now_us,
	};
}

static bool fits_better(const struct network_pool *pool, size_t index, size_t best, size_t address_count)
{
	const unsigned capacity = pool->items[index].status.capacity;

	return capacity >= address_count &&
	       (best == pool->count || capacity < pool->items[best].status.capacity);
}

/* The index of the smallest network with at least @address_count addresses; pool->count: there is none. */
static size_t best_fit(const struct network_pool *pool, size_t address_count)
{
	size_t best = pool->count;

	for (size_t i = 0; i < pool->count; i++)
		if (fits_better(pool, i, best, address_count))
			best = i;
	return best;
}

const struct pooled_network *pooled_network_fit(const struct network_pool *pool, size_t address_count)
{
	const size_t best = best_fit(pool, address_count);

	return best < pool->count ? &pool->items[best] : NULL;
}

bool pooled_network_take(struct network_pool *pool, int64_t network, struct pooled_network *ret_taken)
{
	for (size_t i = 0; i < pool->count; i++) {
		if (pool->items[i].status.job != network)
			continue;
		*ret_taken = pool->items[i];
		item_drop(pool, i);
		return true;
	}
	return false;
}

static int64_t kept_until_us(const struct network_pool *pool, const struct pooled_network *item, bool start)
{
	return item->left_us + pool->keep_us + (start ? PATIENCE_US : 0);
}

void network_pool_remove(struct network_pool *pool, bool start, int64_t now_us)
{
	while (pool->count && (pool->closing || kept_until_us(pool, &pool->items[0], start) <= now_us))
		item_remove(pool, 0);
}

bool network_pool_look(struct network_pool *pool, int64_t now_us)
{
	if (!pool->look_at_us || pool->look_at_us > now_us)
		return false;
	pool->look_at_us = now_us + LOOK_AFTER_US;
	return true;
}

bool network_pool_release(struct network_pool *pool)
{
	while (pool->count)
		item_remove(pool, 0);
	return pool->going != 0;
}

int64_t network_pool_deadline_us(const struct network_pool *pool, bool start)
{
	int64_t first = pool->count ? kept_until_us(pool, &pool->items[0], start) : INT64_MAX;

	return pool->look_at_us && pool->look_at_us < first ? pool->look_at_us : first;
}

bool network_pool_has(const struct network_pool *pool, int64_t network)
{
	for (size_t i = 0; i < pool->count; i++)
		if (pool->items[i].status.job == network)
			return true;
	return false;
}

void network_pool_compare(struct network_pool *pool, const struct network_status *listed, size_t count)
{
	pool->look_at_us = 0;
	for (size_t i = 0; i < pool->count;)
		if (networks_have(listed, count, pool->items[i].status.job))
			i++;
		else
			item_drop(pool, i);
}

bool network_pool_is_empty(const struct network_pool *pool)
{
	return !pool->count && !pool->going && !pool->look_at_us;
}

void network_pool_forget(struct network_pool *pool)
{
	pool->count = 0;
	pool->going = 0;
	pool->doomed_count = 0;
	pool->look_at_us = 0; /* a listing comes anyway */
	pool->look_pause_us = 0;
	pool->epoch++;
}

bool pooled_network_was_left(const struct network_pool *pool, const struct job_run *run)
{
	return run->left_network_in == pool->epoch + 1;
}

void pooled_network_removed(struct network_pool *pool)
{
	pool->going -= pool->going != 0;
	pool->look_pause_us = 0;
}

void pooled_network_stays(struct network_pool *pool, int64_t now_us)
{
	const int64_t pause_us = pool->look_pause_us ? pool->look_pause_us : LOOK_AFTER_US;

	pool->going -= pool->going != 0;
	pool->look_at_us = now_us + pause_us;
	pool->look_pause_us = pause_us < LOOK_MOST_US ? 2 * pause_us : pause_us;
}
