/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/device_claims.c: two sets of claims stand for two processes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/device_claims.h"
#include "tests/unit/testing.h"

static char engine[64]; /* of this run of the test */

static struct device_claims *claims_new(void)
{
	struct device_claims *claims = device_claims_new();

	snprintf(engine, sizeof(engine), "engine of process %d", (int)getpid());
	device_claims_set_engine(claims, engine);
	return claims;
}

static void a_device_is_one_s_alone(void **state)
{
	struct device_claims *one = claims_new(), *other = claims_new();

	(void)state;
	assert_true(device_claims_take(one, "0"));
	assert_true(device_claims_take(one, "0"));
	assert_false(device_claims_take(other, "0"));
	assert_true(device_claims_take(other, "1"));
	assert_false(device_claims_take(one, "1"));
	device_claims_free(one);
	assert_true(device_claims_take(other, "0"));
	device_claims_free(other);
	device_claims_free(NULL);
}

/* Broken: device_claims_keep() that counts shared leases, or that drops one and skips the next. */
static void leased_devices_are_kept_alone(void **state)
{
	struct lease leases[] = { { .device = (char *)"1" }, { .device = (char *)"3", .shared = true } };
	struct device_claims *one = claims_new(), *other = claims_new();

	(void)state;
	assert_true(device_claims_take(one, "0") && device_claims_take(one, "1"));
	assert_true(device_claims_take(one, "2") && device_claims_take(one, "3"));
	device_claims_keep(one, leases, COUNT_OF(leases));
	assert_false(device_claims_take(other, "1"));
	assert_true(device_claims_take(other, "0") && device_claims_take(other, "2"));
	assert_true(device_claims_take(other, "3"));
	device_claims_adopt(one, leases, COUNT_OF(leases)); /* the shared one is not asked for */
	device_claims_free(other);
	device_claims_free(one);
}

static void devices_of_another_engine_are_others(void **state)
{
	struct device_claims *one = claims_new(), *other = claims_new(), *unknown = device_claims_new();

	(void)state;
	assert_true(device_claims_take(one, "0"));
	assert_true(device_claims_take(unknown, "0"));
	device_claims_set_engine(other, "another");
	assert_true(device_claims_take(other, "0"));
	device_claims_set_engine(one, "a third");
	device_claims_set_engine(other, engine);
	assert_true(device_claims_take(other, "0"));
	device_claims_free(one);
	device_claims_free(other);
	device_claims_free(unknown);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_one_s_alone),
		cmocka_unit_test(leased_devices_are_kept_alone),
		cmocka_unit_test(devices_of_another_engine_are_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("device claims", tests, NULL, NULL);
}
