/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/crc32c.h"

#include "tests/unit/testing.h"

static void the_checksum_is_that_of_iscsi(void **state)
{
	(void)state;
	static const char digits[] = "123456789";

	assert_int_equal(crc32c_extend(0, digits, 9), 0xe3069283);
	assert_int_equal(crc32c_extend(0, "", 0), 0);
	for (size_t cut = 0; cut <= 9; cut++) {
		uint32_t first = crc32c_extend(0, digits, cut);

		assert_int_equal(crc32c_extend(first, digits + cut, 9 - cut), 0xe3069283);
		assert_int_equal(crc32c_concat(first, crc32c_extend(0, digits + cut, 9 - cut), 9 - cut),
				 0xe3069283);
	}
}

static void checksums_of_long_pieces_join(void **state)
{
	(void)state;
	static char bytes[300000];
	const size_t cuts[] = { 0, 1, 7, 4096, 65537, 299999, 300000 };
	uint32_t whole;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	whole = crc32c_extend(0, bytes, sizeof(bytes));
	for (size_t i = 0; i < COUNT_OF(cuts); i++) {
		size_t rest = sizeof(bytes) - cuts[i];

		assert_int_equal(crc32c_concat(crc32c_extend(0, bytes, cuts[i]),
					       crc32c_extend(0, bytes + cuts[i], rest), rest),
				 whole);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_checksum_is_that_of_iscsi),
		cmocka_unit_test(checksums_of_long_pieces_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
