/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/integration/engine_bench.h: an engine opened with an instance of its own; its events are recorded. */
#include <pthread.h>

#include "daemon/base/text.h"
#include "scheduler/engine/engine.h"
#include "tests/integration/engine_relay.h"
#include "tests/unit/testing.h"

enum { WAIT_S = 60 };

struct record {
	enum engine_event_kind kind;
	int64_t job;
	enum status status;
	char text[1100];
	char image[128];
	struct replica_status replicas[64];
	size_t replica_count;
	struct network_status networks[64];
	size_t network_count;
	unsigned free_blocks;
	struct host host; /* without the names of devices */
	bool seen;
};

struct bench {
	struct relay relay;
	struct engine *engine;
	char instance[33];
	char image_id[128];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct record *records;
	size_t count, size;
	/* Lines, as the text "STREAM:DATA\n", in the order of arrival. */
	struct text lines;
	size_t line_count, part_count;
	size_t room; /* number of lines that are still accepted; SIZE_MAX: any */
	size_t refusals;
	bool count_only;
	bool direct; /* without the relay */
	bool internal;
	bool is_podman; /* the engine is Podman: tests know its differences */
	enum engine_networks makes;
	const char *networks; /* NULL: the default */
	int64_t last_ns[2];
	bool disorder;
};

/* Fixtures. */
int bench_open(void **state);
int bench_close(void **state);
#define ENGINE_TEST(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

/* The next event of this kind that no call has returned yet; fails the test after WAIT_S. */
struct record expect_event(struct bench *bench, enum engine_event_kind kind, const struct replica_key *key,
			   int64_t job);
size_t events_count(struct bench *bench, enum engine_event_kind kind);
void wait_for_refusal(struct bench *bench, size_t refusals);
void wait_for_lines(struct bench *bench, size_t lines);
void give_room(struct bench *bench, size_t room);
void client_open(struct bench *bench, bool offline);
void client_close(struct bench *bench);

/* ---- short words for what tests do ---- */

static const struct replica_key master = { .job = 1, .attempt = 1, .role = ROLE_MASTER, .index = 0 };
static const struct replica_key worker = { .job = 1, .attempt = 1, .role = ROLE_WORKER, .index = 0 };
static const struct log_position beginning;

struct extras {
	const json_t *env, *hosts, *mounts, *device_ids;
	int64_t nano_cpus;
	uint16_t gateway_port;
};

struct network_status network_make(struct bench *bench, int64_t job);
void replica_ask(struct bench *bench, const struct replica_key *key, const struct network_status *network,
		 const char *script, const struct extras *extras);
void replica_make(struct bench *bench, const struct replica_key *key, const struct network_status *network,
		  const char *script);
void replica_run(struct bench *bench, const struct replica_key *key);
void replica_drop(struct bench *bench, const struct replica_key *key);
void follow(struct bench *bench, const struct replica_key *key);
struct record list(struct bench *bench);
bool has_line(struct bench *bench, const char *line);
/* Makes the file /released in a replica of job 1, for which its program waits. */
void release(struct bench *bench, const char *replica);
