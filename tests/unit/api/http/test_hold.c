/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that bodies hold, single ones and all together. */
#include <zlib.h>

#include "api/http/body.h"
#include "tests/unit/testing.h"

enum { PIECE = 64 << 10, MOST = 10 << 20 };

static void body_grow(struct body *body, size_t bytes)
{
	static const char piece[PIECE];

	for (size_t at = 0; at < bytes; at += PIECE)
		body_receive(body, piece, bytes - at < PIECE ? bytes - at : PIECE, MOST);
}

static enum status body_end(struct body *body, bool gzip)
{
	struct error err AUTO_ERROR = { 0 };
	enum refusal refusal = REFUSAL_BY_STATUS;
	enum status rc = body_finish(body, gzip, MOST, &refusal, &err);

	assert_int_equal(refusal, REFUSAL_BY_STATUS);
	return rc;
}

static void what_is_held_is_given_back(void **state)
{
	atomic_size_t pool = 0;
	struct body body = { .hold = { .pool = &pool } };

	(void)state;
	body_grow(&body, HOLD_OWN_BYTES);
	assert_int_equal(pool, 0);
	body_grow(&body, PIECE);
	assert_int_equal(pool, PIECE);
	body_deinit(&body);
	assert_int_equal(pool, 0);
	body_grow(&body, MOST + 1);
	assert_int_equal(pool, 0); /* a body that is too large is not kept */
	body_deinit(&body);
}

/* Fails with: body_receive() that keeps all. */
static void a_crowd_of_large_bodies_is_not_kept(void **state)
{
	enum { CROWD = 2 * HOLD_POOL_BODY_BYTES / MOST };
	atomic_size_t pool = 0;
	struct body bodies[CROWD] = { 0 }, small = { .hold = { .pool = &pool } };
	unsigned refused = 0;

	(void)state;
	for (int i = 0; i < CROWD; i++) {
		bodies[i].hold.pool = &pool;
		body_grow(&bodies[i], MOST);
		assert_in_range(pool, 0, HOLD_POOL_BODY_BYTES + PIECE);
		refused += body_end(&bodies[i], false) == STATUS_RESOURCE_EXHAUSTED;
	}
	assert_in_range(refused, CROWD / 2 - 1, CROWD / 2 + 1);
	body_grow(&small, HOLD_OWN_BYTES);
	assert_int_equal(body_end(&small, false), STATUS_OK);
	body_deinit(&small);
	for (int i = 0; i < CROWD; i++)
		body_deinit(&bodies[i]);
	assert_int_equal(pool, 0);
}

/* Fails with: unpack() that does not count. */
static void what_is_unpacked_is_held_as_well(void **state)
{
	static unsigned char plain[1 << 20], packed[16 << 10];
	z_stream stream = {
		.next_in = plain, .avail_in = sizeof(plain), .next_out = packed, .avail_out = sizeof(packed)
	};
	atomic_size_t pool = HOLD_POOL_BODY_BYTES - sizeof(plain) / 2;
	struct body body = { .hold = { .pool = &pool } };

	(void)state;
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	body_receive(&body, (char *)packed, sizeof(packed) - stream.avail_out, MOST);
	assert_int_equal(body_end(&body, true), STATUS_RESOURCE_EXHAUSTED);
	body_deinit(&body);
	assert_int_equal(pool, HOLD_POOL_BODY_BYTES - sizeof(plain) / 2);
	pool = 0;
	body_receive(&body, (char *)packed, sizeof(packed) - stream.avail_out, MOST);
	assert_int_equal(body_end(&body, true), STATUS_OK);
	assert_int_equal(body.bytes.length, sizeof(plain));
	assert_int_equal(pool, sizeof(plain) - HOLD_OWN_BYTES);
	body_deinit(&body);
	deflateEnd(&stream);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_held_is_given_back),
		cmocka_unit_test(a_crowd_of_large_bodies_is_not_kept),
		cmocka_unit_test(what_is_unpacked_is_held_as_well),
	};

	return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
