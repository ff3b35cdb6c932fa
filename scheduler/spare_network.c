/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/spare_network.h"

#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/assignment.h"

/* How much longer than it is kept a network stays while others start: removing it would hold them up. */
enum { PATIENCE_US = 10 * 1000000, LOOK_AFTER_US = 1000000 };

static void item_drop(struct spare_networks *spares, size_t index)
{
	spares->count--;
	memmove(&spares->items[index], &spares->items[index + 1],
		(spares->count - index) * sizeof(spares->items[0]));
}

void spare_network_remove(struct spare_networks *spares, int64_t network)
{
	spares->going++;
	spares->doomed = memory_resize(spares->doomed, spares->doomed_count + 1, sizeof(*spares->doomed));
	spares->doomed[spares->doomed_count++] = network;
}

static void item_remove(struct spare_networks *spares, size_t index)
{
	const int64_t network = spares->items[index].status.job;

	item_drop(spares, index);
	spare_network_remove(spares, network);
}

void spare_network_leave(struct spare_networks *spares, struct job_run *run, int64_t now_us)
{
	const enum network_observed seen = run->network;

	run->network = NETWORK_NONE;
	run->left_network_in = spares->epoch + 1;
	if (seen == NETWORK_CREATING || (seen == NETWORK_READY && (spares->closing || !spares->keep_us)))
		spare_network_remove(spares, job_run_network(run));
	if (seen != NETWORK_READY || spares->closing || !spares->keep_us)
		return;
	if (spares->count == SPARE_NETWORKS_MAX)
		item_remove(spares, 0);
	spares->items[spares->count++] = (struct spare_network){
		.status = run->network_status,
		.turn = run->assignment ? run->assignment->network_turn : 0,
		.left_us = now_us,
	};
}

static bool fits_better(const struct spare_networks *spares, size_t index, size_t best, size_t address_count)
{
	const unsigned capacity = spares->items[index].status.capacity;

	return capacity >= address_count &&
	       (best == spares->count || capacity < spares->items[best].status.capacity);
}

/* The smallest that holds so many; the count of all: none. */
static size_t best_fit(const struct spare_networks *spares, size_t address_count)
{
	size_t best = spares->count;

	for (size_t i = 0; i < spares->count; i++)
		if (fits_better(spares, i, best, address_count))
			best = i;
	return best;
}

const struct spare_network *spare_network_fit(const struct spare_networks *spares, size_t address_count)
{
	const size_t best = best_fit(spares, address_count);

	return best < spares->count ? &spares->items[best] : NULL;
}

bool spare_network_take(struct spare_networks *spares, int64_t network, struct spare_network *ret_taken)
{
	for (size_t i = 0; i < spares->count; i++) {
		if (spares->items[i].status.job != network)
			continue;
		*ret_taken = spares->items[i];
		item_drop(spares, i);
		return true;
	}
	return false;
}

static int64_t kept_until_us(const struct spare_networks *spares, const struct spare_network *item,
			     bool start)
{
	return item->left_us + spares->keep_us + (start ? PATIENCE_US : 0);
}

void spare_networks_remove(struct spare_networks *spares, bool start, int64_t now_us)
{
	while (spares->count &&
	       (spares->closing || kept_until_us(spares, &spares->items[0], start) <= now_us))
		item_remove(spares, 0);
}

bool spare_networks_look(struct spare_networks *spares, int64_t now_us)
{
	if (!spares->look_at_us || spares->look_at_us > now_us)
		return false;
	spares->look_at_us = now_us + LOOK_AFTER_US;
	return true;
}

bool spare_networks_release(struct spare_networks *spares)
{
	while (spares->count)
		item_remove(spares, 0);
	return spares->going != 0;
}

int64_t spare_networks_deadline_us(const struct spare_networks *spares, bool start)
{
	int64_t first = spares->count ? kept_until_us(spares, &spares->items[0], start) : INT64_MAX;

	return spares->look_at_us && spares->look_at_us < first ? spares->look_at_us : first;
}

bool spare_networks_have(const struct spare_networks *spares, int64_t network)
{
	for (size_t i = 0; i < spares->count; i++)
		if (spares->items[i].status.job == network)
			return true;
	return false;
}

static bool is_listed(const struct network_status *listed, size_t count, int64_t network)
{
	for (size_t i = 0; i < count; i++)
		if (listed[i].job == network)
			return true;
	return false;
}

void spare_networks_compare(struct spare_networks *spares, const struct network_status *listed, size_t count)
{
	spares->look_at_us = 0;
	for (size_t i = 0; i < spares->count;)
		if (is_listed(listed, count, spares->items[i].status.job))
			i++;
		else
			item_drop(spares, i);
}

bool spare_networks_are_gone(const struct spare_networks *spares)
{
	return !spares->count && !spares->going && !spares->look_at_us;
}

void spare_networks_forget(struct spare_networks *spares)
{
	spares->count = 0;
	spares->going = 0;
	spares->doomed_count = 0;
	spares->look_at_us = 0; /* a listing comes anyway */
	spares->epoch++;
}

bool spare_network_was_left(const struct spare_networks *spares, const struct job_run *run)
{
	return run->left_network_in == spares->epoch + 1;
}

void spare_network_removed(struct spare_networks *spares)
{
	spares->going -= spares->going != 0;
}

void spare_network_stays(struct spare_networks *spares, int64_t now_us)
{
	spare_network_removed(spares);
	spares->look_at_us = now_us + LOOK_AFTER_US;
}
