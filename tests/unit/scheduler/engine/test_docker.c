/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker.c and its parts with a simulated engine that gives answers which a real one rarely
 * gives. tests/integration/engine_contract.c tests real ones. */
#include <stdatomic.h>

#include "daemon/base/json.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

static void options_are_checked(void **state)
{
	static const struct engine_options wrong[] = {
		{ .url = "unix:///x", .instance = "", .networks = "10.213.0.0/16" },
		{ .url = "unix:///x", .instance = "Upper", .networks = "10.213.0.0/16" },
		{ .url = "unix:///x",
		  .instance = "a23456789012345678901234567890123",
		  .networks = "10.213.0.0/16" },
		{ .url = "unix:///x", .instance = "t", .networks = "10.213.0.0" },
		{ .url = "unix:///x", .instance = "t", .networks = "10.213.0.0/27" },
		{ .url = "unix:///x", .instance = "t", .networks = "0.0.0.0/0" },
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(docker_open(&wrong[i], &(struct engine_sink){ on_event, on_line, lab },
					     &lab->engine, &err),
				 STATUS_INVALID_ARGUMENT);
		assert_null(strchr(err.text, '\n'));
		assert_null(lab->engine);
	}
}

static void an_engine_is_chosen_by_its_url(void **state)
{
	static const char *const wrong[] = { "", "unix://", "http://127.0.0.1:2375", "unix://relative",
					     "/var/run/docker.sock" };
	char longest[200];

	(void)state;
	assert_ptr_equal(engine_kind_of("unix:///x")->open, docker_open);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_null(engine_kind_of(wrong[i]));
	snprintf(longest, sizeof(longest), "unix:///%0106d", 0); /* a socket's path takes 107 bytes */
	assert_non_null(engine_kind_of(longest));
	strcat(longest, "0");
	assert_null(engine_kind_of(longest));
}

static void an_engine_that_comes_late_is_found(void **state)
{
	struct lab *lab = *state;
	char late[sizeof(lab->path) + 8];

	snprintf(late, sizeof(late), "%s.late", lab->path);
	assert_int_equal(rename(lab->path, late), 0);
	lab_open(lab);
	assert_non_null(
		strstr(lab->events[expect_event(lab, ENGINE_DOWN)].text, "No such file or directory"));
	lab->engine->ops->list(lab->engine);
	assert_int_equal(rename(late, lab->path), 0);
	assert_string_equal(lab->events[expect_event(lab, ENGINE_UP)].text, "Docker Engine 9 (API 1.41)");
	expect_event(lab, ENGINE_LISTING);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 1);
}

static void versions_are_agreed_on(void **state)
{
	static const struct {
		const char *theirs, *path;
	} versions[] = { { "1.40", "/v1.40/info" }, { "1.44", "/v1.44/info" }, { "1.99", "/v1.50/info" } };
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		version_set(lab, versions[i].theirs);
		rule_set(lab, 0,
			 (struct rule){ versions[i].path, 200, "{\"NCPU\":2,\"MemTotal\":1000}", 0, 0 });
		rule_set(lab, 1, (struct rule){ "/info", 400, "{\"message\":\"wrong version\"}", 0, 0 });
		up(lab);
		lab_close(lab);
	}
}

/* Podman's /info differs from Docker's: captured from 4.3.1 and 5.8.6. */
static void podman_is_called_by_its_name(void **state)
{
	struct lab *lab = *state;

	/* Fails with: is_podman = false */
	rule_set(
		lab, 0,
		(struct rule){
			"/info", 200,
			"{\"ServerVersion\":\"5.8.6\",\"BuildahVersion\":\"1.43.2\",\"NCPU\":2,\"MemTotal\":1000}",
			0, 0 });
	lab_open(lab);
	assert_string_equal(lab->events[expect_event(lab, ENGINE_UP)].text, "Podman 5.8.6 (API 1.41)");
}

/* Fails with: replica_create_run() without gpus_are_wanted(): the container was made. */
static void podman_is_asked_for_no_gpus(void **state)
{
	struct lab *lab = *state;
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *ids = json_pack("[s]", "0");
	size_t at;

	rule_set(
		lab, 0,
		(struct rule){
			"/info", 200,
			"{\"ServerVersion\":\"4.3.1\",\"BuildahVersion\":\"1.28.0\",\"NCPU\":2,\"MemTotal\":1000}",
			0, 0 });
	rule_set(lab, 1, (struct rule){ "/containers/create", 500, "{}", 0, 0 });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	spec.device_ids = ids;
	lab->engine->ops->create_replica(lab->engine, &spec);
	at = expect_event(lab, ENGINE_REPLICA_FAILED);
	assert_int_equal(lab->events[at].status, STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(lab->events[at].text, "Podman gives containers no GPUs"));
	assert_int_equal(rule_asked(lab, 1), 0);
}

static void each_connection_tells_what_the_host_has_now(void **state)
{
	struct lab *lab = *state;
	size_t up;

	rule_set(lab, 0,
		 (struct rule){ "/info", 200,
				"{\"NCPU\":4,\"MemTotal\":1000,\"DiscoveredDevices\":["
				"{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=0\"}]}",
				0, 1 });
	rule_set(lab, 1, (struct rule){ "/info", 200, "{\"NCPU\":2,\"MemTotal\":500}", 0, 0 });
	rule_set(lab, 2, (struct rule){ "/events", 0, NULL, 0, 0 });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
	rule_set(lab, 2, (struct rule){ NULL, 0, NULL, 0, 0 });
	up = expect_event(lab, ENGINE_UP);
	assert_true(lab->events[up].host.known);
	assert_int_equal(lab->events[up].host.cpus, 2);
	assert_int_equal(lab->events[up].host.memory_bytes, 500);
	assert_int_equal(lab->events[up].host.device_count, 0);
	lab_close(lab);
	rule_set(lab, 0,
		 (struct rule){ "/info", 200,
				"{\"NCPU\":4,\"MemTotal\":1000,\"DiscoveredDevices\":["
				"{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=0\"}]}",
				0, 1 });
	lab_open(lab);
	up = expect_event(lab, ENGINE_UP);
	assert_int_equal(lab->events[up].host.cpus, 4);
	assert_int_equal(lab->events[up].host.device_count, 1);
	assert_string_equal(lab->events[up].device, "nvidia.com/gpu=0");
}

/* Fails with: become_up() that begins with the first wait again: five connections a second came and went, for good. */
static void an_engine_whose_events_end_at_once_is_asked_more_and_more_seldom(void **state)
{
	enum { LEAST_MS = 200 + 400 + 800 };
	struct lab *lab = *state;
	struct timespec begin, end;

	rule_set(lab, 0, (struct rule){ "/events", 200, .cut = true });
	clock_gettime(CLOCK_MONOTONIC, &begin);
	lab_open(lab);
	for (int i = 0; i < 4; i++)
		expect_event(lab, ENGINE_DOWN);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true(events_count(lab, ENGINE_UP) >= 4);
	assert_true((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= LEAST_MS);
}

/* Fails with: info_done() that takes such a host, as it was: the connection was up, and no job was ever admitted. */
static void an_engine_that_does_not_name_what_the_host_has_is_asked_again(void **state)
{
	struct lab *lab = *state;
	size_t up;

	rule_set(lab, 0, (struct rule){ "/info", 200, "{\"Id\":7,\"State\":[],\"Config\":\"none\"}", 0, 1 });
	rule_set(lab, 1, (struct rule){ "/info", 200, "{\"NCPU\":2,\"MemTotal\":500}", 0, 0 });
	lab_open(lab);
	assert_string_equal(lab->events[expect_event(lab, ENGINE_DOWN)].text,
			    "the engine's answer to /info names no CPUs or no memory");
	up = expect_event(lab, ENGINE_UP);
	assert_true(lab->events[up].host.known);
	assert_int_equal(lab->events[up].host.memory_bytes, 500);
}

/* The head of the stream is sent before dockerd subscribes: events in between must be read as past ones. */
static void what_happened_before_the_stream_was_open_is_asked_for(void **state)
{
	struct lab *lab = *state;

	rule_set(
		lab, 0,
		(struct rule){
			"/info", 200,
			"{\"NCPU\":2,\"MemTotal\":1000,\"SystemTime\":\"2026-11-22T07:15:49.012345678+01:00\"}",
			0, 0 });
	rule_set(
		lab, 1,
		(struct rule){ "/events?since=1795328149.012345678&", 200,
			       "{\"Type\":\"container\",\"Action\":\"destroy\",\"Actor\":{\"ID\":\"c1\","
			       "\"Attributes\":{\"name\":\"ty-t-1-master-0-a1\",\"trainyard.instance\":\"t\","
			       "\"trainyard.job\":\"1\",\"trainyard.attempt\":\"1\",\"trainyard.pool\":"
			       "\"master\",\"trainyard.replica\":\"master-0\"}}}\n",
			       0, 0 });
	lab_open(lab);
	assert_true(docker_key_equal(&lab->events[expect_event(lab, ENGINE_REPLICA_REMOVED)].replica.key,
				     &master));
}

static void a_terminal_is_opened_once_the_engine_has_answered(void **state)
{
	struct lab *lab = *state;
	json_t *command = json_pack("[s]", "/bin/sh");
	struct terminal *terminal = NULL;

	rule_set(lab, 0, (struct rule){ "/_ping", -1, NULL, 0, 1 });
	lab_open(lab);
	assert_int_equal(lab->engine->ops->open_terminal(lab->engine, &master, command, TERMINAL_SCREEN,
							 &terminal, NULL),
			 STATUS_UNAVAILABLE);
	lab->engine->ops->close(lab->engine);
	up(lab);
	assert_int_equal(lab->engine->ops->open_terminal(lab->engine, &master, command, TERMINAL_SCREEN,
							 &terminal, NULL),
			 STATUS_NOT_FOUND);
	rule_set(lab, 0,
		 (struct rule){ "/containers/ty-t-1-master-0-a1/exec ", 201, "{\"Id\":\"e\"}", 0, 0 });
	rule_set(lab, 1, (struct rule){ "/exec/e/start", 101, "", 0, 1 });
	rule_set(lab, 2, (struct rule){ "/exec/e/", 200, "{\"Running\":true,\"Pid\":7}", 0, 0 });
	assert_int_equal(lab->engine->ops->open_terminal(lab->engine, &master, command, TERMINAL_SCREEN,
							 &terminal, NULL),
			 STATUS_OK);
	/* The object outlives the engine that opened it. */
	lab_close(lab);
	assert_true(terminal->ops->write(terminal, "x", 1));
	terminal->ops->close(terminal);
	assert_true(rule_asked(lab, 2) >= 3); /* sized, looked at, ended */
	json_decref(command);
}

static void an_engine_too_old_is_down_with_a_reason(void **state)
{
	static const char *const old[] = { "1.39", "0.9", "", "x" };
	struct lab *lab = *state;

	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		version_set(lab, old[i]);
		lab_open(lab);
		assert_non_null(
			strstr(lab->events[expect_event(lab, ENGINE_DOWN)].text, "1.40 or newer is needed"));
		lab_close(lab);
	}
	assert_int_equal(events_count(lab, ENGINE_UP), 0);
}

/* An engine that no longer supports any of our API versions reports that itself. */
static void an_engine_too_new_is_down_with_its_own_words(void **state)
{
	struct lab *lab = *state;

	version_set(lab, "1.99");
	rule_set(
		lab, 0,
		(struct rule){
			"/v1.50/info", 400,
			"{\"message\":\"client version 1.50 is too old. Minimum supported API version is 1.60\"}",
			0, 0 });
	lab_open(lab);
	assert_non_null(strstr(lab->events[expect_event(lab, ENGINE_DOWN)].text,
			       "client version 1.50 is too old. Minimum supported API version is 1.60"));
	assert_int_equal(events_count(lab, ENGINE_UP), 0);
}

static void answers_that_are_no_json_fail_their_call(void **state)
{
	static const char *const bodies[] = {
		"", "{", "[", "null", "\"x\"", "{}", "[7,{},{\"Labels\":7}]", "\xff\xfe"
	};
	struct lab *lab = *state;

	up(lab);
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		rule_set(lab, 0, (struct rule){ "GET /v1.41/images", 200, bodies[i], 0, 0 });
		rule_set(lab, 1, (struct rule){ "GET /v1.41/networks ", 200, bodies[i], 0, 0 });
		rule_set(lab, 2, (struct rule){ "POST /v1.41/networks", 201, bodies[i], 0, 0 });
		rule_set(lab, 3, (struct rule){ "/ty-t-1-master-0-a1/json", 200, bodies[i], 0, 0 });
		lab->engine->ops->ensure_image(lab->engine, "x");
		assert_int_equal(lab->events[expect_event(lab, ENGINE_IMAGE_FAILED)].status, STATUS_INTERNAL);
		lab->engine->ops->create_network(lab->engine, 1, 1);
		assert_int_equal(lab->events[expect_event(lab, ENGINE_NETWORK_FAILED)].status,
				 STATUS_INTERNAL);
		lab->engine->ops->start_replica(lab->engine, &master);
		assert_int_equal(lab->events[expect_event(lab, ENGINE_REPLICA_FAILED)].status,
				 STATUS_INTERNAL);
	}
}

static void an_endless_answer_is_cut_off(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	rule_set(lab, 0, (struct rule){ "GET /v1.41/images", 200, "{", 65 << 20, 0 });
	up(lab);
	lab->engine->ops->ensure_image(lab->engine, "x");
	failed = expect_event(lab, ENGINE_IMAGE_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_INTERNAL);
	assert_non_null(strstr(lab->events[failed].text, "larger than"));
}

/* The list has the whole command of each container. */
static void a_long_listing_is_taken(void **state)
{
	enum { BYTES = 65 << 20 };
	struct lab *lab = *state;
	static char body[BYTES + 1];

	memset(body, ' ', BYTES);
	body[0] = '[';
	body[BYTES - 1] = ']';
	rule_set(lab, 0, (struct rule){ "/containers/json?all=1", 200, body, 0, 0 });
	up(lab);
}

static void a_cut_connection_makes_the_outcome_unavailable(void **state)
{
	struct lab *lab = *state;
	struct replica_spec spec = spec_of();

	rule_set(lab, 0, (struct rule){ "/containers/create", 0, NULL, 0, 0 });
	rule_set(lab, 1, (struct rule){ "DELETE", 0, NULL, 0, 0 });
	up(lab);
	lab->engine->ops->create_replica(lab->engine, &spec);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_REPLICA_FAILED)].status, STATUS_UNAVAILABLE);
	lab->engine->ops->remove_replica(lab->engine, &master);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_FAILED)].status, STATUS_UNAVAILABLE);
}

static void a_taken_name_is_adopted_only_with_our_labels(void **state)
{
	struct lab *lab = *state;
	struct replica_spec spec = spec_of();

	rule_set(lab, 0, (struct rule){ "/containers/create", 409, "{\"message\":\"Conflict\"}", 0, 0 });
	rule_set(lab, 1,
		 (struct rule){ "/ty-t-1-master-0-a1/json", 404, "{}", 0, 2 }); /* its container is just ending */
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/json", 200, CREATED_MASTER, 0, 0 });
	up(lab);
	lab->engine->ops->create_replica(lab->engine, &spec);
	expect_event(lab, ENGINE_REPLICA_CREATED);
	spec.job_id = "another";
	lab->engine->ops->create_replica(lab->engine, &spec);
	assert_int_equal(lab->events[expect_event(lab, ENGINE_REPLICA_FAILED)].status, STATUS_ALREADY_EXISTS);
}

static void a_start_that_meets_a_neighbours_end_is_tried_again(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/ty-t-1-master-0-a1/json", 200, CREATED_MASTER, 0, 0 });
	rule_set(lab, 1, (struct rule){ "/start", 403, "{\"message\":\"Address already in use\"}", 0, 1 });
	rule_set(lab, 2, (struct rule){ "/start", 204, NULL, 0, 1 });
	rule_set(lab, 3, (struct rule){ "/start", 404, "{\"message\":\"network n not found\"}", 0, 0 });
	up(lab);
	lab->engine->ops->start_replica(lab->engine, &master);
	expect_event(lab, ENGINE_REPLICA_STARTED);
	lab->engine->ops->start_replica(lab->engine, &master);
	assert_string_equal(lab->events[expect_event(lab, ENGINE_REPLICA_FAILED)].text,
			    "network n not found");
}

static void a_start_of_what_somebody_removed_tells_that_it_is_gone(void **state)
{
	static const char removal[] =
		"{\"message\":\"container is marked for removal and cannot be started\"}";
	static const char gone[] = "{\"message\":\"No such container: ty-t-1-master-0-a1\"}";
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/ty-t-1-master-0-a1/json", 200, CREATED_MASTER, 0, 2 });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 404, gone, 0, 0 });
	rule_set(lab, 2, (struct rule){ "/start", 409, removal, 0, 1 });
	rule_set(lab, 3, (struct rule){ "/start", 404, gone, 0, 0 });
	up(lab);
	for (size_t i = 0; i < 3; i++) {
		lab->engine->ops->start_replica(lab->engine, &master);
		expect_event(lab, ENGINE_REPLICA_REMOVED);
	}
}

static void a_removal_under_way_is_waited_for(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0,
		 (struct rule){ "DELETE", 409,
				"{\"message\":\"removal of container x is already in progress\"}", 0, 2 });
	up(lab);
	lab->engine->ops->remove_replica(lab->engine, &master); /* then 404: gone */
	expect_event(lab, ENGINE_REPLICA_REMOVED);
	assert_int_equal(events_count(lab, ENGINE_FAILED), 0);
}

static void a_log_that_is_none_ends_with_its_container(void **state)
{
	struct lab *lab = *state;
	static const struct log_position beginning;

	rule_set(lab, 0, (struct rule){ "/logs", 200, "this is no log stream", 0, 2 });
	up(lab);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	expect_event(lab, ENGINE_LOGS_ENDED); /* the third try finds it gone */
	assert_int_equal(rule_asked(lab, 0), 2);
	assert_int_equal(lab->lines.length, 0);
}

static void a_close_ends_all_that_is_under_way(void **state)
{
	struct lab *lab = *state;
	struct replica_spec spec = spec_of();
	static const struct log_position beginning;

	rule_set(lab, 0, (struct rule){ "/containers/json?filters=", 200, "[]", 0, 0 });
	rule_set(lab, 1, (struct rule){ "/images/", -1, NULL, 0, 0 });
	rule_set(lab, 2, (struct rule){ "DELETE", -1, NULL, 0, 0 });
	rule_set(lab, 3, (struct rule){ "/containers/", -1, NULL, 0, 0 });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	lab->engine->ops->ensure_image(lab->engine, "x");
	lab->engine->ops->ensure_image(lab->engine, "x");
	lab->engine->ops->create_replica(lab->engine, &spec);
	lab->engine->ops->start_replica(lab->engine, &master);
	lab->engine->ops->stop_replica(lab->engine, &master, 1000);
	lab->engine->ops->remove_replica(lab->engine, &master);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	lab->engine->ops->create_network(lab->engine, 1, 1);
	lab->engine->ops->remove_network(lab->engine, 1);
	expect_event(lab, ENGINE_NETWORK_REMOVED); /* so all of them had begun */
	lab_close(lab);
	assert_int_equal(events_count(lab, ENGINE_REPLICA_FAILED), 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(options_are_checked),
		LAB_TEST(an_engine_is_chosen_by_its_url),
		LAB_TEST(an_engine_that_comes_late_is_found),
		LAB_TEST(versions_are_agreed_on),
		LAB_TEST(podman_is_called_by_its_name),
		LAB_TEST(podman_is_asked_for_no_gpus),
		LAB_TEST(each_connection_tells_what_the_host_has_now),
		LAB_TEST(an_engine_whose_events_end_at_once_is_asked_more_and_more_seldom),
		LAB_TEST(an_engine_that_does_not_name_what_the_host_has_is_asked_again),
		LAB_TEST(what_happened_before_the_stream_was_open_is_asked_for),
		LAB_TEST(a_terminal_is_opened_once_the_engine_has_answered),
		LAB_TEST(an_engine_too_old_is_down_with_a_reason),
		LAB_TEST(an_engine_too_new_is_down_with_its_own_words),
		LAB_TEST(answers_that_are_no_json_fail_their_call),
		LAB_TEST(an_endless_answer_is_cut_off),
		LAB_TEST(a_long_listing_is_taken),
		LAB_TEST(a_cut_connection_makes_the_outcome_unavailable),
		LAB_TEST(a_taken_name_is_adopted_only_with_our_labels),
		LAB_TEST(a_start_that_meets_a_neighbours_end_is_tried_again),
		LAB_TEST(a_start_of_what_somebody_removed_tells_that_it_is_gone),
		LAB_TEST(a_removal_under_way_is_waited_for),
		LAB_TEST(a_log_that_is_none_ends_with_its_container),
		LAB_TEST(a_close_ends_all_that_is_under_way),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker", tests, start, NULL);
}
