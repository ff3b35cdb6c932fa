/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/swarm_service.c: two programs make the agents' keys at the same time. */
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_route.h"
#include "scheduler/engine/swarm_service.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define OURS(pair)                                                                                           \
	"{\"ID\":\"i\",\"Id\":\"i\",\"Labels\":{\"trainyard.swarm\":\"agent\"},\"Spec\":{\"Labels\":{"       \
	"\"trainyard.swarm\":\"agent\"" pair "}}}"
#define PAIR(name) ",\"trainyard.keys\":\"" name "\""

static enum status make(struct lab *lab, struct error *err)
{
	static const struct swarm_making making = {
		.image = "i", .socket = "/s", .agent_keys = "{}", .daemon_keys = "{}"
	};
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	char url[80];

	snprintf(url, sizeof(url), "unix://%s", lab->path);
	assert_int_equal(route_endpoint_open(url, &endpoint, err), STATUS_OK);
	assert_int_equal(http_new(endpoint, &http, err), STATUS_OK);
	return swarm_service_make(http, &making, err);
}

/* The network exists. Rule 8 answers the creation of the service, if that is reached. */
static void rules_begin(struct lab *lab)
{
	rule_set(lab, 0, (struct rule){ "/networks/trainyard-agent", 200, OURS("") });
	rule_set(lab, 1, (struct rule){ "/services/trainyard-agent", 404, "{}" });
	rule_set(lab, 2, (struct rule){ "DELETE", 204 });
	for (size_t i = 3; i < 8; i++)
		rule_set(lab, i, (struct rule){ "not asked", 404 });
	rule_set(lab, 8, (struct rule){ "/services/create", 201, "{}" });
}

/* The other program has replaced our secret by its own, but the config is ours; or the other way round. Fails with:
 * keys_make() without keys_check(): the agents refused each daemon. */
static void keys_of_two_makers_are_noticed(void **state)
{
	static const int codes[] = { 201, 409 };
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		struct error AUTO_ERROR err = { 0 };

		rules_begin(lab);
		rule_set(lab, 3, (struct rule){ "/secrets/trainyard-agent", 404, "{}", .times = 1 });
		rule_set(lab, 4, (struct rule){ "/configs/trainyard-agent", 404, "{}", .times = 1 });
		rule_set(lab, 5, (struct rule){ "/secrets/trainyard-agent", 200, OURS(PAIR("one")) });
		rule_set(lab, 6, (struct rule){ "/configs/trainyard-agent", 200, OURS(PAIR("other")) });
		rule_set(lab, 7, (struct rule){ "/create", codes[i], "{\"message\":\"conflict\"}", .times = 2 });
		assert_int_equal(make(lab, &err), STATUS_ABORTED);
		assert_non_null(strstr(err.text, "another `trainyard swarm up` makes the agents' keys"));
		assert_int_equal(rule_asked(lab, 8), 0);
	}
}

/* Fails with: keys_make() that fails at a conflict, although the other one has made both. */
static void keys_that_another_has_made_meanwhile_serve(void **state)
{
	struct lab *lab = *state;

	rules_begin(lab);
	rule_set(lab, 3, (struct rule){ "/secrets/trainyard-agent", 404, "{}", .times = 1 });
	rule_set(lab, 4, (struct rule){ "/configs/trainyard-agent", 404, "{}", .times = 1 });
	rule_set(lab, 5, (struct rule){ "/secrets/trainyard-agent", 200, OURS(PAIR("one")) });
	rule_set(lab, 6, (struct rule){ "/configs/trainyard-agent", 200, OURS(PAIR("one")) });
	rule_set(lab, 7, (struct rule){ "/secrets/create", 409, "{\"message\":\"conflict\"}" });
	assert_int_equal(make(lab, NULL), STATUS_OK);
	assert_int_equal(rule_asked(lab, 8), 1);
}

/* Fails with: are_pair() that is true of any two: they stayed for good. */
static void keys_that_do_not_belong_together_are_made_anew(void **state)
{
	struct lab *lab = *state;
	struct error AUTO_ERROR err = { 0 };

	rules_begin(lab);
	rule_set(lab, 3, (struct rule){ "/secrets/trainyard-agent", 200, OURS(PAIR("one")), .times = 1 });
	rule_set(lab, 4, (struct rule){ "/configs/trainyard-agent", 200, OURS(PAIR("other")), .times = 1 });
	rule_set(lab, 5, (struct rule){ "/secrets/trainyard-agent", 200, OURS(PAIR("new")) });
	rule_set(lab, 6, (struct rule){ "/configs/trainyard-agent", 200, OURS(PAIR("new")) });
	rule_set(lab, 7, (struct rule){ "/create", 201, "{}", .times = 2 });
	assert_int_equal(make(lab, NULL), STATUS_OK);
	assert_true(rule_asked(lab, 2) == 2);
	rule_set(lab, 1, (struct rule){ "/services/trainyard-agent", 200, OURS("") });
	rule_set(lab, 5, (struct rule){ "/secrets/trainyard-agent", 200, OURS(PAIR("one")) });
	assert_int_equal(make(lab, &err), STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "`trainyard swarm down` removes the rest"));
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(keys_of_two_makers_are_noticed),
		LAB_TEST(keys_that_another_has_made_meanwhile_serve),
		LAB_TEST(keys_that_do_not_belong_together_are_made_anew),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("swarm service", tests, NULL, NULL);
}
