/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_claims.c: several instances claim the same GPU by volumes in the engine. */
#include "daemon/base/instance_lock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_elsewhere.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define LIST    "/volumes?filters="
#define CREATE  "POST /v1.41/volumes/create"
#define REMOVE  "DELETE /v1.41/volumes/ty-"
#define WATCH   "%22event%22:%5B%22destroy%22"
#define RUNNING "/containers/json?filters="
#define NETWORK_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MARKER_OF(instance) "/volumes/ty-" instance "-daemon"

/* Rules of each test: the engine's list of volumes, and claims that are made. */
enum { RULE_LIST, RULE_CREATE, RULE_RUNNING, RULES_USED };

/* A list of claims of GPU 0 by these instances ("u t"). The result is valid until the next call. */
static const char *claims_of(const char *instances)
{
	static char text[2000];
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char hex[2 * sizeof(hash) + 1], rest[64], *more = rest;

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)"0", 1, NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	snprintf(rest, sizeof(rest), "%s", instances);
	snprintf(text, sizeof(text), "{\"Volumes\":[");
	for (char *name = strtok_r(rest, " ", &more); name; name = strtok_r(NULL, " ", &more))
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s{\"Name\":\"ty-%s-gpu-%s\",\"Labels\":{\"trainyard.instance\":\"%s\",\"trainyard.gpus\":\"0\"}}",
			 strchr(text, 'N') ? "," : "", name, hex, name);
	strcat(text, "]}");
	return text;
}

/* An engine that, after a claim was made, lists the claims of @instances. */
static void engine_begin(struct lab *lab, const char *instances)
{
	static char listed[2000];

	snprintf(listed, sizeof(listed), "%s", claims_of(instances));
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 200, listed });
	rule_set(lab, RULE_CREATE, (struct rule){ CREATE, 201, "{}" });
	rule_set(lab, RULE_RUNNING, (struct rule){ RUNNING, 200, "[]" });
	up(lab);
}

/* Orders GPU 0 and waits for the answer; returns whether this instance got it. */
static bool is_claimed(struct lab *lab)
{
	static unsigned number;
	AUTO(json) json_t *devices = json_pack("[s]", "0");
	size_t answer;

	lab->engine->ops->claim_devices(lab->engine, devices, ++number);
	answer = expect_event(lab, ENGINE_DEVICES_CLAIMED);
	assert_int_equal(lab->events[answer].status, STATUS_OK);
	assert_string_equal(lab->events[answer].device, lab->events[answer].device[0] ? "0" : "");
	return !lab->events[answer].device[0];
}

static void a_gpu_that_no_other_instance_wants_is_claimed(void **state)
{
	struct lab *lab = *state;
	AUTO(json) json_t *none = json_array();

	engine_begin(lab, "t");
	assert_true(is_claimed(lab));
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 500, "{}" }); /* it is ours already, so nothing is listed */
	assert_true(is_claimed(lab));
	rule_set(lab, RULES_USED, (struct rule){ REMOVE "t-gpu-", 204 });
	lab->engine->ops->claim_devices(lab->engine, none, 9);
	expect_event(lab, ENGINE_DEVICES_CLAIMED);
	assert_int_equal(rule_asked(lab, RULES_USED), 1);
}

/* The other daemon runs on this machine. Fails with: contest_of() that counts no volumes; is_left_over() that withdraws
 * nothing: each of two daemons that had waited for a third one waited for the other for good. */
static void a_gpu_of_a_daemon_that_is_alive_is_refused(void **state)
{
	AUTO(string) char *place = elsewhere_place();
	AUTO(string) char *marker = memory_printf("{\"Labels\":{\"trainyard.place\":\"%s\"}}", place);
	/* the order of the names decides whether this one gives way or waits */
	static const char *const others[] = { "claimsa", "zclaimsz" };
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(others); i++) {
		AUTO(string) char *both = memory_printf("t %s", others[i]);
		int lock;

		assert_int_equal(instance_lock_take(others[i], INSTANCE_ALONE, &lock, NULL), STATUS_OK);
		rule_set(lab, RULES_USED, (struct rule){ REMOVE "t-gpu-", 204 });
		rule_set(lab, RULES_USED + 1, (struct rule){ "GET /v1.41/volumes/ty-", 200, marker });
		engine_begin(lab, both);
		assert_false(is_claimed(lab));
		assert_int_equal(rule_asked(lab, RULES_USED), 1);
		close(lock);
		assert_true(is_claimed(lab)); /* the other daemon has ended */
		lab_close(lab);
	}
}

/* Fails with: weigh() that gives way at once: both did, again and again. */
static void of_two_that_see_each_other_one_stays(void **state)
{
	AUTO(string) char *place = elsewhere_place();
	AUTO(string) char *marker = memory_printf("{\"Labels\":{\"trainyard.place\":\"%s\"}}", place);
	AUTO(string) char *alone = memory_printf("%s", claims_of("t"));
	struct lab *lab = *state;
	int lock;

	assert_int_equal(instance_lock_take("zclaimsy", INSTANCE_ALONE, &lock, NULL), STATUS_OK);
	engine_begin(lab, "t zclaimsy");
	rule_set(lab, RULES_USED, (struct rule){ "GET /v1.41/volumes/ty-", 200, marker });
	rule_set(lab, RULES_USED + 1, (struct rule){ LIST, 200, alone });
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 200, lab->rules[RULE_LIST].body, .times = 3 });
	assert_true(is_claimed(lab));
	assert_false(was_asked(lab, REMOVE "t-gpu-"));
	close(lock);
}

/* The other daemon's marker is removed, and it makes it again. Fails with: answered() that takes a marker of another place
 * for a daemon that has ended. */
static void a_daemon_elsewhere_is_asked_for_a_sign(void **state)
{
	struct lab *lab = *state;

	engine_begin(lab, "t s");
	rule_set(lab, RULES_USED, (struct rule){ "GET /v1.41" MARKER_OF("s"), 200, "{\"Labels\":{\"trainyard.place\":\"there\"}}" });
	rule_set(lab, RULES_USED + 1, (struct rule){ "DELETE /v1.41" MARKER_OF("s"), 204 });
	assert_false(is_claimed(lab));
	assert_int_equal(rule_asked(lab, RULES_USED + 1), 1);
	assert_false(is_claimed(lab));
	assert_int_equal(rule_asked(lab, RULES_USED + 1), 1); /* it answered a moment ago, so it is not asked again */
}

/* Its marker is looked for after the claim was made, for a daemon that started before that may not have seen the claim.
 * Fails with: answered() that counts a missing marker as a daemon that has ended: it may be about to make the marker again; weigh()
 * that waits before the claim is made: it waited once more afterwards. */
static void the_claim_of_a_daemon_that_has_ended_is_removed(void **state)
{
	AUTO(string) char *alone = memory_printf("%s", claims_of("s"));
	struct lab *lab = *state;

	engine_begin(lab, "t s");
	rule_set(lab, RULES_USED, (struct rule){ "GET /v1.41" MARKER_OF("s"), 404, "{}" });
	rule_set(lab, RULES_USED + 1, (struct rule){ REMOVE "s-gpu-", 204 });
	rule_set(lab, RULES_USED + 2, lab->rules[RULE_LIST]);
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 200, alone, .times = 2 });
	assert_true(is_claimed(lab));
	assert_int_equal(rule_asked(lab, RULES_USED), 2);
	assert_int_equal(rule_asked(lab, RULES_USED + 1), 1);
}

/* The marker of s is removed before the end of r is known. Fails with: peers_wait() for one daemon at a time: each that was killed
 * cost three seconds. */
static void daemons_elsewhere_are_waited_for_at_the_same_time(void **state)
{
	enum { AGAIN = RULES_USED, MARKED, REMOVED, R_CLAIM, S_CLAIM };
	AUTO(json) json_t *devices = json_pack("[s]", "0");
	struct lab *lab = *state;

	engine_begin(lab, "t r s");
	rule_set(lab, AGAIN, (struct rule){ "GET /v1.41" MARKER_OF("r"), 404, "{}", .times = 1 });
	rule_set(lab, MARKED, (struct rule){ "GET /v1.41" MARKER_OF("s"), 200, "{\"Labels\":{\"trainyard.place\":\"there\"}}", .times = 1 });
	rule_set(lab, REMOVED, (struct rule){ "DELETE /v1.41" MARKER_OF("s"), 204 });
	rule_set(lab, R_CLAIM, (struct rule){ REMOVE "r-gpu-", 204 });
	rule_set(lab, S_CLAIM, (struct rule){ REMOVE "s-gpu-", 204 });
	rule_set(lab, S_CLAIM + 1, (struct rule){ "GET /v1.41" MARKER_OF("r"), HOLD });
	rule_set(lab, S_CLAIM + 2, (struct rule){ "GET /v1.41" MARKER_OF("s"), 404, "{}" });
	lab->engine->ops->claim_devices(lab->engine, devices, 400);
	expect_asked(lab, S_CLAIM + 1, 1);
	assert_int_equal(rule_asked(lab, REMOVED), 1);
	rule_set(lab, AGAIN, (struct rule){ "GET /v1.41" MARKER_OF("r"), 404, "{}" });
	assert_int_equal(lab->events[expect_event(lab, ENGINE_DEVICES_CLAIMED)].status, STATUS_OK);
	assert_int_equal(rule_asked(lab, R_CLAIM) + rule_asked(lab, S_CLAIM), 2);
}

/* Fails with: contest_of() without claim_runs_elsewhere(): the GPU of a killed daemon's job was given to another one. */
static void a_gpu_of_a_running_container_is_refused_whatever_its_daemon_does(void **state)
{
	static const struct {
		const char *network, *instance, *gpus;
		bool holds;
	} cases[] = {
		{ NETWORK_ID, "s", "1,0", true },
		{ NETWORK_ID, "s", "10,01", false },
		{ NETWORK_ID, "t", "0", false },
		{ "bridge", "s", "0", false }, /* its labels come from an image made of such a container */
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(string) char *list = memory_printf(
			"[7, {\"HostConfig\":{\"NetworkMode\":\"%s\"},\"Labels\":{\"trainyard.instance\":\"%s\","
			"\"trainyard.gpus\":\"%s\"}}]",
			cases[i].network, cases[i].instance, cases[i].gpus);

		engine_begin(lab, "t");
		rule_set(lab, RULE_RUNNING, (struct rule){ RUNNING, 200, list });
		assert_int_equal(is_claimed(lab), !cases[i].holds);
		lab_close(lab);
	}
}

/* Fails with: answer_serves() that ends the round with a failure: no job with GPUs was started through a proxy that refuses
 * volumes. */
static void an_engine_without_volumes_has_no_claims(void **state)
{
	struct lab *lab = *state;

	engine_begin(lab, "s");
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 403, "{\"message\":\"no\"}" });
	assert_true(is_claimed(lab));
}

/* A user has removed all unused volumes. Fails with: watch_data() without claims_watch(): the GPU was free for all until
 * the job's container ran. */
static void a_claim_that_is_removed_is_made_again(void **state)
{
	char event[300], name[200];
	struct lab *lab = *state;

	assert_int_equal(sscanf(claims_of("t"), "{\"Volumes\":[{\"Name\":\"%199[^\"]", name), 1);
	snprintf(event, sizeof(event), "{\"Type\":\"volume\",\"Action\":\"destroy\",\"Actor\":{\"ID\":\"%s\"}}\n", name);
	rule_set(lab, RULES_USED, (struct rule){ WATCH, HOLD });
	engine_begin(lab, "t");
	assert_true(is_claimed(lab));
	rule_set(lab, RULES_USED + 1, lab->rules[RULE_LIST]);
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 200, "{\"Volumes\":null}", .times = 1 });
	rule_set(lab, RULE_CREATE, (struct rule){ CREATE, 201, "{}" });
	rule_set(lab, RULES_USED, (struct rule){ WATCH, 200, event });
	assert_int_equal(lab->events[expect_event(lab, ENGINE_DEVICES_CLAIMED)].status, STATUS_OK);
	expect_asked(lab, RULE_CREATE, 2); /* the marker's volume, too */
}

/* The engine has not answered the round's question yet. Fails with: claims_watch() that passes over events during a round,
 * or over a line that comes in pieces: the GPU was free for all. */
static void a_claim_that_is_removed_during_a_round_is_made_again(void **state)
{
	AUTO(json) json_t *devices = json_pack("[s]", "0");
	AUTO(string) char *event = NULL;
	char name[200];
	struct lab *lab = *state;

	assert_int_equal(sscanf(claims_of("t"), "{\"Volumes\":[{\"Name\":\"%199[^\"]", name), 1);
	event = memory_printf("%s%*s\n", name, 300000, "");
	rule_set(lab, RULES_USED, (struct rule){ WATCH, HOLD });
	engine_begin(lab, "t");
	rule_set(lab, RULE_RUNNING, (struct rule){ RUNNING, HOLD });
	lab->engine->ops->claim_devices(lab->engine, devices, 200);
	expect_asked(lab, RULE_RUNNING, 1);
	rule_set(lab, RULES_USED, (struct rule){ WATCH, 200, event });
	rule_set(lab, RULE_CREATE, (struct rule){ CREATE, 201, "{}" });
	expect_asked(lab, RULE_CREATE, 1); /* the marker was made again, so the event had arrived */
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 200, lab->rules[RULE_LIST].body });
	rule_set(lab, RULE_RUNNING, (struct rule){ RUNNING, 200, "[]" });
	assert_int_equal(lab->events[expect_event(lab, ENGINE_DEVICES_CLAIMED)].status, STATUS_OK);
	expect_asked(lab, RULE_LIST, 1);
}

/* Fails with: removed() that goes on after any refusal; round_begin() that does not look after a failure: the claim stayed, and no
 * instance got the GPU. */
static void a_claim_that_cannot_be_removed_is_removed_later(void **state)
{
	AUTO(json) json_t *none = json_array();
	struct lab *lab = *state;

	engine_begin(lab, "t");
	assert_true(is_claimed(lab));
	rule_set(lab, RULES_USED, (struct rule){ REMOVE "t-gpu-", 500, "{\"message\":\"broken\"}" });
	lab->engine->ops->claim_devices(lab->engine, none, 100);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_DEVICES_CLAIMED)].status, STATUS_UNAVAILABLE);
	rule_set(lab, RULES_USED, (struct rule){ REMOVE "t-gpu-", 404, "{\"message\":\"no such volume\"}" });
	lab->engine->ops->claim_devices(lab->engine, none, 101);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_DEVICES_CLAIMED)].status, STATUS_OK);
	assert_int_equal(rule_asked(lab, RULES_USED), 1);
}

/* A daemon on another machine may have the GPU, and its marker cannot be removed. Fails with: answer_serves() of
 * docker_peers.c that takes the refusal for an engine without volumes: both had the GPU. */
static void a_refused_question_grants_no_gpu(void **state)
{
	AUTO(json) json_t *devices = json_pack("[s]", "0");
	struct lab *lab = *state;

	engine_begin(lab, "t s");
	rule_set(lab, RULES_USED, (struct rule){ "GET /v1.41" MARKER_OF("s"), 200, "{\"Labels\":{\"trainyard.place\":\"there\"}}" });
	rule_set(lab, RULES_USED + 1, (struct rule){ "DELETE /v1.41" MARKER_OF("s"), 403, "{\"message\":\"no\"}" });
	lab->engine->ops->claim_devices(lab->engine, devices, 300);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_DEVICES_CLAIMED)].status, STATUS_UNAVAILABLE);
}

static void a_failure_says_nothing_of_any_gpu(void **state)
{
	AUTO(json) json_t *devices = json_pack("[s]", "0");
	struct lab *lab = *state;

	engine_begin(lab, "t");
	rule_set(lab, RULE_LIST, (struct rule){ LIST, 500, "{\"message\":\"broken\"}" });
	lab->engine->ops->claim_devices(lab->engine, devices, 1);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_DEVICES_CLAIMED)].status, STATUS_UNAVAILABLE);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_gpu_that_no_other_instance_wants_is_claimed),
		LAB_TEST(a_gpu_of_a_daemon_that_is_alive_is_refused),
		LAB_TEST(of_two_that_see_each_other_one_stays),
		LAB_TEST(a_daemon_elsewhere_is_asked_for_a_sign),
		LAB_TEST(the_claim_of_a_daemon_that_has_ended_is_removed),
		LAB_TEST(daemons_elsewhere_are_waited_for_at_the_same_time),
		LAB_TEST(a_gpu_of_a_running_container_is_refused_whatever_its_daemon_does),
		LAB_TEST(an_engine_without_volumes_has_no_claims),
		LAB_TEST(a_claim_that_is_removed_is_made_again),
		LAB_TEST(a_claim_that_is_removed_during_a_round_is_made_again),
		LAB_TEST(a_claim_that_cannot_be_removed_is_removed_later),
		LAB_TEST(a_refused_question_grants_no_gpu),
		LAB_TEST(a_failure_says_nothing_of_any_gpu),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker claims", tests, NULL, NULL);
}
