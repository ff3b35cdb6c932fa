/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_json.c: answers of engines. */
#include <sodium.h>

#include "scheduler/engine/docker_event.h"
#include "tests/unit/scheduler/engine/docker_json_testing.h"

static void messages_are_shown_as_they_are(void **state)
{
	static const struct {
		const char *body, *text;
	} answers[] = {
		{ "{\"message\":\"No such image: x\"}", "No such image: x" },
		{ "{\"cause\":\"c\",\"message\":\"m\",\"response\":500}", "m" },
		{ "plain text\n", "plain text" },
		{ "", "the engine gave no reason" },
		{ "{\"message\":7}", "{\"message\":7}" },
	};
	char text[DOCKER_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		docker_message(answers[i].body, strlen(answers[i].body), text);
		assert_string_equal(text, answers[i].text);
	}
}

static void keys_are_read_from_labels(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *body = docker_container_body("i1", &spec);
	json_t *labels = json_object_get(body, "Labels");
	static const struct {
		const char *label, *value;
	} wrong[] = {
		{ "trainyard.job", "-1" },
		{ "trainyard.job", "x" },
		{ "trainyard.job", "99999999999999999999" },
		{ "trainyard.attempt", "4294967296" },
		{ "trainyard.attempt", "+2" },
		{ "trainyard.attempt", " 2" },
		{ "trainyard.attempt", "2x" },
		{ "trainyard.attempt", "" },
		{ "trainyard.pool", "chief" },
		{ "trainyard.replica", "worker" },
		{ "trainyard.replica", "worker-" },
		{ "trainyard.replica", "worker-3x" },
		{ "trainyard.replica", "worker-99999999999" },
	};
	struct replica_key key;

	(void)state;
	assert_true(docker_key_read(labels, &key));
	assert_true(docker_key_equal(&key, &worker));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		AUTO(json) json_t *copy = json_deep_copy(labels);

		json_object_set_new(copy, wrong[i].label, json_string(wrong[i].value));
		if (docker_key_read(copy, &key))
			fail_msg("%s=%s is taken", wrong[i].label, wrong[i].value);
		json_object_del(copy, wrong[i].label);
		assert_false(docker_key_read(copy, &key));
	}
	assert_false(docker_key_read(NULL, &key));
}

/* Fails with: docker_parse() by jansson alone: with another user's label in it, no listing could be read. */
static void a_strange_label_hides_no_container(void **state)
{
	static const char listing[] =
		"[{\"Id\":\"a\",\"Labels\":{\"l\":\"\\u0000\"},\"SizeRw\":18446744073709551615}]";
	AUTO(json) json_t *containers = docker_parse(listing, sizeof(listing) - 1, JSON_ARRAY);

	(void)state;
	assert_string_equal(json_text_at(json_array_get(containers, 0), "Id"), "a");
}

#define LABELS                                                                                               \
	"{\"trainyard.instance\":\"i1\",\"trainyard.job\":\"12\",\"trainyard.pool\":\"worker\","             \
	"\"trainyard.replica\":\"worker-3\",\"trainyard.attempt\":\"2\"}"
#define INSPECTED(state) "{\"Config\":{\"Labels\":" LABELS "},\"State\":{" state "}}"

static struct replica_status inspected(const char *text)
{
	AUTO(json) json_t *container = read_json(text);
	struct replica_status status = { 0 };

	if (!docker_container_inspected(container, &status))
		fail_msg("not understood: %s", text);
	assert_true(docker_key_equal(&status.key, &worker));
	return status;
}

static void states_are_told_apart(void **state)
{
	struct replica_status status;

	(void)state;
	status = inspected(INSPECTED(
		"\"Status\":\"running\",\"Running\":true,\"StartedAt\":\"2026-11-20T21:29:51.5Z\""));
	assert_int_equal(status.observed, REPLICA_RUNNING);
	status = inspected(INSPECTED(
		"\"Status\":\"exited\",\"Running\":false,\"OOMKilled\":true,\"ExitCode\":137,"
		"\"StartedAt\":\"2026-11-20T21:29:51.5Z\",\"FinishedAt\":\"2026-11-20T21:29:52Z\""));
	assert_int_equal(status.observed, REPLICA_EXITED);
	assert_int_equal(status.exit_code, 137);
	assert_true(status.out_of_memory);
	assert_int_equal(status.finished_ns, INT64_C(1795210192000000000));
	status = inspected(
		INSPECTED("\"Status\":\"created\",\"Running\":false,\"ExitCode\":128,\"Error\":\"no driver\","
			  "\"StartedAt\":\"0001-01-01T00:00:00Z\",\"FinishedAt\":\"0001-01-01T00:00:00Z\""));
	assert_int_equal(status.observed, REPLICA_CREATED);
	assert_int_equal(status.exit_code, 0);
}

static void a_gateway_port_is_read_where_there_is_one(void **state)
{
	static const struct {
		const char *value;
		uint16_t port;
	} labels[] = { { NULL, 0 }, { "1", 1 }, { "65535", 65535 }, { "65536", 0 }, { "-1", 0 }, { "x", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		AUTO(json) json_t *container = read_json(INSPECTED("\"Running\":true"));
		json_t *of_inspected = at(container, "Config/Labels");
		struct replica_status status;
		bool inspect;

		if (labels[i].value)
			json_object_set_new(of_inspected, "trainyard.gateway", json_string(labels[i].value));
		assert_true(docker_container_inspected(container, &status));
		assert_int_equal(status.gateway_port, labels[i].port);
		json_object_set(container, "Labels", of_inspected);
		assert_true(docker_container_listed(container, &status, &inspect));
		assert_int_equal(status.gateway_port, labels[i].port);
	}
}

/* After a crash, a replica is created again later, with another time. Fails with: docker_container_is_of() over all labels:
 * it was another's. */
static void when_a_container_was_made_is_kept_and_tells_none_apart(void **state)
{
	struct replica_spec spec = spec_of();
	struct replica_status status;
	bool inspect;

	(void)state;
	spec.made_us = INT64_C(1795210192000001);
	AUTO(json) json_t *body = docker_container_body("i1", &spec);
	AUTO(json) json_t *container = json_pack("{sO s{sb}}", "Config", body, "State", "Running", 1);

	assert_true(docker_container_inspected(container, &status));
	assert_int_equal(status.made_us, spec.made_us);
	assert_true(docker_container_listed(body, &status, &inspect));
	assert_int_equal(status.made_us, spec.made_us);
	spec.made_us++;
	AUTO(json) json_t *later = docker_container_body("i1", &spec);

	assert_true(docker_container_is_of(container, later));
	json_object_set_new(json_object_get(later, "Labels"), "trainyard.job", json_string("77"));
	assert_false(docker_container_is_of(container, later));
}

static void an_end_before_the_start_is_moved_to_it(void **state)
{
	struct replica_status status = inspected(
		INSPECTED("\"Running\":false,\"ExitCode\":0,\"StartedAt\":\"2026-11-20T21:29:51.0006Z\","
			  "\"FinishedAt\":\"2026-11-20T21:29:51Z\""));

	(void)state;
	assert_int_equal(status.finished_ns, INT64_C(1795210191000600000));
}

static void an_image_says_nothing_of_a_replica(void **state)
{
	static const char *const labels[] = { "instance", "project", "job_id",  "pool", "job",   "replica",
					      "attempt",  "restart", "gateway", "made", "files", "reports" };
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *body = docker_container_body("i1", &spec);
	AUTO(json) json_t *image = json_object();
	struct replica_status status;
	bool inspect;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(labels); i++) {
		char label[64];

		snprintf(label, sizeof(label), "trainyard.%s", labels[i]);
		json_object_set_new(image, label, json_string("3"));
	}
	/* Fails with: labels_make() without DOCKER_LABEL_FILES: the image's was taken. */
	assert_int_equal(json_object_size(json_object_get(body, "Labels")), COUNT_OF(labels));
	json_object_update(image, json_object_get(body, "Labels")); /* as engines do */
	json_object_set(body, "Labels", image);
	assert_true(docker_container_listed(body, &status, &inspect));
	assert_true(docker_key_equal(&status.key, &worker));
	assert_int_equal(status.gateway_port, 0);
	assert_int_equal(status.made_us, 0);
	assert_int_equal(json_object_size(image), COUNT_OF(labels));
}

static void strange_accounts_are_refused(void **state)
{
	static const char *const strange[] = { "{}",
					       "{\"State\":{}}",
					       "{\"Config\":{\"Labels\":" LABELS "}}",
					       "{\"Config\":{\"Labels\":" LABELS "},\"State\":[]}",
					       "{\"Config\":7,\"State\":{}}",
					       "[]",
					       "{" };
	struct replica_status status;
	struct network_status network;
	bool inspect;

	(void)state;
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		AUTO(json) json_t *value = read_json(strange[i]);

		assert_false(docker_container_inspected(value, &status));
		assert_false(docker_container_listed(value, &status, &inspect));
		assert_false(docker_network_read(value, &network));
	}
}

static void only_what_does_not_run_needs_a_closer_look(void **state)
{
	static const struct {
		const char *state, *words;
		bool inspect;
		enum replica_observed observed;
		int exit_code;
	} listed[] = {
		{ "running", "Up 1 second", false, REPLICA_RUNNING, 0 },
		{ "paused", "Up 1 second (Paused)", false, REPLICA_RUNNING, 0 },
		{ "exited", "Exited (137) 1 second ago", true, REPLICA_EXITED, 137 },
		{ "dead", "Dead", true, REPLICA_EXITED, -1 },
		{ "created", "Created", true, REPLICA_CREATED, 0 },
		{ NULL, NULL, true, REPLICA_RUNNING, 0 },
	};
	struct replica_status status;
	bool inspect;

	(void)state;
	for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
		AUTO(json) json_t *container = read_json("{\"Labels\":" LABELS "}");

		json_object_set_new(container, "State", json_string(listed[i].state));
		json_object_set_new(container, "Status", json_string(listed[i].words));
		assert_true(docker_container_listed(container, &status, &inspect));
		assert_int_equal(inspect, listed[i].inspect);
		assert_int_equal(status.paused, i == 1);
		assert_int_equal(status.observed, listed[i].observed);
		assert_int_equal(status.exit_code, listed[i].exit_code);
	}
}

static void networks_are_read_and_owned(void **state)
{
	AUTO(json)
	json_t *networks = read_json(
		"[{\"Id\":\"n1\",\"Labels\":{\"trainyard.instance\":\"i1\",\"trainyard.job\":\"12\"},"
		"\"IPAM\":{\"Config\":[{\"Subnet\":\"10.213.1.64/26\",\"Gateway\":\"10.213.1.65\"}]}},"
		"{\"Id\":\"n2\",\"Labels\":null,\"IPAM\":{\"Config\":[{\"Subnet\":\"fd00::/64\"},"
		"{\"Subnet\":\"172.17.0.0/16\"}]}},{\"IPAM\":{\"Config\":null}},7]");
	struct subnet_list taken AUTO_SUBNET_LIST = { 0 };
	struct network_status status;

	(void)state;
	assert_true(docker_network_read(json_array_get(networks, 0), &status));
	assert_string_equal(status.id, "n1");
	assert_string_equal(status.reach.device, "br-n1");
	json_object_set_new(json_array_get(networks, 0), "Options",
			    json_pack("{ss}", "com.docker.network.bridge.name", "ty-0123456789ab"));
	assert_true(docker_network_read(json_array_get(networks, 0), &status));
	assert_string_equal(status.reach.device, "ty-0123456789ab");
	/* No network interface has such a long name. */
	json_object_set_new(json_array_get(networks, 0), "Options",
			    json_pack("{ss}", "com.docker.network.bridge.name", "ty-0123456789abc"));
	assert_true(docker_network_read(json_array_get(networks, 0), &status));
	assert_string_equal(status.reach.device, "br-n1");
	assert_int_equal(status.job, 12);
	assert_int_equal(status.reach.address, 0x0ad50141);
	assert_int_equal(status.capacity, 61);
	assert_false(status.reach.is_carried);
	json_object_set_new(json_object_get(json_array_get(networks, 0), "Labels"), "trainyard.reach",
			    json_string("tunnel"));
	assert_true(docker_network_read(json_array_get(networks, 0), &status));
	assert_true(status.reach.is_carried);
	assert_string_equal(status.reach.device, "");
	assert_int_equal(status.reach.address, 0x0ad50142);
	assert_int_equal(status.first, 0x0ad50143);
	assert_int_equal(status.capacity, 60);
	assert_true(docker_network_is_of(json_array_get(networks, 0), "i1", 12));
	assert_false(docker_network_is_of(json_array_get(networks, 0), "i1", 13));
	assert_false(docker_network_is_of(json_array_get(networks, 0), "i2", 12));
	assert_false(docker_network_is_of(json_array_get(networks, 1), "i1", 12));
	docker_networks_taken(networks, &taken);
	assert_int_equal(taken.count, 2);
}

#define EVENT(action, more)                                                                                  \
	"{\"Type\":\"container\",\"Action\":\"" action "\",\"Actor\":{\"ID\":\"c1\","                        \
	"\"Attributes\":{\"name\":\"ty-i1-12-worker-3-a2\",\"trainyard.instance\":\"i1\","                   \
	"\"trainyard.job\":\"12\",\"trainyard.pool\":\"worker\",\"trainyard.replica\":"                      \
	"\"worker-3\","                                                                                      \
	"\"trainyard.attempt\":\"2\"" more "}},\"timeNano\":1795210191000000001}"

static void events_about_containers_are_read(void **state)
{
	static const struct {
		const char *line;
		bool read;
		enum docker_action action;
	} lines[] = {
		{ EVENT("die", ",\"exitCode\":\"3\""), true, ACTION_DIE },
		{ EVENT("destroy", ""), true, ACTION_DESTROY },
		{ EVENT("remove", ""), true, ACTION_DESTROY },
		{ EVENT("pause", ""), true, ACTION_PAUSE },
		{ EVENT("unpause", ""), true, ACTION_UNPAUSE },
		{ EVENT("rename", ""), true, ACTION_RENAME },
		{ EVENT("start", ""), true, ACTION_START },
		{ EVENT("kill", ",\"signal\":\"15\""), true, ACTION_KILL },
		{ EVENT("attach", ""), true, ACTION_OTHER },
		{ "{\"Type\":\"network\",\"Action\":\"die\",\"Actor\":{\"ID\":\"c1\"}}", false,
		  ACTION_OTHER },
		{ "{\"Type\":\"container\",\"Action\":\"die\"}", false, ACTION_OTHER },
		{ "{", false, ACTION_OTHER },
		{ "[]", false, ACTION_OTHER },
	};
	struct docker_event event;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(docker_event_read(lines[i].line, strlen(lines[i].line), &event),
				 lines[i].read);
		if (!lines[i].read)
			continue;
		assert_int_equal(event.action, lines[i].action);
		assert_int_equal(event.status.paused, lines[i].action == ACTION_PAUSE);
	}
}

static int start(void **state)
{
	(void)state;
	return sodium_init() < 0;
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_shown_as_they_are),
		cmocka_unit_test(keys_are_read_from_labels),
		cmocka_unit_test(a_strange_label_hides_no_container),
		cmocka_unit_test(states_are_told_apart),
		cmocka_unit_test(a_gateway_port_is_read_where_there_is_one),
		cmocka_unit_test(when_a_container_was_made_is_kept_and_tells_none_apart),
		cmocka_unit_test(an_end_before_the_start_is_moved_to_it),
		cmocka_unit_test(an_image_says_nothing_of_a_replica),
		cmocka_unit_test(strange_accounts_are_refused),
		cmocka_unit_test(only_what_does_not_run_needs_a_closer_look),
		cmocka_unit_test(networks_are_read_and_owned),
		cmocka_unit_test(events_about_containers_are_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_json_read", tests, start, NULL);
}
