/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_subnet.c. */
#include <string.h>

#include "scheduler/engine/docker_subnet.h"
#include "tests/unit/testing.h"

static struct subnet parsed(const char *text)
{
	struct subnet subnet = { 0 };

	if (!subnet_parse(text, &subnet))
		fail_msg("%s is not read", text);
	return subnet;
}

static void expect_choice(const char *pool, unsigned bits, const char *const *taken, const char *choice)
{
	struct subnet_list list AUTO_SUBNET_LIST = { 0 };
	struct subnet chosen;
	char text[SUBNET_TEXT_SIZE];

	for (; *taken; taken++)
		subnet_list_add(&list, parsed(*taken));
	if (!choice) {
		assert_false(subnet_choose(parsed(pool), bits, &list, &chosen));
		return;
	}
	assert_true(subnet_choose(parsed(pool), bits, &list, &chosen));
	subnet_print(chosen, text);
	assert_string_equal(text, choice);
}

static void the_lowest_free_block_is_chosen(void **state)
{
	(void)state;
	expect_choice("10.213.0.0/16", 26, (const char *const[]){ NULL }, "10.213.0.0/26");
	expect_choice("10.213.0.0/16", 26, (const char *const[]){ "10.213.0.0/26", "10.213.0.128/26", NULL },
		      "10.213.0.64/26");
	expect_choice("10.213.0.0/16", 24, (const char *const[]){ "10.213.0.64/26", NULL }, "10.213.1.0/24");
}

static void a_larger_obstacle_is_stepped_over(void **state)
{
	(void)state;
	expect_choice("10.213.0.0/16", 26, (const char *const[]){ "10.213.0.0/17", NULL }, "10.213.128.0/26");
	expect_choice("10.213.0.0/16", 26, (const char *const[]){ "10.213.0.7/32", NULL }, "10.213.0.64/26");
	expect_choice("10.213.0.0/16", 26, (const char *const[]){ "10.213.0.0/17", "10.213.128.0/18", NULL },
		      "10.213.192.0/26");
}

static void a_full_pool_has_no_block(void **state)
{
	(void)state;
	expect_choice("10.213.0.0/16", 26, (const char *const[]){ "10.0.0.0/8", NULL }, NULL);
	expect_choice("10.213.0.0/25", 26, (const char *const[]){ "10.213.0.0/26", "10.213.0.64/26", NULL },
		      NULL);
	expect_choice("10.213.0.0/26", 25, (const char *const[]){ NULL }, NULL);
	expect_choice("255.255.255.0/24", 26,
		      (const char *const[]){ "255.255.255.0/25", "255.255.255.128/25", NULL }, NULL);
}

static void the_end_of_all_addresses_is_no_wall_to_run_into(void **state)
{
	(void)state;
	expect_choice("255.255.255.0/24", 26, (const char *const[]){ "255.255.255.0/25", NULL },
		      "255.255.255.128/26");
}

static void blocks_hold_what_is_asked(void **state)
{
	(void)state;
	assert_int_equal(subnet_bits_for(0), 26);
	assert_int_equal(subnet_bits_for(61), 26);
	assert_int_equal(subnet_bits_for(62), 25);
	assert_int_equal(subnet_bits_for(125), 25);
	assert_int_equal(subnet_bits_for(126), 24);
	assert_int_equal(subnet_bits_for(65533), 16);
	assert_int_equal(subnet_bits_for(~0u), 0);
	assert_int_equal(subnet_capacity(parsed("10.0.0.0/26"), 0x0a000001), 61);
	assert_int_equal(subnet_capacity(parsed("10.0.0.0/26"), 0x0a00003f), 0);
	assert_int_equal(subnet_capacity(parsed("10.0.0.0/26"), 0x0b000001), 0);
}

static void texts_that_are_no_blocks_are_refused(void **state)
{
	static const char *const none[] = {
		"",         "10.0.0.0",    "10.0.0.0/33", "10.0.0/8", "10.0.0.0/8x",
		"fd00::/8", "300.0.0.0/8", "10.0.0.0/-1", "/8"
	};
	struct subnet subnet;
	char text[SUBNET_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(subnet_parse(none[i], &subnet));
	subnet_print(parsed("10.213.7.9/16"), text);
	assert_string_equal(text, "10.213.0.0/16");
	assert_int_equal(parsed("0.0.0.0/0").bits, 0);
	assert_true(subnet_overlaps(parsed("0.0.0.0/0"), parsed("10.0.0.0/8")));
}

static void routes_are_read_but_not_the_default(void **state)
{
	static const char table[] =
		"Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
		"eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
		"eth0\t0000D50A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
		"garbage\n\n"
		"tun0\t0101A8C0\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0";
	struct subnet_list list AUTO_SUBNET_LIST = { 0 };
	char text[SUBNET_TEXT_SIZE];

	(void)state;
	subnet_parse_routes(table, &list);
	assert_int_equal(list.count, 2);
	subnet_print(list.items[0], text);
	assert_string_equal(text, "10.213.0.0/16");
	subnet_print(list.items[1], text);
	assert_string_equal(text, "192.168.1.1/32");
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lowest_free_block_is_chosen),
		cmocka_unit_test(a_larger_obstacle_is_stepped_over),
		cmocka_unit_test(a_full_pool_has_no_block),
		cmocka_unit_test(the_end_of_all_addresses_is_no_wall_to_run_into),
		cmocka_unit_test(blocks_hold_what_is_asked),
		cmocka_unit_test(texts_that_are_no_blocks_are_refused),
		cmocka_unit_test(routes_are_read_but_not_the_default),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_subnet", tests, NULL, NULL);
}
