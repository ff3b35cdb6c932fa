/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/seeded_random.h"

#include <sodium.h>
#include <string.h>

#include "tests/unit/testing.h"

enum { DRAWS = 100, BYTES = 16 };

static void draw_some(enum random_kind kind, unsigned char ret_bytes[DRAWS][BYTES])
{
	for (int i = 0; i < DRAWS; i++)
		seeded_random_draw(kind, ret_bytes[i], BYTES);
}

static void assert_all_differ(unsigned char one[DRAWS][BYTES], unsigned char other[DRAWS][BYTES])
{
	for (int i = 0; i < DRAWS; i++)
		for (int k = 0; k < DRAWS; k++)
			if ((one != other || i != k) && memcmp(one[i], other[k], BYTES) == 0)
				fail_msg("%d and %d are the same", i, k);
}

static unsigned char first[DRAWS][BYTES], second[DRAWS][BYTES];

/* Must be the first test: a seed cannot be unset. */
static void without_a_seed_nothing_comes_again(void **state)
{
	(void)state;
	draw_some(RANDOM_RESOURCE, first);
	draw_some(RANDOM_RESOURCE, second);
	assert_all_differ(first, first);
	assert_all_differ(first, second);
}

static void a_seed_gives_the_same_and_one_kind_leaves_the_others(void **state)
{
	(void)state;
	seeded_random_start(7, 1);
	draw_some(RANDOM_RESOURCE, first);
	seeded_random_start(7, 1);
	draw_some(RANDOM_UPLOAD, second);
	assert_all_differ(first, second);
	draw_some(RANDOM_RESOURCE, second);
	assert_memory_equal(first, second, sizeof(first));
	assert_all_differ(first, first);
}

static void other_seeds_and_other_starts_give_others(void **state)
{
	(void)state;
	seeded_random_start(7, 1);
	draw_some(RANDOM_RESOURCE, first);
	seeded_random_start(8, 1);
	draw_some(RANDOM_RESOURCE, second);
	assert_all_differ(first, second);
	seeded_random_start(7, 2);
	draw_some(RANDOM_RESOURCE, second);
	assert_all_differ(first, second);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_seed_nothing_comes_again),
		cmocka_unit_test(a_seed_gives_the_same_and_one_kind_leaves_the_others),
		cmocka_unit_test(other_seeds_and_other_starts_give_others),
	};

	if (sodium_init() < 0)
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("chance", tests, NULL, NULL);
}
