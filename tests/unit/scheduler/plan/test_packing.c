/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/packing.h"

#include <string.h>

#include "tests/unit/testing.h"

enum { BINS = 5, REPLICAS_MAX = 7, ROUNDS = 3000 };
enum { SOFT_CPU = 1 << PACK_CPU | 1 << PACK_MEMORY };

static uint64_t seed;

/* xorshift64* */
static unsigned random_below(unsigned bound)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * UINT64_C(2685821657736338717)) >> 33) % bound;
}

static unsigned total_of(const struct packing *packing)
{
	unsigned total = 0;

	for (unsigned shape = 0; shape < PACK_SHAPES; shape++)
		total += packing->shapes[shape].count;
	return total;
}

static unsigned shape_of(const struct packing *packing, unsigned replica)
{
	unsigned shape = 0;

	while (replica >= packing->shapes[shape].count)
		replica -= packing->shapes[shape++].count;
	return shape;
}

/* Whether no bin is overcommitted, and each replica is in an allowed bin. */
static bool holds(const struct packing *packing, const unsigned *bins, unsigned hard)
{
	int64_t left[16][PACK_DIMENSIONS];

	assert_true(packing->bin_count <= 16);
	for (size_t i = 0; i < packing->bin_count; i++)
		memcpy(left[i], packing->bins[i].free, sizeof(left[i]));
	for (unsigned i = 0; i < total_of(packing); i++) {
		const unsigned shape = shape_of(packing, i);
		const struct pack_bin *bin = &packing->bins[bins[i]];

		if (bins[i] >= packing->bin_count || !(bin->shapes >> shape & 1))
			return false;
		for (int k = 0; k < PACK_DIMENSIONS; k++) {
			const int64_t size = pack_size(packing, bin, shape, k);

			left[bins[i]][k] -= size;
			if ((hard >> k & 1) && size && left[bins[i]][k] < 0)
				return false;
		}
	}
	return true;
}

static unsigned count_used(const struct packing *packing, const unsigned *bins)
{
	unsigned used = 0;

	for (unsigned i = 0; i < packing->bin_count; i++) {
		bool is_used = false;

		for (unsigned k = 0; k < total_of(packing); k++)
			is_used |= bins[k] == i;
		used += is_used;
	}
	return used;
}

/* The lowest number of bins of all arrangements; 0: there is no arrangement. */
static unsigned fewest(const struct packing *packing)
{
	unsigned bins[REPLICAS_MAX] = { 0 };
	const unsigned total = total_of(packing);
	unsigned best = 0;

	for (;;) {
		unsigned i = 0;

		if (holds(packing, bins, ~0U) && (!best || count_used(packing, bins) < best))
			best = count_used(packing, bins);
		while (i < total && ++bins[i] == packing->bin_count)
			bins[i++] = 0;
		if (i == total)
			return best;
	}
}

struct row {
	const char *title;
	unsigned counts[2], sizes[2][PACK_DIMENSIONS];
	unsigned bin_count, rooms[4][PACK_DIMENSIONS];
	unsigned soft;
	enum pack_outcome outcome;
	unsigned bins[6];
	bool whole;
};

static const struct row rows[] = {
	{ "one node is enough for all",
	  { 1, 3 },
	  { { 1, 1, 0 }, { 1, 1, 0 } },
	  2,
	  { { 4, 4, 0 }, { 9, 9, 0 } },
	  0,
	  PACK_FITS,
	  { 0, 0, 0, 0 } },
	{ "the node that is filled up goes before a larger one",
	  { 1, 0 },
	  { { 2, 1, 0 } },
	  3,
	  { { 8, 8, 0 }, { 2, 8, 0 }, { 4, 8, 0 } },
	  0,
	  PACK_FITS,
	  { 1 } },
	{ "nodes with devices are kept for jobs that want them",
	  { 1, 0 },
	  { { 2, 1, 0 } },
	  2,
	  { { 2, 1, 8 }, { 9, 9, 0 } },
	  0,
	  PACK_FITS,
	  { 1 } },
	{ "nothing is placed if one replica does not fit",
	  { 1, 2 },
	  { { 1, 1, 1 }, { 2, 1, 0 } },
	  2,
	  { { 3, 9, 1 }, { 1, 9, 0 } },
	  0,
	  PACK_NONE,
	  { 0 } },
	{ "a device keeps its replica on the node that has it",
	  { 2, 2 },
	  { { 1, 1, 0 }, { 1, 1, 2 } },
	  2,
	  { { 4, 4, 0 }, { 3, 4, 4 } },
	  0,
	  PACK_FITS,
	  { 1, 0, 1, 1 } },
	{ "the sum is enough and no node is",
	  { 1, 0 },
	  { { 4, 1, 0 } },
	  3,
	  { { 3, 9, 0 }, { 3, 9, 0 }, { 3, 9, 0 } },
	  0,
	  PACK_NONE,
	  { 0 } },
	{ "a soft size is the node's own at most",
	  { 1, 0 },
	  { { 64, 1, 0 } },
	  1,
	  { { 8, 9, 0 } },
	  SOFT_CPU,
	  PACK_FITS,
	  { 0 } },
	{ "what must share is spread",
	  { 4, 0 },
	  { { 4, 1, 0 } },
	  2,
	  { { 4, 9, 0 }, { 8, 9, 0 } },
	  SOFT_CPU,
	  PACK_OVERCOMMITS,
	  { 1, 1, 0, 1 } },
	{ "devices are hard beside a soft size",
	  { 3, 0 },
	  { { 4, 1, 1 } },
	  2,
	  { { 4, 9, 1 }, { 8, 9, 1 } },
	  SOFT_CPU,
	  PACK_NONE,
	  { 0 } },
	{ "a whole job is on one node",
	  { 2, 0 },
	  { { 2, 1, 0 } },
	  3,
	  { { 3, 9, 0 }, { 9, 9, 0 }, { 4, 9, 0 } },
	  0,
	  PACK_FITS,
	  { 2, 2 },
	  .whole = true },
	{ "a whole job that two nodes would take is on none",
	  { 2, 0 },
	  { { 2, 1, 0 } },
	  2,
	  { { 3, 9, 0 }, { 3, 9, 0 } },
	  0,
	  PACK_NONE,
	  { 0 },
	  .whole = true },
	{ "what must share as a whole is where the load is the lowest then",
	  { 4, 0 },
	  { { 4, 1, 0 } },
	  2,
	  { { 4, 9, 0 }, { 8, 9, 0 } },
	  SOFT_CPU,
	  PACK_OVERCOMMITS,
	  { 1, 1, 1, 1 },
	  .whole = true },
	{ "containers are counted too",
	  { 3, 0 },
	  { { 0, 0, 0, 1 } },
	  2,
	  { { 0, 0, 0, 2 }, { 0, 0, 0, 1 } },
	  0,
	  PACK_FITS,
	  { 0, 0, 1 } },
};

static void a_job_is_packed_as_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct row *row = &rows[i];
		struct pack_bin bins[4] = { 0 };
		struct packing packing = { .bins = bins, .bin_count = row->bin_count, .clamped = row->soft, .soft = row->soft, .whole = row->whole };
		unsigned result[6] = { 0 };

		for (unsigned k = 0; k < row->bin_count; k++) {
			for (int d = 0; d < PACK_DIMENSIONS; d++)
				bins[k].room[d] = bins[k].free[d] = row->rooms[k][d];
			bins[k].shapes = ~0U;
		}
		for (unsigned k = 0; k < 2; k++) {
			packing.shapes[k].count = row->counts[k];
			for (int d = 0; d < PACK_DIMENSIONS; d++)
				packing.shapes[k].size[d] = row->sizes[k][d];
		}
		if (pack(&packing, result) != row->outcome)
			fail_msg("%s: another outcome", row->title);
		for (unsigned k = 0; row->outcome < PACK_NONE && k < total_of(&packing); k++)
			if (result[k] != row->bins[k])
				fail_msg("%s: replica %u is on %u", row->title, k, result[k]);
	}
}

static void random_fill(struct packing *packing, struct pack_bin *bins)
{
	const unsigned most[PACK_DIMENSIONS] = { 13, 13, 7, 9 };

	for (unsigned i = 0; i < packing->bin_count; i++) {
		bins[i] = (struct pack_bin){ .shapes = random_below(4) ? 15 : random_below(16) };
		for (int k = 0; k < PACK_DIMENSIONS; k++) {
			bins[i].room[k] = random_below(most[k]);
			bins[i].free[k] = bins[i].room[k] - random_below(3);
		}
		if (i && !random_below(3))
			bins[i] = bins[i - 1];
	}
	for (unsigned shape = 0; shape < PACK_SHAPES; shape++) {
		const unsigned left = REPLICAS_MAX - total_of(packing);

		packing->shapes[shape].count = left ? random_below(left < 3 ? left + 1 : 4) : 0;
		for (int k = 0; k < PACK_DIMENSIONS; k++)
			packing->shapes[shape].size[k] = random_below(k == PACK_DEVICES ? 3 : k == PACK_CONTAINERS ? 2 : 5);
	}
}

static void small_jobs_get_the_fewest_nodes_of_all_arrangements(void **state)
{
	unsigned fit = 0, none = 0, several = 0;

	(void)state;
	seed = UINT64_C(88172645463325252);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct pack_bin bins[BINS];
		struct packing packing = { .bins = bins, .bin_count = 1 + random_below(BINS - 1) };
		unsigned result[REPLICAS_MAX] = { 0 }, again[REPLICAS_MAX] = { 0 }, least;
		enum pack_outcome outcome;

		random_fill(&packing, bins);
		if (!total_of(&packing))
			continue;
		least = fewest(&packing);
		outcome = pack(&packing, result);
		assert_int_equal(outcome, least ? PACK_FITS : PACK_NONE);
		if (!least) {
			none++;
			continue;
		}
		fit++;
		several += least > 1;
		assert_true(holds(&packing, result, ~0U));
		assert_int_equal(count_used(&packing, result), least);
		assert_int_equal(pack(&packing, again), PACK_FITS);
		assert_memory_equal(result, again, sizeof(result));
	}
	assert_true(fit > ROUNDS / 10 && several > ROUNDS / 20 && none > ROUNDS / 10);
}

/* Hard limits always hold, and soft ones are exceeded only if the job fits in no other way. */
static void soft_sizes_are_exceeded_only_if_they_must_be(void **state)
{
	unsigned fit = 0, over = 0;

	(void)state;
	seed = 42;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct pack_bin bins[BINS];
		struct packing packing = { .bins = bins, .bin_count = BINS, .clamped = SOFT_CPU, .soft = SOFT_CPU };
		unsigned result[REPLICAS_MAX] = { 0 };

		random_fill(&packing, bins);
		if (!total_of(&packing))
			continue;
		switch (pack(&packing, result)) {
		case PACK_FITS:
			assert_true(holds(&packing, result, ~0U));
			fit++;
			break;
		case PACK_OVERCOMMITS:
			assert_true(holds(&packing, result, 1 << PACK_DEVICES));
			assert_false(holds(&packing, result, ~0U));
			over++;
			break;
		default:
			break;
		}
	}
	assert_true(fit > ROUNDS / 10 && over > ROUNDS / 10);
}

/* A search that takes too long is given up, and the result says so. */
static void what_cannot_be_decided_in_time_is_no_refusal(void **state)
{
	enum { MANY = 40 };
	struct pack_bin bins[MANY];
	struct packing packing = { .bins = bins,
				   .bin_count = MANY,
				   .shapes = { { 30, { 51, 1, 0 } }, { 30, { 49, 1, 0 } } } };
	unsigned result[64];

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		bins[i] = (struct pack_bin){ .room = { 98, 100 + i, 0 },
					     .free = { 98, 100 + i, 0 },
					     .shapes = 3 };
	assert_int_equal(pack(&packing, result), PACK_UNDECIDED);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_packed_as_the_table_says),
		cmocka_unit_test(small_jobs_get_the_fewest_nodes_of_all_arrangements),
		cmocka_unit_test(soft_sizes_are_exceeded_only_if_they_must_be),
		cmocka_unit_test(what_cannot_be_decided_in_time_is_no_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
