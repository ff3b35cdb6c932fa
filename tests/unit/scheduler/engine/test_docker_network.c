/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_network.c: all address blocks taken, networks that exist already, and refusals. */
#include "daemon/base/device_socket.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define NETWORK_OF(labels, config)                                                                           \
	"[{\"Id\":\"n1\",\"Labels\":{" labels "},\"IPAM\":{\"Config\":[" config "]}}]"
#define OUR_LABELS             "\"trainyard.instance\":\"t\",\"trainyard.job\":\"1\""
#define BLOCK(subnet, gateway) "{\"Subnet\":\"" subnet "\",\"Gateway\":\"" gateway "\"}"

#define NO_SOURCE                                                                                            \
	"{\"message\":\"invalid mount config for type \\\"bind\\\": bind source path does not exist: /tmp/seen\"}"
#define OVERLAPS "{\"message\":\"Pool overlaps with other one on this address space\"}"
/* The engine's answer if the bridge exists already. */
#define CONFLICTS                                                                                            \
	"{\"message\":\"cannot create network a (ty-1): conflicts with network b (ty-1): "                   \
	"networks have same bridge name\"}"

static size_t create(struct lab *lab, unsigned replicas, enum engine_event_kind kind)
{
	lab->engine->ops->create_network(lab->engine, 1, replicas);
	return expect_event(lab, kind);
}

static void networks_are(struct lab *lab, const char *networks)
{
	rule_set(lab, 0, (struct rule){ "GET /v1.41/networks ", 200, networks });
}

static void a_network_is_made_of_the_pools_first_free_block(void **state)
{
	struct lab *lab = *state;
	size_t ready;

	lab->options.internal = true;
	lab->options.networks = "198.18.0.0/16";
	networks_are(lab, NETWORK_OF("", BLOCK("198.18.0.0/17", "198.18.0.1")));
	rule_set(lab, 1, (struct rule){ "POST /v1.41/networks/create ", 201, "{\"Id\":\"n7\"}" });
	up(lab);
	ready = create(lab, 3, ENGINE_NETWORK_READY);
	assert_string_equal(lab->events[ready].network.id, "n7");
	assert_int_equal(lab->events[ready].network.reach.address, 0xc6128001); /* 198.18.128.1 */
	assert_true(lab->events[ready].network.capacity >= 3);
	assert_true(was_asked(lab, "\"Internal\":true"));
	assert_true(was_asked(lab, "\"Subnet\":\"198.18.128.0/"));
}

/* Fails with: create_looked() without no_room(): a block of others was asked for. */
static void a_pool_without_a_free_block_is_named(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	lab->options.networks = "198.18.0.0/16";
	networks_are(lab, NETWORK_OF("", BLOCK("198.18.0.0/15", "198.18.0.1")));
	up(lab);
	failed = create(lab, 3, ENGINE_NETWORK_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(lab->events[failed].text, "no free block for 3 replicas"));
	assert_non_null(strstr(lab->events[failed].text, "in the pool 198.18.0.0/16"));
	/* A network that is larger than the pool is refused at once. */
	failed = create(lab, 1 << 30, ENGINE_NETWORK_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_FAILED_PRECONDITION);
	assert_false(was_asked(lab, "POST /v1.41/networks"));
}

/* A network made before a crash is adopted if it is large enough. Fails with: adopt() without capacity: replicas without an
 * address later. */
static void the_jobs_own_network_is_taken_over_when_it_fits(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	networks_are(lab, NETWORK_OF(OUR_LABELS, BLOCK("10.213.1.64/29", "10.213.1.65")));
	up(lab);
	assert_string_equal(lab->events[create(lab, 5, ENGINE_NETWORK_READY)].network.id, "n1");
	failed = create(lab, 6, ENGINE_NETWORK_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_FAILED_PRECONDITION);
	assert_string_equal(lab->events[failed].text, "the job's network exists and holds 5 replicas, not 6");
	networks_are(lab, NETWORK_OF(OUR_LABELS, "{\"Subnet\":\"fd00::/64\",\"Gateway\":\"fd00::1\"}"));
	failed = create(lab, 1, ENGINE_NETWORK_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_FAILED_PRECONDITION);
	networks_are(lab, NETWORK_OF(OUR_LABELS, ""));
	failed = create(lab, 1, ENGINE_NETWORK_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_FAILED_PRECONDITION);
	assert_false(was_asked(lab, "POST /v1.41/networks"));
}

static void a_refusal_is_told_with_the_engines_words(void **state)
{
	static const struct {
		struct rule rule;
		enum status status;
		const char *text;
	} cases[] = {
		{ { "POST /v1.41/networks", 404, "{\"message\":\"could not find an available pool\"}" },
		  STATUS_NOT_FOUND,
		  "could not find an available pool" },
		{ { "POST /v1.41/networks", 500, "iptables failed\n" }, STATUS_INTERNAL, "iptables failed" },
		{ { "POST /v1.41/networks", 403, "{\"message\":\"no\"}" }, STATUS_FAILED_PRECONDITION, "no" },
		{ { "POST /v1.41/networks", 500, "" }, STATUS_INTERNAL, "the engine gave no reason" },
		{ { "POST /v1.41/networks", 201, "{}" },
		  STATUS_INTERNAL,
		  "the engine's answer to a new network cannot be understood" },
		{ { "POST /v1.41/networks", 201,
		    "{\"Id\":\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234\"}" },
		  STATUS_INTERNAL,
		  "the engine's answer to a new network cannot be understood" },
		{ { "GET /v1.41/networks ", 500, "{\"message\":\"broken\"}" }, STATUS_INTERNAL, "broken" },
		{ { "POST /v1.41/networks", 201, "{\"Id\":", .cut = true }, STATUS_UNAVAILABLE, NULL },
	};
	struct lab *lab = *state;

	up(lab);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t failed;

		rule_set(lab, 0, cases[i].rule);
		failed = create(lab, 1, ENGINE_NETWORK_FAILED);
		assert_int_equal(lab->events[failed].status, cases[i].status);
		if (cases[i].text)
			assert_string_equal(lab->events[failed].text, cases[i].text);
	}
}

/* Fails with: CREATE_TRIES not looked at: it asked for ever. */
static void an_engine_that_has_every_block_ends_the_search(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	rule_set(lab, 0, (struct rule){ "POST /v1.41/networks", 403, OVERLAPS });
	up(lab);
	failed = create(lab, 1, ENGINE_NETWORK_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_FAILED_PRECONDITION);
	assert_int_equal(rule_asked(lab, 0), 64);
}

/* Checks that a network can be made after @times refusals. */
static void creation_succeeds_after(struct lab *lab, const char *refusal, int times)
{
	rule_set(lab, 0, (struct rule){ "POST /v1.41/networks", 403, refusal, .times = times });
	rule_set(lab, 1, (struct rule){ "POST /v1.41/networks", 201, "{\"Id\":\"net\"}" });
	up(lab);
}

/* Podman's errors when another instance was faster, and when a killed daemon's request was still being handled. Fails with:
 * block_is_taken() and made_by_another() that look for 403 and 409 alone: jobs failed. */
static void what_another_took_is_passed_over_on_podman(void **state)
{
	static const char *const refusals[] = {
		"{\"message\":\"subnet 10.213.0.0/26 is already used on the host or by another config\"}",
		"{\"message\":\"bridge name ty-0123456789ab already in use\"}",
		"{\"message\":\"network name ty-t-1 already used: network already exists\"}",
	};
	struct lab *lab = *state;

	up(lab);
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		rule_set(lab, 0, (struct rule){ "POST /v1.41/networks", 500, refusals[i], .times = 2 });
		rule_set(lab, 1, (struct rule){ "POST /v1.41/networks", 201, "{\"Id\":\"net\"}" });
		create(lab, 1, ENGINE_NETWORK_READY);
		assert_int_equal(rule_asked(lab, 0), 2);
	}
	assert_int_equal(events_count(lab, ENGINE_NETWORK_FAILED), 0);
}

static void an_overlapping_block_is_passed_over(void **state)
{
	struct lab *lab = *state;

	creation_succeeds_after(lab, OVERLAPS, 3);
	create(lab, 1, ENGINE_NETWORK_READY);
	assert_int_equal(rule_asked(lab, 0), 3);
}

/* The engine still makes a network for a killed daemon: the bridge exists, but the network is not listed yet. */
static void a_network_that_is_just_being_made_is_waited_for(void **state)
{
	struct lab *lab = *state;

	creation_succeeds_after(lab, CONFLICTS, 2);
	create(lab, 1, ENGINE_NETWORK_READY);
	assert_int_equal(rule_asked(lab, 0), 2);
	assert_int_equal(events_count(lab, ENGINE_NETWORK_FAILED), 0);
}

/* Fails with: free_looked() that counts one block for ever: as many as are counted at most.
 * Fails with: free_looked() that reads its task after a listing that failed has ended it: use after free. */
static void free_blocks_are_counted(void **state)
{
	struct lab *lab = *state;
	size_t reported;

	lab->options.networks = "198.18.0.0/24";
	networks_are(lab, NETWORK_OF("", BLOCK("198.18.0.64/26", "198.18.0.65")));
	up(lab);
	lab->engine->ops->look_for_networks(lab->engine, 3);
	reported = expect_event(lab, ENGINE_NETWORKS_FREE);
	assert_int_equal(lab->events[reported].status, STATUS_OK);
	assert_int_equal(lab->events[reported].free_blocks, 3);
	networks_are(lab, NETWORK_OF("", BLOCK("198.18.0.0/24", "198.18.0.1")));
	lab->engine->ops->look_for_networks(lab->engine, 3);
	reported = expect_event(lab, ENGINE_NETWORKS_FREE);
	assert_int_equal(lab->events[reported].status, STATUS_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(lab->events[reported].text, "no free block for 3 replicas"));
	rule_set(lab, 0, (struct rule){ "GET /v1.41/networks ", 500, "{\"message\":\"broken\"}" });
	lab->engine->ops->look_for_networks(lab->engine, 3);
	reported = expect_event(lab, ENGINE_NETWORKS_FREE);
	assert_int_equal(lab->events[reported].status, STATUS_INTERNAL);
	assert_string_equal(lab->events[reported].text, "broken");
}

/* The engine was killed while it made the network: the bridge stays for good, and no network is listed. Fails with: the
 * second bridge left out: the job failed with the engine's words. */
static void a_bridge_that_nobody_has_is_passed_over(void **state)
{
	struct lab *lab = *state;

	creation_succeeds_after(lab, CONFLICTS, 32);
	create(lab, 1, ENGINE_NETWORK_READY);
	assert_int_equal(rule_asked(lab, 0), 32);
}

/* A job is cancelled while its network is made: the removal follows the creation. */
static void a_network_is_removed_only_after_its_creation(void **state)
{
	struct lab *lab = *state;
	size_t ready, removed;

	creation_succeeds_after(lab, OVERLAPS, 20);
	lab->engine->ops->create_network(lab->engine, 1, 1);
	lab->engine->ops->remove_network(lab->engine, 1);
	removed = expect_event(lab, ENGINE_NETWORK_REMOVED);
	ready = expect_event(lab, ENGINE_NETWORK_READY);
	assert_true(ready < removed);
}

/* Two networks that are made at the same time get different blocks. Fails with: reserved_add() left out: both had the
 * first. */
static void networks_that_are_made_at_once_have_blocks_of_their_own(void **state)
{
	struct lab *lab = *state;
	size_t first, second;

	rule_set(lab, 0, (struct rule){ "POST /v1.41/networks", HOLD });
	up(lab);
	lab->engine->ops->create_network(lab->engine, 1, 1);
	lab->engine->ops->create_network(lab->engine, 2, 1);
	expect_asked(lab, 0, 2);
	rule_set(lab, 0, (struct rule){ "POST /v1.41/networks", 201, "{\"Id\":\"n\"}" });
	first = expect_event(lab, ENGINE_NETWORK_READY);
	second = expect_event(lab, ENGINE_NETWORK_READY);
	assert_int_not_equal(lab->events[first].network.reach.address,
			     lab->events[second].network.reach.address);
}

static void a_network_that_is_still_in_use_is_removed_a_moment_later(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0,
		 (struct rule){ "GET /v1.41/networks?", 200,
				NETWORK_OF(OUR_LABELS, BLOCK("10.213.1.64/26", "10.213.1.65")) });
	rule_set(lab, 1,
		 (struct rule){ "DELETE /v1.41/networks/n1 ", 403, "{\"message\":\"active\"}", .times = 2 });
	rule_set(lab, 2, (struct rule){ "DELETE /v1.41/networks/n1 ", HOLD });
	lab_open(lab);
	expect_event(lab, ENGINE_LISTING);
	lab->engine->ops->remove_network(lab->engine, 1);
	expect_asked(lab, 2, 1);
	rule_set(lab, 0, (struct rule){ "GET /v1.41/networks?", 200, "[]" });
	rule_set(lab, 2, (struct rule){ "DELETE /v1.41/networks/n1 ", 204 });
	expect_event(lab, ENGINE_NETWORK_REMOVED);
	assert_int_equal(rule_asked(lab, 1), 2);
	assert_int_equal(events_count(lab, ENGINE_FAILED), 0);
}

static void a_removal_that_is_refused_is_told(void **state)
{
	static const struct {
		struct rule rule;
		enum status status;
		const char *text;
	} cases[] = {
		{ { "DELETE", 400, "{\"message\":\"no\"}" }, STATUS_INVALID_ARGUMENT, "no" },
		{ { "GET /v1.41/networks?", 500, "{\"message\":\"broken\"}" }, STATUS_INTERNAL, "broken" },
		{ { "GET /v1.41/networks?", 200, "{}" },
		  STATUS_INTERNAL,
		  "the engine's list of networks is not a JSON list: check that its address leads to Docker or "
		  "Podman" },
	};
	struct lab *lab = *state;

	up(lab);
	rule_set(lab, 1,
		 (struct rule){ "GET /v1.41/networks?", 200,
				NETWORK_OF(OUR_LABELS, BLOCK("10.213.1.64/26", "10.213.1.65")) });
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t failed;

		rule_set(lab, 0, cases[i].rule);
		lab->engine->ops->remove_network(lab->engine, 1);
		failed = expect_event(lab, ENGINE_FAILED);
		assert_int_equal(lab->events[failed].status, cases[i].status);
		assert_string_equal(lab->events[failed].text, cases[i].text);
	}
	assert_int_equal(events_count(lab, ENGINE_NETWORK_REMOVED), 0);
}

static void no_engine_no_network(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	rule_set(lab, 0, (struct rule){ "/_ping", 500, "{\"message\":\"starting up\"}" });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
	failed = create(lab, 1, ENGINE_NETWORK_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_UNAVAILABLE);
	assert_string_equal(lab->events[failed].text, "starting up");
	lab->engine->ops->remove_network(lab->engine, 1);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_FAILED)].status, STATUS_UNAVAILABLE);
}

#define ROOTLESS                                                                                             \
	"{\"ServerVersion\":\"9\",\"NCPU\":2,\"MemTotal\":1000,"                                             \
	"\"SecurityOptions\":[\"name=seccomp,profile=default\",\"name=rootless\"]}"

#define TUNNEL_REMOVAL "DELETE /v1.41/containers/ty-t-1-tunnel"
#define OUR_TUNNELED   NETWORK_OF(OUR_LABELS ",\"trainyard.reach\":\"tunnel\"", BLOCK("10.213.1.64/26", "10.213.1.65"))

/* A rootless engine, in namespaces of its own. Its networks get no tunnel, because it makes no containers. */
static void rootless_up(struct lab *lab)
{
	rule_set(lab, 0, (struct rule){ "GET /v1.41/networks ", 200, "[]" });
	rule_set(lab, 1, (struct rule){ "POST /v1.41/networks/create ", 201, "{\"Id\":\"n7\"}" });
	rule_set(lab, 2, (struct rule){ "/info", 200, ROOTLESS });
	rule_set(lab, 3, (struct rule){ TUNNEL_REMOVAL, 404, "{}" });
	rule_set(lab, 4,
		 (struct rule){ "POST /v1.41/containers/create", 500, "{\"message\":\"no such luck\"}" });
	up(lab);
}

/* Fails with: docker_is_rootless() that is never so; reach_wanted() without REACH_TUNNEL; present() that waits for no tunnel. */
static void an_engine_in_namespaces_of_its_own_gets_a_tunnel(void **state)
{
	struct lab *lab = *state;
	struct error err AUTO_ERROR = { 0 };
	struct connection_sink sink = { 0 };
	size_t ready;

	rootless_up(lab);
	ready = create(lab, 1, ENGINE_NETWORK_READY);
	assert_true(lab->events[ready].network.reach.is_carried);
	assert_int_equal(lab->events[ready].network.first, lab->events[ready].network.reach.address + 1);
	assert_int_equal(lab->events[ready].network.reach.address & 63, 2);
	assert_true(was_asked(lab, "\"trainyard.reach\":\"tunnel\""));
	/* Jobs run without a tunnel. */
	assert_int_equal(lab->engine->ops->carry_network(lab->engine, 1, &sink, &err), STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "no such luck"));
	error_deinit(&err);
	assert_int_equal(lab->engine->ops->carry_network(lab->engine, 2, &sink, &err), STATUS_NOT_FOUND);
}

/* The tunnel in turn is not removed while its thread makes a call about it. Fails with: remove_looked() without
 * tunnel_remove(); tunnel_drop() that is always true. */
static void a_tunnel_goes_before_its_network(void **state)
{
	struct lab *lab = *state;
	struct connection_sink sink = { 0 };

	rootless_up(lab);
	create(lab, 1, ENGINE_NETWORK_READY);
	rule_set(lab, 3, (struct rule){ TUNNEL_REMOVAL, HOLD });
	expect_asked(lab, 3, 1); /* its thread tries again */
	rule_set(lab, 5, (struct rule){ "GET /v1.41/networks?", 200, OUR_TUNNELED });
	rule_set(lab, 6, (struct rule){ "DELETE /v1.41/networks/n1 ", HOLD });
	lab->engine->ops->remove_network(lab->engine, 1);
	expect_asked(lab, 5, 2);
	assert_int_equal(rule_asked(lab, 3), 1);
	assert_int_equal(rule_asked(lab, 6), 0);
	rule_set(lab, 3, (struct rule){ TUNNEL_REMOVAL, 500, "{\"message\":\"container state improper\"}", .times = 3 });
	rule_set(lab, 7, (struct rule){ TUNNEL_REMOVAL, HOLD });
	expect_asked(lab, 7, 1);
	assert_int_equal(rule_asked(lab, 6), 0);
	rule_set(lab, 7, (struct rule){ TUNNEL_REMOVAL, 204 });
	expect_asked(lab, 6, 1);
	rule_set(lab, 5, (struct rule){ "GET /v1.41/networks?", 200, "[]" });
	rule_set(lab, 6, (struct rule){ "DELETE /v1.41/networks/n1 ", 204 });
	expect_event(lab, ENGINE_NETWORK_REMOVED);
	assert_int_equal(lab->engine->ops->carry_network(lab->engine, 1, &sink, NULL), STATUS_NOT_FOUND);
}

/* The tunnel's container of a killed daemon ends by itself; until then its removal is refused. Fails with:
 * container_remove() with one try: the job ran without storage. */
static void a_tunnel_that_just_ends_is_waited_for(void **state)
{
	struct lab *lab = *state;
	struct connection_sink sink = { 0 };
	struct error err AUTO_ERROR = { 0 };

	rootless_up(lab);
	rule_set(lab, 3, (struct rule){ TUNNEL_REMOVAL, 500, "{\"message\":\"container state improper\"}", .times = 2 });
	rule_set(lab, 5, (struct rule){ TUNNEL_REMOVAL, 404, "{}" });
	create(lab, 1, ENGINE_NETWORK_READY);
	assert_int_equal(rule_asked(lab, 3), 2);
	assert_int_equal(lab->engine->ops->carry_network(lab->engine, 1, &sink, &err), STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "no such luck")); /* of what comes after it */
}

/* Fails with: a container that was made and not started stayed, if the network was removed meanwhile: the next try was the only
 * one to remove it. */
static void a_tunnel_that_does_not_start_is_removed(void **state)
{
	struct lab *lab = *state;

	rootless_up(lab);
	rule_set(lab, 3, (struct rule){ TUNNEL_REMOVAL, 404, "{}" });
	rule_set(lab, 4, (struct rule){ "POST /v1.41/containers/create", 201, "{\"Id\":\"t1\"}" });
	rule_set(lab, 5, (struct rule){ "/attach?", 200, "" });
	rule_set(lab, 6, (struct rule){ "/start ", 404, "{\"message\":\"network n7 not found\"}" });
	create(lab, 1, ENGINE_NETWORK_READY);
	while (rule_asked(lab, 6) < 3)
		poll(NULL, 0, 5);
	assert_true(rule_asked(lab, 3) >= 5); /* before each try, and after the first two */
}

/* An error in each step before a connection is carried. */
static void a_tunnel_that_cannot_be_made_says_why(void **state)
{
	static const struct {
		struct rule rules[3];
		const char *text;
	} cases[] = {
		{ { { "-tunnel?force=1", 403, "{\"message\":\"not yours\"}" } }, "not yours" },
		{ { { "POST /v1.41/containers/create", 404, "{\"message\":\"No such image\"}" },
		    { "POST /v1.41/images/create", 500, "{\"message\":\"no space left\"}" } },
		  "no space left" },
		{ { { "POST /v1.41/containers/create", 404, "{\"message\":\"network n7 not found\"}" },
		    { "POST /v1.41/images/create", 200, "{}" } },
		  "network n7 not found" },
		{ { { "POST /v1.41/containers/create", 201, "{\"Id\":\"t1\"}" },
		    { "/attach?", 409, "{\"message\":\"cannot attach\"}" } },
		  "cannot attach" },
		{ { { "POST /v1.41/containers/create", 201, "{\"Id\":\"t1\"}" },
		    { "/attach?", 200, "" },
		    { "/start ", 500, "{\"message\":\"no runtime\"}" } },
		  "no runtime" },
		{ { { "POST /v1.41/containers/create", 201, "{\"Id\":\"t1\"}" },
		    { "/attach?", 200, "\1\0\0\0\0\0\0\10greeting", .length = 16 },
		    { "/start ", 204 } },
		  "sends bytes that are not a tunnel's" },
		{ { { "POST /v1.41/containers/create", 201, "{\"Id\":\"t1\"}" },
		    { "/attach?", 200, "", .cut = true },
		    { "/start ", 204 } },
		  "its container or the engine has ended" },
	};
	struct lab *lab = *state;
	struct connection_sink sink = { 0 };

	rootless_up(lab);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const int64_t job = 10 + (int64_t)i;
		struct error err AUTO_ERROR = { 0 };

		for (size_t rule = 0; rule < 3; rule++)
			rule_set(lab, 3 + rule, cases[i].rules[rule]);
		lab->engine->ops->create_network(lab->engine, job, 1);
		expect_event(lab, ENGINE_NETWORK_READY);
		assert_int_equal(lab->engine->ops->carry_network(lab->engine, job, &sink, &err),
				 STATUS_UNAVAILABLE);
		assert_non_null(strstr(err.text, cases[i].text));
	}
}

/* The engine is elsewhere if this machine lacks the bridge's name; the address may exist here, in another engine's
 * network. Fails with: is_far() by the address: the job's replicas reached nothing. */
static void an_engine_without_this_machines_files_is_far_by_its_bridge(void **state)
{
	struct lab *lab = *state;
	size_t ready;

	lab->options.state_dir = "/tmp";
	lab->options.networks = "10.213.0.0/16";
	rule_set(lab, 0, (struct rule){ "POST /v1.41/containers/create ", 400, NO_SOURCE, .times = 1 });
	rule_set(lab, 1,
		 (struct rule){ "GET /v1.41/networks ", 200,
				NETWORK_OF(OUR_LABELS, BLOCK("127.0.0.0/26", "127.0.0.1")), .times = 1 });
	rule_set(lab, 2, (struct rule){ "GET /v1.41/networks ", 200, "[]" });
	rule_set(lab, 3, (struct rule){ "DELETE /v1.41/networks/n1 ", 204 });
	rule_set(lab, 4, (struct rule){ "POST /v1.41/networks/create ", 201, "{\"Id\":\"n8\"}" });
	rule_set(lab, 5, (struct rule){ TUNNEL_REMOVAL, 403, "{\"message\":\"no\"}" });
	up(lab);
	ready = create(lab, 1, ENGINE_NETWORK_READY);
	assert_int_equal(rule_asked(lab, 3), 1);
	assert_string_equal(lab->events[ready].network.id, "n8");
	assert_true(lab->events[ready].network.reach.is_carried);
	assert_true(was_asked(lab, "\"trainyard.reach\":\"tunnel\""));
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_network_is_made_of_the_pools_first_free_block),
		LAB_TEST(a_pool_without_a_free_block_is_named),
		LAB_TEST(free_blocks_are_counted),
		LAB_TEST(the_jobs_own_network_is_taken_over_when_it_fits),
		LAB_TEST(a_refusal_is_told_with_the_engines_words),
		LAB_TEST(an_engine_that_has_every_block_ends_the_search),
		LAB_TEST(an_overlapping_block_is_passed_over),
		LAB_TEST(what_another_took_is_passed_over_on_podman),
		LAB_TEST(a_network_that_is_just_being_made_is_waited_for),
		LAB_TEST(a_bridge_that_nobody_has_is_passed_over),
		LAB_TEST(a_network_is_removed_only_after_its_creation),
		LAB_TEST(networks_that_are_made_at_once_have_blocks_of_their_own),
		LAB_TEST(a_network_that_is_still_in_use_is_removed_a_moment_later),
		LAB_TEST(a_removal_that_is_refused_is_told),
		LAB_TEST(no_engine_no_network),
		LAB_TEST(an_engine_in_namespaces_of_its_own_gets_a_tunnel),
		LAB_TEST(a_tunnel_goes_before_its_network),
		LAB_TEST(a_tunnel_that_just_ends_is_waited_for),
		LAB_TEST(a_tunnel_that_does_not_start_is_removed),
		LAB_TEST(a_tunnel_that_cannot_be_made_says_why),
		LAB_TEST(an_engine_without_this_machines_files_is_far_by_its_bridge),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker network", tests, start, NULL);
}
