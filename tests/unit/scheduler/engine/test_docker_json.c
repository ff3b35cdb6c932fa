/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_json.c: bodies of requests. */
#include <sodium.h>

#include "tests/unit/scheduler/engine/docker_json_testing.h"

static void expect_at(json_t *body, const char *path, const char *wanted)
{
	AUTO(string) char *text = json_dumps(at(body, path), JSON_ENCODE_ANY | JSON_COMPACT);

	assert_string_equal(text ? text : "(nothing)", wanted);
}

static void names_are_made_of_the_key(void **state)
{
	char name[DOCKER_NAME_SIZE];

	(void)state;
	docker_container_name("i1", &worker, name);
	assert_string_equal(name, "ty-i1-12-worker-3-a2");
	docker_network_name("i1", 12, name);
	assert_string_equal(name, "ty-i1-12");
}

static void a_container_gets_no_privileges(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *body = docker_container_body("i1", &spec);
	static const char *const absent[] = { "HostConfig/Binds",
					      "HostConfig/Tmpfs",
					      "HostConfig/Mounts",
					      "HostConfig/CapAdd",
					      "HostConfig/PidMode",
					      "HostConfig/IpcMode",
					      "HostConfig/Devices",
					      "HostConfig/DeviceRequests",
					      "HostConfig/UsernsMode",
					      "User",
					      "HostConfig/ShmSize",
					      "Entrypoint",
					      "Cmd" };

	(void)state;
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_null(at(body, absent[i]));
	expect_at(body, "HostConfig/Privileged", "false");
	expect_at(body, "HostConfig/CapDrop", "[\"NET_RAW\",\"MKNOD\",\"AUDIT_WRITE\"]");
	expect_at(body, "HostConfig/SecurityOpt", "[\"no-new-privileges:true\"]");
	expect_at(body, "HostConfig/RestartPolicy/Name", "\"no\"");
	expect_at(body, "HostConfig/NetworkMode", "\"net1\"");
}

static void a_container_is_what_its_spec_says(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *command = json_pack("[s]", "python"), *args = json_pack("[ss]", "-m", "x");
	AUTO(json) json_t *env = json_pack("[s]", "A=b"), *hosts = json_pack("[s]", "ps-0:10.213.0.9");
	AUTO(json) json_t *mounts = json_pack("[ss]", "/a:1/f:/g:ro", "/d:/e");

	(void)state;
	spec.mounts = mounts;
	spec.scratch = "/var/scratch";
	spec.empty = "/empty";
	spec.gateway_port = 65535;
	spec.command = command;
	spec.args = args;
	spec.env = env;
	spec.hosts = hosts;
	spec.shm_bytes = 1 << 20;
	AUTO(json) json_t *body = docker_container_body("i1", &spec);

	expect_at(body, "Image", "\"sha256:abc\"");
	expect_at(body, "Entrypoint", "[\"python\"]");
	expect_at(body, "Cmd", "[\"-m\",\"x\"]");
	expect_at(body, "Env", "[\"A=b\",\"NVIDIA_VISIBLE_DEVICES=void\"]");
	expect_at(body, "Labels/trainyard.instance", "\"i1\"");
	expect_at(body, "Labels/trainyard.job", "\"12\"");
	expect_at(body, "Labels/trainyard.job_id", "\"train_1\"");
	expect_at(body, "Labels/trainyard.project", "\"demo\"");
	expect_at(body, "Labels/trainyard.pool", "\"worker\"");
	expect_at(body, "Labels/trainyard.replica", "\"worker-3\"");
	expect_at(body, "Labels/trainyard.attempt", "\"2\"");
	expect_at(body, "Labels/trainyard.gateway", "\"65535\"");
	expect_at(body, "HostConfig/Mounts",
		  "[{\"Type\":\"bind\",\"Source\":\"/a:1/f\",\"Target\":\"/g\",\"ReadOnly\":true},"
		  "{\"Type\":\"bind\",\"Source\":\"/d\",\"Target\":\"/e\",\"ReadOnly\":false}]");
	expect_at(body, "HostConfig/Tmpfs",
		  "{\"/var/scratch\":\"size=16m,mode=1777\",\"/empty\":\"ro,size=4k,mode=555\"}");
	expect_at(body, "StopTimeout", "30");
	expect_at(body, "HostConfig/Memory", "15000000000");
	expect_at(body, "HostConfig/MemorySwap", "15000000000");
	expect_at(body, "HostConfig/PidsLimit", "4096");
	expect_at(body, "HostConfig/ShmSize", "1048576");
	expect_at(body, "HostConfig/Init", "true");
	expect_at(body, "HostConfig/ExtraHosts", "[\"ps-0:10.213.0.9\"]");
	expect_at(body, "HostConfig/LogConfig/Config", "{\"max-size\":\"256m\",\"max-file\":\"2\"}");
	expect_at(body, "NetworkingConfig/EndpointsConfig/net1",
		  "{\"Aliases\":[\"peer\"],\"IPAMConfig\":{\"IPv4Address\":\"10.213.0.5\"}}");
	assert_int_equal(json_array_size(env), 1); /* the caller's list is unchanged */
}

static void gpus_are_asked_for_by_id(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *ids = json_pack("[ss]", "0", "3");

	(void)state;
	spec.device_ids = ids;
	AUTO(json) json_t *body = docker_container_body("i1", &spec);

	expect_at(body, "HostConfig/DeviceRequests",
		  "[{\"Driver\":\"nvidia\",\"DeviceIDs\":[\"0\",\"3\"],\"Capabilities\":[[\"gpu\","
		  "\"compute\",\"utility\"]]}]");
	expect_at(body, "Env", "[]");
}

static void cdi_devices_are_asked_for_by_name(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *ids = json_pack("[ss]", "nvidia.com/gpu=0", "nvidia.com/gpu=3");

	(void)state;
	spec.device_ids = ids;
	AUTO(json) json_t *body = docker_container_body("i1", &spec);

	expect_at(body, "HostConfig/DeviceRequests",
		  "[{\"Driver\":\"cdi\",\"DeviceIDs\":[\"nvidia.com/gpu=0\",\"nvidia.com/gpu=3\"]}]");
	expect_at(body, "Env", "[]");
}

static void devices_of_both_kinds_make_two_requests(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *ids = json_pack("[sss]", "nvidia.com/gpu=0", "GPU-a1", "vendor.example/gpu=x");

	(void)state;
	spec.device_ids = ids;
	AUTO(json) json_t *body = docker_container_body("i1", &spec);

	expect_at(body, "HostConfig/DeviceRequests/0/DeviceIDs", "[\"GPU-a1\"]");
	expect_at(body, "HostConfig/DeviceRequests/0/Driver", "\"nvidia\"");
	expect_at(body, "HostConfig/DeviceRequests/1",
		  "{\"Driver\":\"cdi\",\"DeviceIDs\":[\"nvidia.com/gpu=0\",\"vendor.example/gpu=x\"]}");
	assert_int_equal(json_array_size(at(body, "HostConfig/DeviceRequests")), 2);
	assert_int_equal(json_array_size(ids), 3); /* the caller's lists are unchanged */
}

static void a_replica_without_devices_gets_none(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *ids = json_array(), *odd = json_pack("[si]", "0", 7);

	(void)state;
	spec.device_ids = ids;
	AUTO(json) json_t *body = docker_container_body("i1", &spec);

	assert_null(at(body, "HostConfig/DeviceRequests"));
	expect_at(body, "Env", "[\"NVIDIA_VISIBLE_DEVICES=void\"]");
	spec.device_ids = odd;
	assert_null(docker_container_body("i1", &spec));
}

static void a_memory_limit_is_one_that_engines_take(void **state)
{
	static const struct {
		int64_t wanted;
		const char *sent;
	} limits[] = { { 0, "0" },
		       { 1, "6291456" },
		       { 6291455, "6291456" },
		       { 6291456, "6291456" },
		       { 6291457, "6291457" },
		       { INT64_MAX, "9223372036854775807" } };

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct replica_spec spec = spec_of();

		spec.memory_bytes = limits[i].wanted;
		AUTO(json) json_t *body = docker_container_body("i1", &spec);

		expect_at(body, "HostConfig/Memory", limits[i].sent);
		expect_at(body, "HostConfig/MemorySwap", limits[i].sent);
	}
}

static void texts_that_are_no_utf8_make_no_container(void **state)
{
	struct replica_spec spec = spec_of();

	(void)state;
	spec.job_id = "\xff";
	assert_null(docker_container_body("i1", &spec));
	spec = spec_of();
	spec.hostname = "\xff";
	assert_null(docker_container_body("i1", &spec));
}

static void cpus_are_clamped_to_what_there_is(void **state)
{
	struct replica_spec spec = spec_of();
	AUTO(json) json_t *body = docker_container_body("i1", &spec);

	(void)state;
	docker_container_clamp(body, 0);
	expect_at(body, "HostConfig/NanoCpus", "4000000000");
	docker_container_clamp(body, 8);
	expect_at(body, "HostConfig/NanoCpus", "4000000000");
	docker_container_clamp(body, 2);
	expect_at(body, "HostConfig/NanoCpus", "2000000000");
}

/* Replicas get addresses from the lower half of the block. */
static void an_overlay_leaves_half_of_its_block_to_the_swarm(void **state)
{
	const struct subnet subnet = { 0x0ad50180, 25 };
	AUTO(string)
	char *text = docker_network_body("i1", 12, ENGINE_OVERLAYS, "ty-b", subnet, false, REACH_TUNNEL);
	AUTO(string)
	char *plain =
		docker_network_body("i1", 12, ENGINE_OVERLAYS_PLAIN, "ty-b", subnet, false, REACH_TUNNEL);
	AUTO(json) json_t *body = read_json(text), *open = read_json(plain);
	struct network_status network;

	(void)state;
	expect_at(body, "Driver", "\"overlay\"");
	expect_at(body, "Attachable", "true");
	expect_at(body, "Options", "{\"encrypted\":\"\"}");
	assert_null(json_object_get(open, "Options"));
	expect_at(
		body, "IPAM/Config",
		"[{\"Subnet\":\"10.213.1.128/25\",\"Gateway\":\"10.213.1.129\",\"IPRange\":\"10.213.1.192/26\"}]");
	json_object_set_new(body, "Id", json_string("ug6knacjyejzpgvz0gvv3de8k"));
	assert_true(docker_network_read(body, &network));
	assert_int_equal(network.first, 0x0ad50183);
	assert_int_equal(network.capacity, 0x0ad501bf - 0x0ad50183);
	assert_true(network.reach.is_carried);
}

static void a_network_names_its_gateway_and_bridge(void **state)
{
	const struct subnet subnet = { 0x0ad50140, 26 };
	AUTO(string)
	char *text = docker_network_body("i1", 12, ENGINE_BRIDGES, "ty-b", subnet, false, REACH_BRIDGE);
	AUTO(string)
	char *cut_off = docker_network_body("i1", 12, ENGINE_BRIDGES, "ty-b", subnet, true, REACH_JOINED);
	AUTO(string)
	char *carried = docker_network_body("i1", 12, ENGINE_BRIDGES, "ty-b", subnet, false, REACH_TUNNEL);
	AUTO(json) json_t *body = read_json(text), *internal = read_json(cut_off), *far = read_json(carried);
	char device[DOCKER_DEVICE_SIZE], second[DOCKER_DEVICE_SIZE];

	(void)state;
	expect_at(body, "Internal", "false");
	expect_at(internal, "Internal", "true");
	expect_at(body, "Options", "{\"com.docker.network.bridge.name\":\"ty-b\"}");
	docker_network_device("i1", 12, false, device);
	docker_network_device("i1", 12, true, second);
	assert_int_equal(strlen(device), 15);
	assert_string_not_equal(device, second);
	expect_at(body, "Name", "\"ty-i1-12\"");
	expect_at(body, "CheckDuplicate", "true");
	expect_at(body, "IPAM/Config", "[{\"Subnet\":\"10.213.1.64/26\",\"Gateway\":\"10.213.1.65\"}]");
	expect_at(body, "Labels",
		  "{\"trainyard.instance\":\"i1\",\"trainyard.job\":\"12\",\"trainyard.reach\":\"bridge\"}");
	assert_int_equal(docker_network_reach(body), REACH_BRIDGE);
	assert_int_equal(docker_network_reach(internal), REACH_JOINED);
	assert_int_equal(docker_network_reach(far), REACH_TUNNEL);
}

static void filters_are_encoded_for_a_query(void **state)
{
	char filter[DOCKER_PATH_SIZE], small[8];

	(void)state;
	docker_label_filter("i1", &(int64_t){ 12 }, filter);
	assert_string_equal(
		filter, "%7B%22label%22:%5B%22trainyard.instance%3Di1%22%2C%22trainyard.job%3D12%22%5D%7D");
	docker_query_encode("abc&defghij", small, sizeof(small));
	assert_string_equal(small, "abc%26");
}

static int start(void **state)
{
	(void)state;
	return sodium_init() < 0;
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_made_of_the_key),
		cmocka_unit_test(a_container_gets_no_privileges),
		cmocka_unit_test(a_container_is_what_its_spec_says),
		cmocka_unit_test(gpus_are_asked_for_by_id),
		cmocka_unit_test(cdi_devices_are_asked_for_by_name),
		cmocka_unit_test(devices_of_both_kinds_make_two_requests),
		cmocka_unit_test(a_replica_without_devices_gets_none),
		cmocka_unit_test(a_memory_limit_is_one_that_engines_take),
		cmocka_unit_test(texts_that_are_no_utf8_make_no_container),
		cmocka_unit_test(cpus_are_clamped_to_what_there_is),
		cmocka_unit_test(an_overlay_leaves_half_of_its_block_to_the_swarm),
		cmocka_unit_test(a_network_names_its_gateway_and_bridge),
		cmocka_unit_test(filters_are_encoded_for_a_query),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_json", tests, start, NULL);
}
