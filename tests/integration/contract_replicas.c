/* SPDX-License-Identifier: Apache-2.0 */
/* Replicas are created, started, ended and removed. */
#include "tests/integration/engine_contract.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/integration/engine_api.h"
#include "tests/integration/engine_bench.h"

static void a_job_of_two_replicas_runs_and_leaves_nothing(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	json_t *hosts = json_pack("[s]", "peer:10.213.9.9"), *env = json_pack("[s]", "GREETING=hello there");
	struct record exited;

	replica_ask(bench, &master, &network,
		    "echo \"$GREETING\"; echo $NVIDIA_VISIBLE_DEVICES; echo to-stderr >&2; cat /etc/hosts; "
		    "exit 7",
		    &(struct extras){ .hosts = hosts, .env = env });
	expect_event(bench, ENGINE_REPLICA_CREATED, &master, 1);
	replica_make(bench, &worker, &network, "hostname; printf no-newline");
	replica_run(bench, &master);
	replica_run(bench, &worker);
	follow(bench, &master);
	follow(bench, &worker);
	exited = expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1);
	assert_int_equal(exited.replicas[0].exit_code, 7);
	assert_true(exited.replicas[0].finished_ns > 1700000000 * INT64_C(1000000000));
	assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &worker, 1).replicas[0].exit_code, 0);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	expect_event(bench, ENGINE_LOGS_ENDED, &worker, 1);
	assert_true(has_line(bench, "1:hello there\n"));
	assert_true(has_line(bench, "1:void\n"));
	assert_true(has_line(bench, "2:to-stderr\n"));
	assert_true(has_line(bench, "10.213.9.9\tpeer\n"));
	assert_true(has_line(bench, "1:cmle-worker-0\n"));
	assert_true(has_line(bench, "1:no-newline\n"));
	replica_drop(bench, &master);
	replica_drop(bench, &worker);
	bench->engine->ops->remove_network(bench->engine, 1);
	expect_event(bench, ENGINE_NETWORK_REMOVED, NULL, 1);
	exited = list(bench);
	assert_int_equal(exited.replica_count + exited.network_count, 0);
	assert_int_equal(events_count(bench, ENGINE_REPLICA_EXITED), 2);
	json_decref(hosts);
	json_decref(env);
}

static void an_engine_says_what_its_host_has(void **state)
{
	struct bench *bench = *state;
	struct record up;

	client_close(bench);
	client_open(bench, true);
	up = expect_event(bench, ENGINE_UP, NULL, 0);
	assert_true(up.host.known);
	assert_in_range(up.host.cpus, 1, 65536);
	assert_true(up.host.memory_bytes > 64 << 20);
}

/* Waits until the master has made the file. */
static void file_await(struct bench *bench, const char *file)
{
	char path[128];
	int waited_ms = 0;

	snprintf(path, sizeof(path), "/containers/ty-%s-1-master-0-a1/archive?path=%s", bench->instance,
		 file);
	for (; api("GET", path, NULL, NULL, 0, NULL) != 200; waited_ms += 10) {
		if (waited_ms > WAIT_S * 1000)
			fail_msg("the master never made %s", file);
		usleep(10000);
	}
}

static void every_operation_may_be_repeated(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1), again = network_make(bench, 1);

	assert_string_equal(network.id, again.id);
	assert_int_equal(network.reach.address, again.reach.address);
	assert_int_equal(network.capacity, again.capacity);
	replica_make(bench, &master, &network, "echo ran; : > /tmp/ran; sleep 100");
	replica_make(bench, &master, &network, "echo ran; : > /tmp/ran; sleep 100");
	replica_run(bench, &master);
	replica_run(bench, &master);
	file_await(bench, "/tmp/ran"); /* on a loaded machine this takes longer than a stop's grace period */
	bench->engine->ops->stop_replica(bench->engine, &master, 1);
	bench->engine->ops->stop_replica(bench->engine, &master, 1);
	expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1);
	replica_run(bench, &master); /* reported as started, but not run again */
	expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1);
	follow(bench, &master);
	follow(bench, &master);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	assert_int_equal(bench->line_count, 1);
	replica_drop(bench, &master);
	replica_drop(bench, &master);
	bench->engine->ops->stop_replica(bench->engine, &master, 1);
	expect_event(bench, ENGINE_REPLICA_REMOVED, &master, 1);
	follow(bench, &master);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	for (int i = 0; i < 2; i++) {
		bench->engine->ops->remove_network(bench->engine, 1);
		expect_event(bench, ENGINE_NETWORK_REMOVED, NULL, 1);
	}
	assert_int_equal(events_count(bench, ENGINE_FAILED), 0);
}

static void a_foreign_container_is_not_adopted(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	char path[256];
	static const char body[] = "{\"Image\":\"trainyard-contract:busybox\",\"Cmd\":[\"/bin/sh\"]}";
	struct record failed;

	snprintf(path, sizeof(path), "/containers/create?name=ty-%s-1-master-0-a1", bench->instance);
	assert_int_equal(api("POST", path, "application/json", body, strlen(body), NULL), 201);
	replica_ask(bench, &master, &network, "true", NULL);
	failed = expect_event(bench, ENGINE_REPLICA_FAILED, &master, 1);
	assert_int_equal(failed.status, STATUS_ALREADY_EXISTS);
	replica_drop(bench, &master);
}

/* Refused because of GPUs. Podman already refuses the create, because its start would ignore them. */
static void a_refused_start_says_why(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	json_t *devices = json_pack("[s]", "0");
	struct record failed, listing;

	replica_ask(bench, &master, &network, "true", &(struct extras){ .device_ids = devices });
	json_decref(devices);
	if (bench->is_podman) {
		failed = expect_event(bench, ENGINE_REPLICA_FAILED, &master, 1);
		assert_int_equal(failed.status, STATUS_FAILED_PRECONDITION);
		assert_non_null(strstr(failed.text, "Podman gives containers no GPUs: "));
		assert_int_equal(list(bench).replica_count, 0);
		return;
	}
	expect_event(bench, ENGINE_REPLICA_CREATED, &master, 1);
	bench->engine->ops->start_replica(bench->engine, &master);
	failed = expect_event(bench, ENGINE_REPLICA_FAILED, &master, 1);
	assert_non_null(strstr(failed.text, "nvidia"));
	listing = list(bench);
	assert_int_equal(listing.replica_count, 1);
	assert_int_equal(listing.replicas[0].observed, REPLICA_CREATED);
	follow(bench, &master);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
}

static void a_missing_program_exits_with_127(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);

	replica_ask(bench, &master, &network, "exec /nosuch",
		    &(struct extras){ .nano_cpus = INT64_C(900000000000) });
	expect_event(bench, ENGINE_REPLICA_CREATED, &master, 1); /* more CPUs than the host has: the limit is reduced */
	replica_run(bench, &master);
	assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1).replicas[0].exit_code, 127);
}

static void a_stop_gives_grace_and_then_kills(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);

	replica_make(bench, &master, &network, "trap 'exit 9' TERM; echo up; while :; do sleep 0.1; done");
	replica_make(bench, &worker, &network, "trap '' TERM; echo up; while :; do sleep 0.1; done");
	replica_run(bench, &master);
	replica_run(bench, &worker);
	follow(bench, &master);
	follow(bench, &worker);
	wait_for_lines(bench, 2);
	bench->engine->ops->stop_replica(bench->engine, &master, 20);
	bench->engine->ops->stop_replica(bench->engine, &worker, 0);
	assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1).replicas[0].exit_code, 9);
	assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &worker, 1).replicas[0].exit_code, 137);
}

/* The caller may not know of the end, which can fall between a listing and the stream of events. */
static void a_stop_after_the_end_tells_of_it_again(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);

	replica_make(bench, &master, &network, "exit 9");
	replica_run(bench, &master);
	expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1);
	bench->engine->ops->stop_replica(bench->engine, &master, 1);
	assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1).replicas[0].exit_code, 9);
}

/* More starts are ordered than run at the same time: those that still wait are dropped. */
static void a_start_that_waits_is_taken_back_by_a_stop(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	enum { REPLICAS = 12 };
	struct replica_key keys[REPLICAS];
	size_t taken_back, started;

	for (unsigned i = 0; i < REPLICAS; i++) {
		keys[i] = (struct replica_key){ .job = 1, .attempt = 1, .role = ROLE_WORKER, .index = i };
		replica_make(bench, &keys[i], &network, "sleep 600");
	}
	for (unsigned i = 0; i < REPLICAS; i++)
		bench->engine->ops->start_replica(bench->engine, &keys[i]);
	expect_event(bench, ENGINE_REPLICA_STARTED, NULL, 1);
	for (unsigned i = 0; i < REPLICAS; i++)
		bench->engine->ops->stop_replica(bench->engine, &keys[i], 0);
	for (unsigned i = 0; i < REPLICAS; i++)
		bench->engine->ops->remove_replica(bench->engine, &keys[i]);
	for (unsigned i = 0; i < REPLICAS; i++)
		expect_event(bench, ENGINE_REPLICA_REMOVED, &keys[i], 1);
	started = events_count(bench, ENGINE_REPLICA_STARTED);
	taken_back = events_count(bench, ENGINE_REPLICA_CREATED) - REPLICAS;
	assert_true(taken_back > 0);
	assert_true(started + taken_back <= REPLICAS);
}

/* Podman may remove it before its exit code can be read. */
static void a_container_removed_behind_our_back_is_told(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	char path[256];

	replica_make(bench, &master, &network, "sleep 100");
	replica_run(bench, &master);
	follow(bench, &master);
	snprintf(path, sizeof(path), "/containers/ty-%s-1-master-0-a1?force=1", bench->instance);
	assert_int_equal(api("DELETE", path, NULL, NULL, 0, NULL), 204);
	if (!bench->is_podman)
		assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1).replicas[0].exit_code, 137);
	expect_event(bench, ENGINE_REPLICA_REMOVED, &master, 1);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
}

static void a_file_of_the_host_can_be_read_and_not_written(void **state)
{
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	json_t *mounts = json_pack("[s]", "/etc/hostname:/trainyard/name:ro");

	replica_ask(bench, &master, &network, "cat /trainyard/name; echo x >/trainyard/name || echo refused",
		    &(struct extras){ .mounts = mounts });
	expect_event(bench, ENGINE_REPLICA_CREATED, &master, 1);
	replica_run(bench, &master);
	follow(bench, &master);
	assert_int_equal(expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1).replicas[0].exit_code, 0);
	expect_event(bench, ENGINE_LOGS_ENDED, &master, 1);
	assert_true(has_line(bench, "1:refused\n"));
	json_decref(mounts);
}

const struct CMUnitTest contract_replicas[] = {
	ENGINE_TEST(a_job_of_two_replicas_runs_and_leaves_nothing),
	ENGINE_TEST(an_engine_says_what_its_host_has),
	ENGINE_TEST(every_operation_may_be_repeated),
	ENGINE_TEST(a_foreign_container_is_not_adopted),
	ENGINE_TEST(a_refused_start_says_why),
	ENGINE_TEST(a_missing_program_exits_with_127),
	ENGINE_TEST(a_stop_gives_grace_and_then_kills),
	ENGINE_TEST(a_stop_after_the_end_tells_of_it_again),
	ENGINE_TEST(a_start_that_waits_is_taken_back_by_a_stop),
	ENGINE_TEST(a_container_removed_behind_our_back_is_told),
	ENGINE_TEST(a_file_of_the_host_can_be_read_and_not_written),
	{ .name = NULL },
};
