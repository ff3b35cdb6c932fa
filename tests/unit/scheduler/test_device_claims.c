/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/device_claims.c: which GPUs are ordered, and the effect of answers. */
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/device_claims.h"
#include "scheduler/engine/engine.h"
#include "scheduler/observe_devices.h"
#include "scheduler/scheduler_state.h"
#include "tests/unit/testing.h"

DEFINE_AUTO(claims, struct device_claims *, device_claims_free)

static struct lease lease_of(const char *device, bool shared)
{
	return (struct lease){ .device = (char *)device, .shared = shared };
}

/* The GPUs that are ordered now, "0,1"; "none": no new order. */
static const char *ordered(struct device_claims *claims, unsigned *ret_number)
{
	static char text[64];
	AUTO(json) json_t *devices = device_claims_order(claims, ret_number);
	const json_t *device;
	size_t i;

	text[0] = '\0';
	json_array_foreach(devices, i, device)
	{
		strcat(text, i ? "," : "");
		strcat(text, json_string_value(device));
	}
	return devices ? text : "none";
}

static bool answer(struct device_claims *claims, unsigned number, const char *refused)
{
	AUTO(json) json_t *devices = refused ? json_pack("[s]", refused) : NULL;
	bool is_lost;

	return device_claims_answer(claims, number, devices, &is_lost);
}

static void a_gpu_is_ours_after_the_engine_has_said_so(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	unsigned number;

	(void)state;
	assert_string_equal(ordered(claims, &number), "none");
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_ASKED);
	assert_false(device_claims_have(claims, "0"));
	assert_string_equal(ordered(claims, &number), "0");
	assert_string_equal(ordered(claims, &number), "none");
	assert_true(answer(claims, number, NULL));
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_OURS);
	assert_true(device_claims_have(claims, "0"));
	assert_string_equal(ordered(claims, &number), "none");
}

/* Fails with: device_claims_answer() that takes any number; change() that counts at the order: a GPU that was dropped and wanted
 * again counted as ours by the first answer. */
static void an_answer_to_an_earlier_order_says_nothing(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	unsigned first, second;

	(void)state;
	device_claims_take(claims, "0");
	ordered(claims, &first);
	device_claims_begin_walk(claims);
	device_claims_keep(claims, NULL, 0);
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_ASKED);
	assert_false(answer(claims, first, NULL));
	assert_string_equal(ordered(claims, &second), "0");
	assert_false(answer(claims, first, NULL));
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_ASKED);
	assert_true(answer(claims, second, NULL));
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_OURS);
}

/* Fails with: the others of a refused order as ours: the engine has withdrawn them. */
static void a_refusal_withdraws_what_was_ordered_with_it(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	unsigned number;

	(void)state;
	device_claims_take(claims, "0");
	device_claims_take(claims, "1");
	ordered(claims, &number);
	assert_true(answer(claims, number, "0"));
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_REFUSED);
	assert_int_equal(device_claims_take(claims, "1"), CLAIM_ASKED);
	assert_string_equal(ordered(claims, &number), "1");
	assert_true(answer(claims, number, NULL));
	assert_int_equal(device_claims_take(claims, "1"), CLAIM_OURS);
	device_claims_retry(claims);
	assert_string_equal(ordered(claims, &number), "0,1");
	assert_true(answer(claims, number, NULL));
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_OURS);
}

/* Claims were removed in the engine. Fails with: device_claims_answer() that passes over what is ours: the GPU had two
 * users. */
static void a_second_answer_may_take_a_gpu_away(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	unsigned number;

	(void)state;
	device_claims_take(claims, "0");
	device_claims_take(claims, "1");
	ordered(claims, &number);
	assert_true(answer(claims, number, NULL));
	assert_true(answer(claims, number, NULL));
	assert_string_equal(ordered(claims, &number), "none");
	assert_true(answer(claims, number, "0"));
	assert_true(!device_claims_have(claims, "0") && device_claims_have(claims, "1"));
	assert_string_equal(ordered(claims, &number), "none");
}

/* Removing a claim was refused. Fails with: device_claims_retry() that orders nothing where nothing is wanted: the claim
 * stayed, and no instance got the GPU; device_claims_fail() that leaves what was ours. */
static void an_order_that_failed_is_made_again(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	unsigned number, second;

	(void)state;
	device_claims_take(claims, "0");
	ordered(claims, &number);
	assert_true(answer(claims, number, NULL));
	device_claims_fail(claims, number - 1, "broken"); /* this answers an earlier order */
	assert_true(device_claims_have(claims, "0"));
	assert_true(device_claims_fail(claims, number, "broken"));
	assert_false(device_claims_have(claims, "0"));
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_FAILED);
	assert_string_equal(ordered(claims, &second), "none"); /* it is ordered again after a pause */
	device_claims_begin_walk(claims);
	device_claims_keep(claims, NULL, 0);
	assert_string_equal(ordered(claims, &number), "");
	assert_false(device_claims_fail(claims, number, "broken")); /* the failure was reported before */
	assert_string_equal(ordered(claims, &second), "none");
	device_claims_retry(claims);
	assert_string_equal(ordered(claims, &number), "");
	assert_true(answer(claims, number, NULL));
	device_claims_retry(claims);
	assert_string_equal(ordered(claims, &number), "none");
}

/* Fails with: device_claims_keep() that counts shared leases, or drops what is wanted. */
static void what_is_neither_leased_nor_wanted_is_dropped(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	const struct lease leases[] = { lease_of("1", false), lease_of("3", true) };
	unsigned number;

	(void)state;
	for (const char *device = "0\0" "1\0" "2\0" "3\0"; *device; device += 2)
		device_claims_take(claims, device);
	device_claims_keep(claims, NULL, 0); /* all are wanted */
	assert_string_equal(ordered(claims, &number), "0,1,2,3");
	assert_true(answer(claims, number, NULL));
	device_claims_begin_walk(claims);
	device_claims_take(claims, "2");
	device_claims_keep(claims, leases, COUNT_OF(leases));
	assert_string_equal(ordered(claims, &number), "1,2");
	assert_true(device_claims_have(claims, "1") && device_claims_have(claims, "2"));
	assert_false(device_claims_have(claims, "0") || device_claims_have(claims, "3"));
}

/* After a restart of the daemon or the engine. Fails with: device_claims_forget() that orders nothing where nothing is
 * leased: the engine kept the claims of a daemon that was killed. */
static void leased_gpus_are_ordered_again(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	const struct lease lease = lease_of("1", false);
	unsigned number;
	bool is_lost;

	(void)state;
	device_claims_forget(claims);
	assert_string_equal(ordered(claims, &number), "");
	device_claims_keep(claims, &lease, 1);
	assert_string_equal(ordered(claims, &number), "1");
	AUTO(json) json_t *refused = json_pack("[s]", "1");

	assert_true(device_claims_answer(claims, number, refused, &is_lost) && is_lost);
	assert_false(device_claims_have(claims, "1"));
	device_claims_retry(claims);
	assert_string_equal(ordered(claims, &number), "1");
	/* the refusal was reported before */
	assert_true(device_claims_answer(claims, number, refused, &is_lost) && !is_lost);
	device_claims_retry(claims);
	ordered(claims, &number);
	assert_true(device_claims_answer(claims, number, NULL, &is_lost) && !is_lost);
	assert_true(device_claims_have(claims, "1"));
	device_claims_forget(claims);
	assert_false(device_claims_have(claims, "1"));
	assert_string_equal(ordered(claims, &number), "1");
}

/* Fails with: devices_reported() that calls devices_await() after every refusal: with a slow engine, the search began
 * again with the first GPU each second, and never got to a free one. */
static void a_refusal_alone_does_not_begin_the_search_again(void **state)
{
	AUTO(claims) struct device_claims *claims = device_claims_new();
	AUTO(json) json_t *refused = json_pack("[s]", "0");
	const struct lease lease = lease_of("0", false);
	struct scheduler scheduler = { .reconciler.clock = &system_clock };
	struct node node = { .scheduler = &scheduler, .claims = claims, .state = ENGINE_LISTED };
	struct engine_event event = { .kind = ENGINE_DEVICES_CLAIMED, .text = "", .devices = refused };

	(void)state;
	device_claims_take(claims, "0");
	ordered(claims, &event.number);
	devices_reported(&node, &event);
	assert_int_equal(device_claims_take(claims, "0"), CLAIM_REFUSED);
	assert_true(scheduler.queue_stirred && !scheduler.claims_again_us);
	device_claims_keep(claims, &lease, 1);
	devices_reported(&node, &event); /* an admitted job waits for it */
	assert_true(scheduler.claims_again_us);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_is_ours_after_the_engine_has_said_so),
		cmocka_unit_test(an_answer_to_an_earlier_order_says_nothing),
		cmocka_unit_test(a_refusal_withdraws_what_was_ordered_with_it),
		cmocka_unit_test(a_second_answer_may_take_a_gpu_away),
		cmocka_unit_test(what_is_neither_leased_nor_wanted_is_dropped),
		cmocka_unit_test(an_order_that_failed_is_made_again),
		cmocka_unit_test(leased_gpus_are_ordered_again),
		cmocka_unit_test(a_refusal_alone_does_not_begin_the_search_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("device claims", tests, NULL, NULL);
}
