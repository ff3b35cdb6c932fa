/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/packing.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

enum { WHOLE = 1000000 };

/* A bin while replicas are put into it. Of equal bins without replicas of this job only the first one is considered. */
struct slot {
	unsigned bin;
	int64_t free[PACK_DIMENSIONS];
	unsigned replicas; /* replicas of this job in the bin */
	bool follows;      /* equal to the slot before it, when both are empty */
};

DEFINE_AUTO(slots, struct slot *, free)
DEFINE_AUTO(numbers, unsigned *, free)

struct work {
	const struct packing *packing;
	struct slot *slots; /* the bins that can take at least one replica */
	size_t slot_count;
	unsigned order[PACK_SHAPES]; /* the shapes, the hardest to place first */
	unsigned first[PACK_SHAPES]; /* index in @result of a shape's first replica */
	int64_t weight[PACK_SHAPES]; /* one replica's share of the whole job */
	unsigned left[PACK_SHAPES];
	unsigned total; /* replicas */
	unsigned opened;
	unsigned *result;
};

int64_t pack_size(const struct packing *packing, const struct pack_bin *bin, unsigned shape, int dimension)
{
	const int64_t size = packing->shapes[shape].size[dimension];

	return (packing->clamped >> dimension & 1) && size > bin->room[dimension] ? bin->room[dimension]
										  : size;
}

static const struct pack_bin *bin_of(const struct work *work, const struct slot *slot)
{
	return &work->packing->bins[slot->bin];
}

/* How many more replicas of @shape the free room takes, at most @most. */
static unsigned copies(const struct work *work, const struct pack_bin *bin, const int64_t *free,
		       unsigned shape, unsigned most)
{
	if (!(bin->shapes >> shape & 1))
		return 0;
	for (int i = 0; i < PACK_DIMENSIONS; i++) {
		const int64_t size = pack_size(work->packing, bin, shape, i);
		const int64_t fit = size <= 0 ? most : free[i] < size ? 0 : free[i] / size;

		if (fit < most)
			most = (unsigned)fit;
	}
	return most;
}

static void take(const struct work *work, struct slot *slot, unsigned shape, int64_t count)
{
	for (int i = 0; i < PACK_DIMENSIONS; i++)
		slot->free[i] -= count * pack_size(work->packing, bin_of(work, slot), shape, i);
	slot->replicas = (unsigned)(slot->replicas + count);
}

/* ---- preparation ---- */

static int compare(int64_t one, int64_t other)
{
	return one < other ? -1 : one > other;
}

/* Sorts equal bins next to each other, the bins with the most free room first. */
static int bins_compare(const void *one_slot, const void *other_slot, void *packing)
{
	const struct pack_bin *bins = ((const struct packing *)packing)->bins;
	const struct slot *one = one_slot, *other = other_slot;
	const struct pack_bin *a = &bins[one->bin], *b = &bins[other->bin];
	int order = compare(b->free[PACK_DEVICES], a->free[PACK_DEVICES]);

	for (int i = 0; !order && i < PACK_DIMENSIONS; i++)
		order = compare(b->free[i], a->free[i]);
	for (int i = 0; !order && i < PACK_DIMENSIONS; i++)
		order = compare(b->room[i], a->room[i]);
	if (!order)
		order = compare(a->shapes, b->shapes);
	if (!order)
		order = compare(a->load, b->load);
	return order ? order : compare(one->bin, other->bin);
}

static bool bins_alike(const struct pack_bin *a, const struct pack_bin *b)
{
	return memcmp(a->free, b->free, sizeof(a->free)) == 0 &&
	       memcmp(a->room, b->room, sizeof(a->room)) == 0 && a->shapes == b->shapes;
}

static void slots_sort(struct work *work)
{
	qsort_r(work->slots, work->slot_count, sizeof(*work->slots), bins_compare, (void *)work->packing);
	for (size_t i = 1; i < work->slot_count; i++)
		work->slots[i].follows =
			bins_alike(bin_of(work, &work->slots[i - 1]), bin_of(work, &work->slots[i]));
}

static void slots_empty(struct work *work)
{
	for (size_t i = 0; i < work->slot_count; i++) {
		struct slot *slot = &work->slots[i];

		if (!slot->replicas)
			continue;
		memcpy(slot->free, bin_of(work, slot)->free, sizeof(slot->free));
		slot->replicas = 0;
	}
	for (unsigned shape = 0; shape < PACK_SHAPES; shape++)
		work->left[shape] = work->packing->shapes[shape].count;
	work->opened = 0;
}

static bool is_harder(const struct pack_shape *one, const struct pack_shape *other)
{
	static const int dimensions[] = { PACK_DEVICES, PACK_CPU, PACK_MEMORY };

	for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
		if (one->size[dimensions[i]] != other->size[dimensions[i]])
			return one->size[dimensions[i]] > other->size[dimensions[i]];
	return false;
}

static void shapes_order(struct work *work)
{
	const struct pack_shape *shapes = work->packing->shapes;
	double all[PACK_DIMENSIONS] = { 0 };

	for (unsigned i = 0; i < PACK_SHAPES; i++) {
		unsigned at = i;

		for (; at > 0 && is_harder(&shapes[i], &shapes[work->order[at - 1]]); at--)
			work->order[at] = work->order[at - 1];
		work->order[at] = i;
		work->first[i] = work->total;
		work->total += shapes[i].count;
		for (int k = 0; k < PACK_DIMENSIONS; k++)
			all[k] += (double)shapes[i].size[k] * shapes[i].count;
	}
	for (unsigned i = 0; i < PACK_SHAPES; i++) {
		work->weight[i] = 1; /* without sizes each replica counts the same */
		for (int k = 0; k < PACK_CONTAINERS; k++) {
			const double part = all[k] > 0 ? (double)shapes[i].size[k] / all[k] * WHOLE : 0;

			if (part > (double)work->weight[i])
				work->weight[i] = (int64_t)part;
		}
	}
}

/* ---- bounds ---- */

/* Makes slots of the bins that can take a replica. False: the job cannot fit, because all bins together have too little
 * free room, or because the replicas of one shape do not fit even without the other shapes. */
static bool slots_find(struct work *work)
{
	const struct packing *packing = work->packing;
	unsigned left[PACK_SHAPES];
	double wanted[PACK_DIMENSIONS] = { 0 }, there[PACK_DIMENSIONS] = { 0 };

	memcpy(left, work->left, sizeof(left));
	for (size_t i = 0; i < packing->bin_count; i++) {
		const struct pack_bin *bin = &packing->bins[i];
		struct slot *slot = &work->slots[work->slot_count];
		bool takes = false;

		for (unsigned shape = 0; shape < PACK_SHAPES; shape++) {
			const unsigned count = copies(work, bin, bin->free, shape, work->left[shape]);

			takes |= count > 0;
			left[shape] -= count < left[shape] ? count : left[shape];
		}
		if (!takes)
			continue;
		*slot = (struct slot){ .bin = (unsigned)i };
		memcpy(slot->free, bin->free, sizeof(slot->free));
		work->slot_count++;
		for (int k = 0; k < PACK_DIMENSIONS; k++)
			there[k] += bin->free[k] > 0 ? (double)bin->free[k] : 0;
	}
	for (unsigned shape = 0; shape < PACK_SHAPES; shape++) {
		if (left[shape])
			return false;
		for (int k = 0; k < PACK_DIMENSIONS; k++)
			wanted[k] += (double)packing->shapes[shape].size[k] * packing->shapes[shape].count;
	}
	for (int k = 0; k < PACK_DIMENSIONS; k++)
		if (!(packing->clamped >> k & 1) && wanted[k] > there[k])
			return false;
	return true;
}

/* Makes slots of all bins, because an overcommitted job may use any of them. */
static void slots_find_all(struct work *work)
{
	for (work->slot_count = 0; work->slot_count < work->packing->bin_count; work->slot_count++) {
		const size_t i = work->slot_count;

		work->slots[i] = (struct slot){ .bin = (unsigned)i };
		memcpy(work->slots[i].free, work->packing->bins[i].free, sizeof(work->slots[i].free));
	}
	slots_sort(work);
}

static int by_size(const void *one, const void *other)
{
	return -compare(*(const int64_t *)one, *(const int64_t *)other);
}

/* A lower bound for the number of bins: no arrangement needs fewer. */
static unsigned bins_least(const struct work *work)
{
	const struct packing *packing = work->packing;
	int64_t *free_room = memory_calloc(work->slot_count + 1, sizeof(*free_room));
	unsigned least = 1;

	for (int k = 0; k < PACK_DIMENSIONS; k++) {
		double wanted = 0;
		unsigned count = 0;

		if (packing->clamped >> k & 1)
			continue; /* a replica's size depends on the bin */
		for (unsigned shape = 0; shape < PACK_SHAPES; shape++)
			wanted += (double)packing->shapes[shape].size[k] * packing->shapes[shape].count;
		for (size_t i = 0; i < work->slot_count; i++)
			free_room[i] = bin_of(work, &work->slots[i])->free[k];
		qsort(free_room, work->slot_count, sizeof(*free_room), by_size);
		for (; wanted > 0 && count < work->slot_count; count++)
			wanted -= (double)free_room[count];
		if (count > least)
			least = count;
	}
	free(free_room);
	return least;
}

/* ---- the greedy choice ---- */

/* What one bin would take of the replicas that are still to be placed. */
struct fill {
	unsigned counts[PACK_SHAPES];
	int64_t value; /* the sum of the weights of these replicas */
	int64_t rest[PACK_DIMENSIONS];
};

static struct fill fill_of(const struct work *work, const struct slot *slot)
{
	const struct pack_bin *bin = bin_of(work, slot);
	struct fill fill = { .value = 0 };

	memcpy(fill.rest, slot->free, sizeof(fill.rest));
	for (unsigned i = 0; i < PACK_SHAPES; i++) {
		const unsigned shape = work->order[i];
		const unsigned count = copies(work, bin, fill.rest, shape, work->left[shape]);

		fill.counts[shape] = count;
		fill.value += count * work->weight[shape];
		for (int k = 0; k < PACK_DIMENSIONS; k++)
			fill.rest[k] -= count * pack_size(work->packing, bin, shape, k);
	}
	return fill;
}

/* Whether @one is better than @other: it takes more of the job, or an equal part and leaves less room over. Devices are
 * compared first, so that bins with free devices stay for jobs that want devices. */
static bool is_better(const struct work *work, const struct fill *one, const struct slot *one_slot,
		      const struct fill *other, const struct slot *other_slot)
{
	static const int dimensions[] = { PACK_DEVICES, PACK_CPU, PACK_MEMORY };
	int order = compare(other->value, one->value);

	for (size_t i = 0; !order && i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
		order = compare(one->rest[dimensions[i]], other->rest[dimensions[i]]);
	if (!order)
		order = compare(bin_of(work, one_slot)->load, bin_of(work, other_slot)->load);
	return order ? order < 0 : one_slot->bin < other_slot->bin;
}

static void fill_take(struct work *work, struct slot *slot, const struct fill *fill)
{
	for (unsigned shape = 0; shape < PACK_SHAPES; shape++) {
		unsigned *const places = &work->result[work->first[shape]];
		const unsigned count = work->packing->shapes[shape].count;

		for (unsigned i = 0; i < fill->counts[shape]; i++)
			places[count - work->left[shape] + i] = slot->bin;
		work->left[shape] -= fill->counts[shape];
		if (fill->counts[shape])
			take(work, slot, shape, fill->counts[shape]);
	}
	work->opened++;
}

static bool is_done(const struct work *work)
{
	for (unsigned shape = 0; shape < PACK_SHAPES; shape++)
		if (work->left[shape])
			return false;
	return true;
}

/* Whether enough replicas are still to be placed for the same fill once more. */
static bool fill_repeats(const struct work *work, const struct fill *fill)
{
	for (unsigned shape = 0; shape < PACK_SHAPES; shape++)
		if (fill->counts[shape] > work->left[shape])
			return false;
	return true;
}

/* Fills one bin after the other, each time the bin that takes most of the job. Equal bins get the same fill at once,
 * because no other bin takes more. */
static bool pack_greedily(struct work *work)
{
	const size_t count = work->slot_count;

	slots_empty(work);
	while (!is_done(work)) {
		struct slot *best = NULL;
		struct fill best_fill = { .value = 0 };

		for (size_t i = 0; i < count; i++) {
			struct slot *slot = &work->slots[i];
			struct fill fill;

			if (slot->replicas || (slot->follows && i > 0 && !work->slots[i - 1].replicas))
				continue;
			fill = fill_of(work, slot);
			if (fill.value && (!best || is_better(work, &fill, slot, &best_fill, best))) {
				best = slot;
				best_fill = fill;
			}
		}
		if (!best)
			return false;
		do {
			fill_take(work, best, &best_fill);
			best++;
		} while (best < work->slots + count && best->follows && !best->replicas && !is_done(work) &&
			 fill_repeats(work, &best_fill));
	}
	return true;
}

/* ---- the search ---- */

struct search {
	struct work *work;
	unsigned limit;  /* the maximum number of bins */
	unsigned steps;  /* the number of steps that are left */
	unsigned *slots; /* the slot of each replica, in the order of the search */
};

static unsigned shape_at(const struct work *work, unsigned replica, bool *ret_first)
{
	unsigned i = 0;

	while (replica >= work->packing->shapes[work->order[i]].count)
		replica -= work->packing->shapes[work->order[i++]].count;
	*ret_first = replica == 0;
	return work->order[i];
}

static bool search_from(struct search *search, unsigned replica);

static bool slot_try(struct search *search, unsigned replica, unsigned shape, size_t at)
{
	struct work *work = search->work;
	struct slot *slot = &work->slots[at];
	const bool opens = !slot->replicas;
	bool found;

	if ((opens && work->opened == search->limit) ||
	    !copies(work, bin_of(work, slot), slot->free, shape, 1))
		return false;
	take(work, slot, shape, 1);
	work->opened += opens;
	search->slots[replica] = (unsigned)at;
	found = search_from(search, replica + 1);
	take(work, slot, shape, -1);
	work->opened -= opens;
	return found;
}

/* Places @replica and all later ones; true: all have a slot. Replicas of one shape are interchangeable: each goes to the
 * slot of the one before it, or to a later slot. Equal slots are interchangeable too: only the first empty one is tried. */
static bool search_from(struct search *search, unsigned replica)
{
	struct work *work = search->work;
	const size_t count = work->slot_count;
	bool is_first;
	unsigned shape;

	if (replica == work->total)
		return true;
	shape = shape_at(work, replica, &is_first);
	for (size_t i = is_first ? 0 : search->slots[replica - 1]; i < count; i++) {
		const struct slot *slot = &work->slots[i];

		if (!search->steps)
			return false;
		search->steps--;
		if (!slot->replicas && slot->follows && i > 0 && !work->slots[i - 1].replicas)
			continue;
		if (slot_try(search, replica, shape, i))
			return true;
	}
	return false;
}

/* Looks for an arrangement in at most @limit bins. */
static enum pack_outcome pack_searching(struct work *work, unsigned limit, unsigned *steps)
{
	AUTO(numbers) unsigned *slots = memory_calloc(work->total, sizeof(*slots));
	struct search search = { .work = work, .limit = limit, .steps = *steps, .slots = slots };
	unsigned next[PACK_SHAPES];
	bool found, is_first;

	slots_empty(work);
	found = search_from(&search, 0);
	*steps = search.steps;
	if (!found)
		return search.steps ? PACK_NONE : PACK_UNDECIDED;
	memcpy(next, work->first, sizeof(next));
	for (unsigned i = 0; i < work->total; i++)
		work->result[next[shape_at(work, i, &is_first)]++] = work->slots[slots[i]].bin;
	return PACK_FITS;
}

/* ---- overcommitment ---- */

/* The largest share of a soft dimension in use, with one more replica; less than 0: a hard dimension is short. */
static double load_with(const struct work *work, const struct slot *slot, unsigned shape)
{
	const struct pack_bin *bin = bin_of(work, slot);
	double load = 0;

	if (!(bin->shapes >> shape & 1))
		return -1;
	for (int k = 0; k < PACK_DIMENSIONS; k++) {
		const int64_t size = pack_size(work->packing, bin, shape, k);
		const double used = (double)(bin->room[k] - slot->free[k] + size);

		if (!(work->packing->soft >> k & 1)) {
			if (size > 0 && slot->free[k] < size)
				return -1;
		} else if (bin->room[k] > 0 && used / (double)bin->room[k] > load) {
			load = used / (double)bin->room[k];
		}
	}
	return load;
}

/* Puts all replicas into @slot. Returns the highest load_with() of them; less than 0: some replica cannot go there. */
static double load_with_all(struct work *work, struct slot *slot)
{
	double load = 0;

	for (unsigned shape = 0; load >= 0 && shape < PACK_SHAPES; shape++)
		for (unsigned i = 0; load >= 0 && i < work->packing->shapes[shape].count; i++) {
			const double with = load_with(work, slot, shape);

			load = with < 0 || with > load ? with : load;
			take(work, slot, shape, 1);
		}
	return load;
}

static bool pack_whole(struct work *work)
{
	const struct slot *best = NULL;
	double best_load = 0;

	for (size_t k = 0; k < work->slot_count; k++) {
		const double load = load_with_all(work, &work->slots[k]);

		if (load >= 0 && (!best || load < best_load)) {
			best = &work->slots[k];
			best_load = load;
		}
	}
	for (unsigned i = 0; best && i < work->total; i++)
		work->result[i] = best->bin;
	return best;
}

static bool pack_spreading(struct work *work)
{
	slots_empty(work);
	for (unsigned i = 0; i < PACK_SHAPES; i++) {
		const unsigned shape = work->order[i];

		while (work->left[shape]) {
			struct slot *best = NULL;
			double best_load = 0;

			for (size_t k = 0; k < work->slot_count; k++) {
				const double load = load_with(work, &work->slots[k], shape);

				if (load >= 0 && (!best || load < best_load)) {
					best = &work->slots[k];
					best_load = load;
				}
			}
			if (!best)
				return false;
			take(work, best, shape, 1);
			work->result[work->first[shape] + work->packing->shapes[shape].count -
				     work->left[shape]--] = best->bin;
		}
	}
	return true;
}

/* ---- packing a job ---- */

static unsigned bins_used(const struct work *work)
{
	AUTO(numbers) unsigned *seen = memory_calloc(work->packing->bin_count + 1, sizeof(*seen));
	unsigned used = 0;

	for (unsigned i = 0; i < work->total; i++)
		used += !seen[work->result[i]]++;
	return used;
}

/* Packs the job into the nodes' free room, without overcommitment. */
static enum pack_outcome pack_within(struct work *work)
{
	unsigned steps = PACK_STEPS, most, least;
	enum pack_outcome outcome, searched = PACK_FITS;

	if (!slots_find(work))
		return PACK_NONE;
	slots_sort(work);
	outcome = pack_greedily(work) ? PACK_FITS : PACK_UNDECIDED;
	if (work->packing->whole) /* if some bin can take the whole job, the greedy choice has taken it first */
		return outcome == PACK_FITS && work->opened == 1 ? PACK_FITS : PACK_NONE;
	if (work->total > PACK_SEARCHED || (outcome == PACK_FITS && work->opened == 1))
		return outcome;
	most = outcome == PACK_FITS ? work->opened : work->total + 1;
	least = bins_least(work);
	while (searched == PACK_FITS && most > least) {
		searched = pack_searching(work, most - 1, &steps);
		if (searched == PACK_FITS)
			most = bins_used(work);
		if (outcome != PACK_FITS)
			outcome = searched;
	}
	return outcome;
}

enum pack_outcome pack(const struct packing *packing, unsigned *ret_bins)
{
	AUTO(slots) struct slot *slots = memory_calloc(packing->bin_count + 1, sizeof(*slots));
	struct work work = { .packing = packing, .slots = slots, .result = ret_bins };
	enum pack_outcome outcome;

	shapes_order(&work);
	if (!work.total)
		return PACK_FITS;
	slots_empty(&work);
	outcome = pack_within(&work);
	if (outcome == PACK_FITS || !packing->soft)
		return outcome;
	slots_find_all(&work);
	return (packing->whole ? pack_whole(&work) : pack_spreading(&work)) ? PACK_OVERCOMMITS : outcome;
}
