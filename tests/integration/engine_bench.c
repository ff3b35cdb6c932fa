/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/engine_bench.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/integration/engine_api.h"

static void on_event(void *arg, const struct engine_event *event)
{
	struct bench *bench = arg;
	struct record *record;

	pthread_mutex_lock(&bench->lock);
	if (bench->count == bench->size) {
		bench->size = bench->size ? bench->size * 2 : 64;
		bench->records = realloc(bench->records, bench->size * sizeof(*bench->records));
	}
	record = &bench->records[bench->count++];
	*record = (struct record){ .kind = event->kind, .job = event->job, .status = event->status };
	snprintf(record->text, sizeof(record->text), "%s", event->text);
	snprintf(record->image, sizeof(record->image), "%s", event->image ? event->image : "");
	record->replica_count = event->replica_count < 64 ? event->replica_count : 64;
	if (record->replica_count)
		memcpy(record->replicas, event->replicas,
		       record->replica_count * sizeof(record->replicas[0]));
	record->free_blocks = event->free_blocks;
	record->network_count = event->network_count < 64 ? event->network_count : 64;
	if (record->network_count)
		memcpy(record->networks, event->networks,
		       record->network_count * sizeof(record->networks[0]));
	if (event->host)
		record->host = *event->host;
	record->host.devices = NULL;
	pthread_cond_broadcast(&bench->changed);
	pthread_mutex_unlock(&bench->lock);
}

static bool on_line(void *arg, const struct replica_line *line)
{
	struct bench *bench = arg;
	bool taken;

	pthread_mutex_lock(&bench->lock);
	taken = bench->room > 0;
	if (taken && bench->room != SIZE_MAX)
		bench->room--;
	if (taken) {
		bench->line_count += !line->continues;
		bench->part_count += line->continues;
		if (!bench->count_only) {
			text_printf(&bench->lines, "%d:", line->stream);
			text_append(&bench->lines, line->data, line->length);
			text_putc(&bench->lines, '\n');
		}
		if (!line->continues && line->time_ns <= bench->last_ns[line->stream - 1])
			bench->disorder = true;
		if (!line->continues)
			bench->last_ns[line->stream - 1] = line->time_ns;
	} else {
		bench->refusals++;
	}
	pthread_cond_broadcast(&bench->changed);
	pthread_mutex_unlock(&bench->lock);
	return taken;
}

static void deadline_in(struct timespec *deadline, int seconds)
{
	clock_gettime(CLOCK_REALTIME, deadline);
	deadline->tv_sec += seconds;
}

static struct record *record_find(struct bench *bench, enum engine_event_kind kind,
				  const struct replica_key *key, int64_t job)
{
	for (size_t i = 0; i < bench->count; i++) {
		struct record *record = &bench->records[i];

		if (record->seen || record->kind != kind || (job && record->job != job))
			continue;
		if (key && (record->replicas[0].key.role != key->role ||
			    record->replicas[0].key.index != key->index))
			continue;
		return record;
	}
	return NULL;
}

struct record expect_event(struct bench *bench, enum engine_event_kind kind, const struct replica_key *key,
			   int64_t job)
{
	struct record *record, copy;
	struct timespec deadline;
	int rc = 0;

	deadline_in(&deadline, WAIT_S);
	pthread_mutex_lock(&bench->lock);
	while (!(record = record_find(bench, kind, key, job)) && rc == 0)
		rc = pthread_cond_timedwait(&bench->changed, &bench->lock, &deadline);
	if (!record) {
		for (size_t i = 0; i < bench->count; i++)
			print_message("# had event %d of job %lld, %s: %s\n", bench->records[i].kind,
				      (long long)bench->records[i].job, status_name(bench->records[i].status),
				      bench->records[i].text);
		pthread_mutex_unlock(&bench->lock);
		fail_msg("no event of kind %d came", kind);
	}
	record->seen = true;
	copy = *record;
	pthread_mutex_unlock(&bench->lock);
	return copy;
}

size_t events_count(struct bench *bench, enum engine_event_kind kind)
{
	size_t count = 0;

	pthread_mutex_lock(&bench->lock);
	for (size_t i = 0; i < bench->count; i++)
		count += bench->records[i].kind == kind;
	pthread_mutex_unlock(&bench->lock);
	return count;
}

void wait_for_refusal(struct bench *bench, size_t refusals)
{
	struct timespec deadline;
	int rc = 0;

	deadline_in(&deadline, WAIT_S);
	pthread_mutex_lock(&bench->lock);
	while (bench->refusals < refusals && rc == 0)
		rc = pthread_cond_timedwait(&bench->changed, &bench->lock, &deadline);
	pthread_mutex_unlock(&bench->lock);
	assert_int_equal(rc, 0);
}

void wait_for_lines(struct bench *bench, size_t lines)
{
	struct timespec deadline;
	int rc = 0;

	deadline_in(&deadline, WAIT_S);
	pthread_mutex_lock(&bench->lock);
	while (bench->line_count < lines && rc == 0)
		rc = pthread_cond_timedwait(&bench->changed, &bench->lock, &deadline);
	pthread_mutex_unlock(&bench->lock);
	assert_int_equal(rc, 0);
}

void give_room(struct bench *bench, size_t room)
{
	pthread_mutex_lock(&bench->lock);
	bench->room = room;
	pthread_mutex_unlock(&bench->lock);
	bench->engine->ops->resume_logs(bench->engine);
}

void client_open(struct bench *bench, bool offline)
{
	char host[128];
	struct engine_options options = {
		.url = host,
		.instance = bench->instance,
		.networks = bench->networks ? bench->networks : "10.213.0.0/16",
		.offline = offline,
		.internal = bench->internal,
		.makes = bench->makes,
		.carried_ports = { 80 },
		.registry_config = offline ? NULL : getenv("DOCKER_CONFIG"),
	};
	struct engine_sink sink = { on_event, on_line, bench };
	struct error err AUTO_ERROR = { 0 };

	snprintf(host, sizeof(host), "unix://%s", bench->direct ? engine_socket : bench->relay.path);
	assert_int_equal(engine_kind_of(host)->open(&options, &sink, &bench->engine, &err), STATUS_OK);
}

void client_close(struct bench *bench)
{
	if (bench->engine)
		bench->engine->ops->close(bench->engine);
	bench->engine = NULL;
}

static void leftovers_remove(struct bench *bench)
{
	struct record listing;

	expect_event(bench, ENGINE_UP, NULL, 0);
	listing = expect_event(bench, ENGINE_LISTING, NULL, 0);
	for (size_t i = 0; i < listing.replica_count; i++)
		bench->engine->ops->remove_replica(bench->engine, &listing.replicas[i].key);
	for (size_t i = 0; i < listing.replica_count; i++)
		expect_event(bench, ENGINE_REPLICA_REMOVED, &listing.replicas[i].key,
			     listing.replicas[i].key.job);
	for (size_t i = 0; i < listing.network_count; i++) {
		bench->engine->ops->remove_network(bench->engine, listing.networks[i].job);
		expect_event(bench, ENGINE_NETWORK_REMOVED, NULL, listing.networks[i].job);
	}
}

int bench_open(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	static unsigned counter;
	struct record up;

	snprintf(bench->instance, sizeof(bench->instance), "contract%d%u", (int)getpid(), counter++);
	snprintf(bench->relay.path, sizeof(bench->relay.path), "/tmp/ty-%s.sock", bench->instance);
	relay_open(&bench->relay);
	pthread_mutex_init(&bench->lock, NULL);
	pthread_cond_init(&bench->changed, NULL);
	bench->room = SIZE_MAX;
	*state = bench;
	client_open(bench, true);
	up = expect_event(bench, ENGINE_UP, NULL, 0);
	assert_non_null(strstr(up.text, "API 1."));
	bench->is_podman = strncmp(up.text, "Podman ", 7) == 0;
	expect_event(bench, ENGINE_LISTING, NULL, 0);
	bench->engine->ops->ensure_image(bench->engine, image_name);
	snprintf(bench->image_id, sizeof(bench->image_id), "%.100s",
		 expect_event(bench, ENGINE_IMAGE_READY, NULL, 0).text);
	return 0;
}

int bench_close(void **state)
{
	struct bench *bench = *state;

	client_close(bench);
	bench->count = 0;
	bench->room = SIZE_MAX;
	relay_cut(&bench->relay, false);
	client_open(bench, true);
	leftovers_remove(bench);
	client_close(bench);
	relay_close(&bench->relay);
	text_deinit(&bench->lines);
	free(bench->records);
	free(bench);
	return 0;
}

struct network_status network_make(struct bench *bench, int64_t job)
{
	struct record record;

	bench->engine->ops->create_network(bench->engine, job, 4);
	record = expect_event(bench, ENGINE_NETWORK_READY, NULL, job);
	assert_int_equal(record.network_count, 1);
	return record.networks[0];
}

void replica_ask(struct bench *bench, const struct replica_key *key, const struct network_status *network,
		 const char *script, const struct extras *extras)
{
	json_t *command = json_pack("[sss]", "/bin/sh", "-c", script);
	char address[32], alias[32];
	uint32_t ip = network->first + (uint32_t)key->role + ROLE_COUNT * key->index;
	struct replica_spec spec = {
		.key = *key,
		.project = "p",
		.job_id = "contract_job",
		.image = bench->image_id,
		.hostname = alias,
		.alias = alias,
		.command = command,
		.network = network->id,
		.address = address,
		.pids_limit = 100,
		.stop_grace_s = 5,
		.memory_bytes = 64 << 20,
		.env = extras ? extras->env : NULL,
		.hosts = extras ? extras->hosts : NULL,
		.mounts = extras ? extras->mounts : NULL,
		.gateway_port = extras ? extras->gateway_port : 0,
		.device_ids = extras ? extras->device_ids : NULL,
		.nano_cpus = extras ? extras->nano_cpus : 0,
	};

	snprintf(alias, sizeof(alias), "cmle-%s-%u", role_name(key->role), key->index);
	snprintf(address, sizeof(address), "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
	bench->engine->ops->create_replica(bench->engine, &spec);
	json_decref(command);
}

void replica_make(struct bench *bench, const struct replica_key *key, const struct network_status *network,
		  const char *script)
{
	replica_ask(bench, key, network, script, NULL);
	expect_event(bench, ENGINE_REPLICA_CREATED, key, key->job);
}

void replica_run(struct bench *bench, const struct replica_key *key)
{
	bench->engine->ops->start_replica(bench->engine, key);
	expect_event(bench, ENGINE_REPLICA_STARTED, key, key->job);
}

void replica_drop(struct bench *bench, const struct replica_key *key)
{
	bench->engine->ops->remove_replica(bench->engine, key);
	expect_event(bench, ENGINE_REPLICA_REMOVED, key, key->job);
}

void follow(struct bench *bench, const struct replica_key *key)
{
	bench->engine->ops->follow_logs(bench->engine, key, &beginning);
}

struct record list(struct bench *bench)
{
	/* Listings that were ordered before may still arrive. */
	bench->engine->ops->list(bench->engine);
	return expect_event(bench, ENGINE_LISTING, NULL, 0);
}

bool has_line(struct bench *bench, const char *line)
{
	return bench->lines.data && strstr(bench->lines.data, line);
}

void release(struct bench *bench, const char *replica)
{
	char path[128], end[1024] = { 0 };
	struct text tar AUTO_TEXT = { 0 };

	tar_add(&tar, "released", '0', NULL, NULL, 0);
	text_append(&tar, end, sizeof(end));
	snprintf(path, sizeof(path), "/containers/ty-%s-1-%s-a1/archive?path=/", bench->instance, replica);
	assert_int_equal(api("PUT", path, "application/x-tar", tar.data, tar.length, NULL), 200);
}
