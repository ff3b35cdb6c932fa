/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/gunzip.h"

#include <string.h>
#include <zlib.h>

#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

enum { PLAIN_BYTES = 300000 };

static struct source {
	unsigned char packed[PLAIN_BYTES + 1000];
	size_t length;
	size_t piece;    /* at most so much at once */
	int64_t fail_at; /* -1: never */
} source;
static char plain[PLAIN_BYTES], seen[2 * PLAIN_BYTES + 1];

static ssize_t source_read(void *arg, int64_t offset, char *buffer, size_t size)
{
	size_t left = source.length - (size_t)offset;

	assert_ptr_equal(arg, &source);
	if (source.fail_at >= 0 && offset >= source.fail_at)
		return -1;
	if (size > source.piece)
		size = source.piece;
	if (size > left)
		size = left;
	memcpy(buffer, source.packed + offset, size);
	return (ssize_t)size;
}

static void member_add(const char *data, size_t length)
{
	z_stream zlib = { .next_in = (Bytef *)data, .avail_in = (uInt)length };

	assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	zlib.next_out = source.packed + source.length;
	zlib.avail_out = (uInt)(sizeof(source.packed) - source.length);
	assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	source.length += zlib.total_out;
	deflateEnd(&zlib);
}

static int source_setup(void **state)
{
	unsigned random = 1;

	(void)state;
	source = (struct source){ .piece = 4096, .fail_at = -1 };
	for (size_t i = 0; i < sizeof(plain); i++) {
		random = random * 1103515245 + 12345;
		plain[i] = (char)(random >> 27);
	}
	return 0;
}

/* The number of bytes in `seen`, or -1. */
static ssize_t all_read(size_t room)
{
	AUTO(gunzip) struct gunzip *gunzip = gunzip_new(source_read, &source);
	size_t length = 0;
	ssize_t got;

	while ((got = gunzip_read(gunzip, seen + length, room)) > 0)
		length += (size_t)got;
	if (got == 0)
		assert_int_equal(gunzip_read(gunzip, seen, room), 0);
	else
		assert_int_equal(gunzip_read(gunzip, seen, room), -1);
	return got < 0 ? -1 : (ssize_t)length;
}

TEST(what_was_packed_is_unpacked_in_pieces_of_any_size)
{
	static const size_t sizes[] = { 1, 7, 4096, 65536 };

	(void)state_;
	member_add(plain, 20000);
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		for (size_t j = 0; j < COUNT_OF(sizes); j++) {
			source.piece = sizes[i];
			assert_int_equal(all_read(sizes[j] < 20000 ? sizes[j] : 20000), 20000);
			assert_memory_equal(seen, plain, 20000);
		}
	}
}

TEST(members_follow_each_other)
{
	(void)state_;
	member_add(plain, 100000);
	member_add("", 0);
	member_add(plain, 50000);
	assert_int_equal(all_read(65536), 150000);
	assert_memory_equal(seen, plain, 100000);
	assert_memory_equal(seen + 100000, plain, 50000);
}

TEST(nothing_packed_is_nothing)
{
	(void)state_;
	member_add("", 0);
	assert_int_equal(all_read(100), 0);
}

TEST(what_is_cut_or_broken_fails)
{
	size_t whole;

	(void)state_;
	member_add(plain, 1000);
	whole = source.length;
	for (source.length = 0; source.length < whole; source.length++)
		assert_int_equal(all_read(65536), -1);
	source.packed[0] ^= 1;
	assert_int_equal(all_read(65536), -1);
	source.packed[0] ^= 1;
	source.packed[whole - 8] ^= 1; /* the checksum */
	assert_int_equal(all_read(65536), -1);
}

TEST(a_source_that_fails_is_told)
{
	(void)state_;
	member_add(plain, PLAIN_BYTES);
	source.fail_at = 8192;
	assert_int_equal(all_read(65536), -1);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_was_packed_is_unpacked_in_pieces_of_any_size, source_setup),
		cmocka_unit_test_setup(members_follow_each_other, source_setup),
		cmocka_unit_test_setup(nothing_packed_is_nothing, source_setup),
		cmocka_unit_test_setup(what_is_cut_or_broken_fails, source_setup),
		cmocka_unit_test_setup(a_source_that_fails_is_told, source_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
