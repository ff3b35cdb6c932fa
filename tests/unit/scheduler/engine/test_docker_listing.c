/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_listing.c: a listing is complete, or is made again. */
#include "tests/unit/scheduler/engine/docker_testing.h"

#define NETWORK_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LISTED_IN(network, id, name, state)                                                                  \
	"{\"Id\":\"" id "\",\"Names\":[\"/" name "\"],\"State\":\"" state "\",\"Labels\":" LABELS            \
	",\"HostConfig\":{\"NetworkMode\":\"" network "\"}}"
#define LISTED(id, name, state) LISTED_IN(NETWORK_ID, id, name, state)
#define OUR_NETWORK                                                                                          \
	"{\"Id\":\"n1\",\"Labels\":{\"trainyard.instance\":\"t\",\"trainyard.job\":\"1\"},"                  \
	"\"IPAM\":{\"Config\":[{\"Subnet\":\"10.213.1.64/26\",\"Gateway\":\"10.213.1.65\"}]}}"

static void list_with(struct lab *lab, const char *containers)
{
	rule_set(lab, 0, (struct rule){ "/containers/json?all=1", 200, containers });
}

/* Fails with: has_its_name() true: the container was taken for gone, and stayed for ever. */
static void a_renamed_container_gets_its_name_back(void **state)
{
	struct lab *lab = *state;
	size_t listing;

	list_with(lab, "[" LISTED("c1", "mine-now", "exited") "]");
	rule_set(lab, 1, (struct rule){ "POST /v1.41/containers/c1/rename?name=ty-t-1-master-0-a1 ", 204 });
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	lab_open(lab);
	listing = expect_event(lab, ENGINE_LISTING);
	assert_int_equal(rule_asked(lab, 1), 1);
	assert_int_equal(lab->events[listing].replica_count, 1);
	assert_int_equal(lab->events[listing].replica.exit_code, 3);
}

/* A user runs an image that `docker commit` made of a replica's container. Fails with: docker_container_is_made_here()
 * true: a user's container was renamed, and removed with the next listing. */
static void a_container_that_has_our_labels_of_its_image_is_left_alone(void **state)
{
	static const char *const networks[] = { "default", "bridge", "ty-t-1", "container:" NETWORK_ID };
	static char listed[COUNT_OF(networks)][1024]; /* the engine's thread reads them until the end */
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(networks); i++) {
		snprintf(listed[i], sizeof(listed[i]), "[" LISTED_IN("%s", "c1", "by-hand", "running") "]",
			 networks[i]);
		list_with(lab, listed[i]);
		lab_open(lab);
		assert_int_equal(lab->events[expect_event(lab, ENGINE_LISTING)].replica_count, 0);
		lab_close(lab);
	}
	assert_false(was_asked(lab, "/rename"));
}

#define LOOK(id, name)                                                                                       \
	"{\"Id\":\"" id "\",\"Names\":[\"/" name "\"],\"State\":\"created\",\"Labels\":{\"trainyard.instance\":\"t\","   \
	"\"trainyard.look\":\"ty-t-look-0badcafe-0\"}}"

/* The daemon was stopped while it looked for a program in an image. Fails with: container_take() without inspection_sweep(): the
 * container stayed for ever; docker_inspection_is_left() without the name: a user's container was removed. */
static void a_container_of_an_interrupted_inspection_is_removed(void **state)
{
	struct lab *lab = *state;

	list_with(lab, "[" LOOK("c8", "by-hand") "," LOOK("c9", "ty-t-look-0badcafe-0") "]");
	rule_set(lab, 1, (struct rule){ "DELETE /v1.41/containers/c9?", 204 });
	rule_set(lab, 2, (struct rule){ "DELETE /v1.41/containers/c8?", 204 });
	lab_open(lab);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_LISTING)].replica_count, 0);
	settle(lab);
	assert_true(rule_asked(lab, 1) >= 1); /* each listing that still has it */
	assert_int_equal(rule_asked(lab, 2), 0);
}

static void a_rename_that_is_refused_does_not_hold_up_the_listing(void **state)
{
	struct lab *lab = *state;

	list_with(lab, "[" LISTED("c1", "mine-now", "running") "]");
	rule_set(lab, 1, (struct rule){ "/rename", 409, "{\"message\":\"in use\"}" });
	lab_open(lab);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_LISTING)].replica_count, 0);
}

static void a_rename_is_looked_into_at_once(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/events", 200, EVENT_MASTER("rename", "") });
	lab_open(lab);
	expect_event(lab, ENGINE_LISTING);
	expect_event(lab, ENGINE_LISTING); /* so it did not wait for the next regular listing, after half a minute */
}

/* Fails with: inspected() without its exception: the listing failed for what had gone meanwhile. */
static void what_went_since_it_was_listed_is_left_out(void **state)
{
	struct lab *lab = *state;

	list_with(lab, "[" LISTED("c1", "ty-t-1-master-0-a1", "exited") ",7,{},{\"Labels\":{}}]");
	lab_open(lab); /* there is no such container any more */
	assert_int_equal(lab->events[expect_event(lab, ENGINE_LISTING)].replica_count, 0);
	assert_true(was_asked(lab, "/ty-t-1-master-0-a1/json"));
}

/* Fails with: listing_fail() left out for what cannot be understood: a listing without what is there. */
static void a_listing_that_cannot_be_made_comes_again(void **state)
{
	static const struct rule failures[] = {
		{ "/containers/json?all=1", 500, "{\"message\":\"busy\"}", .times = 1 },
		{ "/containers/json?all=1", 200, "{}", .times = 1 },
		{ "/ty-t-1-master-0-a1/json", 500, "{\"message\":\"busy\"}", .times = 1 },
		{ "/ty-t-1-master-0-a1/json", 200, "[]", .times = 1 },
		{ "GET /v1.41/networks", 500, "", .times = 1 },
		{ "GET /v1.41/networks", 200, "{\"a\":", .times = 1 },
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(failures); i++) {
		size_t listing;

		rule_set(lab, 0, failures[i]);
		rule_set(lab, 1,
			 (struct rule){ "/containers/json?all=1", 200,
					"[" LISTED("c1", "ty-t-1-master-0-a1", "exited") "]" });
		rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
		rule_set(lab, 3,
			 (struct rule){ "GET /v1.41/networks", 200, "[" OUR_NETWORK ",7,{\"Id\":\"n2\"}]" });
		lab_open(lab);
		listing = expect_event(lab, ENGINE_LISTING);
		lab_close(lab);
		assert_int_equal(rule_asked(lab, 0), 1);
		assert_int_equal(lab->events[listing].replica_count, 1);
		assert_int_equal(lab->events[listing].network_count, 1);
		assert_string_equal(lab->events[listing].network.id, "n1");
	}
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* dockerd answers so for a container with lost layers. Fails with: inspection_fail() that fails each listing: there was
 * none for good, and no job was admitted. */
static void a_container_that_the_engine_cannot_tell_of_is_listed_as_the_list_has_it(void **state)
{
	struct lab *lab = *state;
	size_t listing;

	list_with(lab, "[{\"Id\":\"c1\",\"Names\":[\"/ty-t-1-master-0-a1\"],\"State\":\"exited\","
		       "\"Status\":\"Exited (7) 2 hours ago\",\"Labels\":" LABELS "}]");
	rule_set(lab, 1,
		 (struct rule){ "/ty-t-1-master-0-a1/json", 500,
				"{\"message\":\"RWLayer of container c1 is unexpectedly nil\"}" });
	lab_open(lab);
	listing = expect_event(lab, ENGINE_LISTING);
	assert_int_equal(rule_asked(lab, 1), 4); /* the error may be temporary */
	assert_int_equal(lab->events[listing].replica_count, 1);
	assert_int_equal(lab->events[listing].replica.observed, REPLICA_EXITED);
	assert_int_equal(lab->events[listing].replica.exit_code, 7);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Fails with: listing_step() without link_lose(): the daemon waited for an engine that it took for well. */
static void an_engine_that_does_not_answer_a_listing_is_gone(void **state)
{
	struct lab *lab = *state;
	size_t down;

	rule_set(lab, 0,
		 (struct rule){ "/containers/json?all=1", 503, "{\"message\":\"shutting down\"}", .times = 1 });
	lab_open(lab);
	down = expect_event(lab, ENGINE_DOWN);
	assert_string_equal(lab->events[down].text, "shutting down");
	expect_event(lab, ENGINE_LISTING);
	assert_int_equal(events_count(lab, ENGINE_UP), 2);
}

/* Holds back a listing's answer on the first connection until the second connection is up. */
static void answer_late(struct lab *lab, struct rule answer)
{
	rule_set(lab, 0, (struct rule){ "/containers/json?all=1", HOLD });
	rule_set(lab, 1, (struct rule){ "/events", 200, .cut = true, .times = 1 });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	expect_asked(lab, 0, 1);
	expect_event(lab, ENGINE_DOWN);
	expect_event(lab, ENGINE_UP);
	rule_set(lab, 0, answer);
}

/* Fails with: listing_step() that does not compare the epochs before it emits: what it found may be older than what went
 * unheard between the two connections. */
static void a_listing_of_an_earlier_connection_is_not_told(void **state)
{
	struct lab *lab = *state;

	answer_late(lab, (struct rule){ "/containers/json?all=1", 200,
					"[" LISTED("c1", "ty-t-1-master-0-a1", "running") "]", .times = 1 });
	assert_int_equal(lab->events[expect_event(lab, ENGINE_LISTING)].replica_count, 0);
	assert_int_equal(rule_asked(lab, 0), 1);
}

/* Fails with: listing_step() that does not compare the epochs before it calls link_lose(). */
static void a_listing_of_an_earlier_connection_does_not_end_the_next_one(void **state)
{
	struct lab *lab = *state;

	answer_late(lab,
		    (struct rule){ "/containers/json?all=1", 503, "{\"message\":\"shutting down\"}", .times = 1 });
	expect_event(lab, ENGINE_LISTING);
	assert_int_equal(rule_asked(lab, 0), 1);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 1);
}

/* An event that arrived while the listing was made is newer than the listing. Fails with: note_add() left out: the network
 * was missing, and its job begun anew. */
static void a_listing_has_the_network_that_was_made_meanwhile(void **state)
{
	struct lab *lab = *state;
	size_t listing;

	up(lab);
	rule_set(lab, 0, (struct rule){ "/containers/json?all=1", HOLD });
	rule_set(lab, 1, (struct rule){ "POST /v1.41/networks", 201, "{\"Id\":\"n9\"}" });
	lab->engine->ops->list(lab->engine);
	expect_asked(lab, 0, 1);
	lab->engine->ops->create_network(lab->engine, 1, 1);
	expect_event(lab, ENGINE_NETWORK_READY);
	rule_set(lab, 0, (struct rule){ "/containers/json?all=1", 200, "[]" });
	listing = expect_event(lab, ENGINE_LISTING);
	assert_int_equal(lab->events[listing].network_count, 1);
	assert_string_equal(lab->events[listing].network.id, "n9");
}

static void a_listing_has_no_network_that_was_removed_meanwhile(void **state)
{
	struct lab *lab = *state;

	up(lab);
	/* The networks are answered first, and the container is held back. */
	list_with(lab, "[" LISTED("c1", "ty-t-1-master-0-a1", "exited") "]");
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", HOLD });
	rule_set(lab, 2, (struct rule){ "instance%3Dt%22%5D", 200, "[" OUR_NETWORK "]", .times = 1 });
	lab->engine->ops->list(lab->engine);
	expect_asked(lab, 1, 1);
	expect_asked(lab, 2, 1);
	lab->engine->ops->remove_network(lab->engine, 1);
	expect_event(lab, ENGINE_NETWORK_REMOVED);
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	assert_int_equal(lab->events[expect_event(lab, ENGINE_LISTING)].network_count, 0);
}

static void a_listing_has_the_pause_that_was_told_meanwhile(void **state)
{
	struct lab *lab = *state;
	size_t listing;

	rule_set(lab, 0, (struct rule){ "/containers/json?all=1", HOLD });
	rule_set(lab, 1, (struct rule){ "/events", 200, EVENT_MASTER("pause", "") });
	lab_open(lab);
	assert_true(lab->events[expect_event(lab, ENGINE_REPLICA_PAUSED)].replica.paused);
	list_with(
		lab,
		"[{\"Id\":\"c1\",\"Names\":[\"/ty-t-1-master-0-a1\"],\"State\":\"running\",\"Labels\":"
		"{\"trainyard.instance\":\"t\",\"trainyard.job\":\"1\",\"trainyard.job_id\":\"j\","
		"\"trainyard.project\":\"p\",\"trainyard.pool\":\"master\",\"trainyard.replica\":\"master-0\","
		"\"trainyard.attempt\":\"1\",\"trainyard.gateway\":\"8080\"}}]");
	listing = expect_event(lab, ENGINE_LISTING);
	assert_int_equal(lab->events[listing].replica_count, 1);
	assert_true(lab->events[listing].replica.paused);
	/* Fails with: replica_apply() that takes all of what was told, which says less, when that is no further. */
	assert_int_equal(lab->events[listing].replica.gateway_port, 8080);
}

/* Fails with: listing_step() without its again: the second caller got an old answer. */
static void who_asks_while_one_is_made_gets_another(void **state)
{
	struct lab *lab = *state;

	up(lab);
	rule_set(lab, 0, (struct rule){ "/containers/json?all=1", HOLD });
	lab->engine->ops->list(lab->engine);
	expect_asked(lab, 0, 1);
	lab->engine->ops->list(lab->engine);
	lab->engine->ops->list(lab->engine);
	rule_set(lab, 1, (struct rule){ "/disconnect", 500, "{}" });
	lab->engine->ops->link_replica(lab->engine, &master, &(struct replica_link){ .network = "n" });
	expect_event(lab, ENGINE_FAILED); /* so all of them were taken */
	list_with(lab, "[]");
	expect_event(lab, ENGINE_LISTING);
	expect_event(lab, ENGINE_LISTING);
	assert_int_equal(events_count(lab, ENGINE_LISTING), 3);
}

#define THROTTLE(id, name)                                                                                   \
	"{\"Id\":\"" id "\",\"Names\":[\"/" name                                                             \
	"\"],\"State\":\"exited\",\"Labels\":{\"trainyard.instance\":\"t\","                                 \
	"\"trainyard.pool\":\"\",\"trainyard.throttle\":\"ty-t-1-master-0-a1-throttle\"}}"

/* An image that was made of a throttle's container has its labels. Fails with: throttle_sweep() that does not compare the
 * name. */
static void of_throttles_only_those_with_their_own_name_go(void **state)
{
	struct lab *lab = *state;

	list_with(lab,
		  "[" THROTTLE("aa", "somebody-elses") "," THROTTLE("bb", "ty-t-1-master-0-a1-throttle") "]");
	rule_set(lab, 1, (struct rule){ "DELETE /v1.41/containers/aa", 204 });
	rule_set(lab, 2, (struct rule){ "DELETE /v1.41/containers/bb", 204 });
	lab_open(lab);
	expect_event(lab, ENGINE_LISTING);
	for (int i = 0; i < 2000 && !rule_asked(lab, 2); i++)
		usleep(1000);
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_int_equal(rule_asked(lab, 1), 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(of_throttles_only_those_with_their_own_name_go),
		LAB_TEST(a_renamed_container_gets_its_name_back),
		LAB_TEST(a_container_that_has_our_labels_of_its_image_is_left_alone),
		LAB_TEST(a_container_of_an_interrupted_inspection_is_removed),
		LAB_TEST(a_rename_that_is_refused_does_not_hold_up_the_listing),
		LAB_TEST(a_rename_is_looked_into_at_once),
		LAB_TEST(what_went_since_it_was_listed_is_left_out),
		LAB_TEST(a_listing_that_cannot_be_made_comes_again),
		LAB_TEST(a_container_that_the_engine_cannot_tell_of_is_listed_as_the_list_has_it),
		LAB_TEST(an_engine_that_does_not_answer_a_listing_is_gone),
		LAB_TEST(a_listing_of_an_earlier_connection_is_not_told),
		LAB_TEST(a_listing_of_an_earlier_connection_does_not_end_the_next_one),
		LAB_TEST(a_listing_has_the_network_that_was_made_meanwhile),
		LAB_TEST(a_listing_has_no_network_that_was_removed_meanwhile),
		LAB_TEST(a_listing_has_the_pause_that_was_told_meanwhile),
		LAB_TEST(who_asks_while_one_is_made_gets_another),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker listing", tests, start, NULL);
}
