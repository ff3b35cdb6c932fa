/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/logs/log_pump.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/logs/log_line.h"
#include "scheduler/plan/dialect.h"
#include "store/logs/logs.h"

/* A replica with output to read: the fields that its entries share. */
struct outlet {
	struct replica_key key;
	struct log_source *source;
	char *project;
	char task_name[REPLICA_NAME_MAX];
	bool wraps_lines;
	/* Of the container of an attempt and a restart: */
	unsigned attempt, restart;
	struct log_position offered;
	struct outlet *next;
};

enum { BUCKETS = 64 };

struct log_pump {
	struct store *store;
	const struct clock *clock;
	pthread_mutex_t mutex;
	struct outlet *buckets[BUCKETS];
	struct log_line line; /* the engine's thread's */
};

static size_t bucket_of(const struct replica_key *key)
{
	return ((size_t)key->job * 31 + (size_t)key->index * 7 + (size_t)key->role) % BUCKETS;
}

struct log_pump *log_pump_new(struct store *store, const struct clock *clock)
{
	struct log_pump *pump = memory_calloc(1, sizeof(*pump));

	pump->store = store;
	pump->clock = clock;
	pthread_mutex_init(&pump->mutex, NULL);
	return pump;
}

static void outlet_free(struct outlet *outlet)
{
	log_source_unref(outlet->source);
	free(outlet->project);
	free(outlet);
}

static void outlets_remove(struct log_pump *pump, int64_t job, bool all)
{
	pthread_mutex_lock(&pump->mutex);
	for (size_t i = 0; i < BUCKETS; i++) {
		struct outlet **link = &pump->buckets[i];

		while (*link) {
			struct outlet *outlet = *link;

			if (!all && outlet->key.job != job) {
				link = &outlet->next;
				continue;
			}
			*link = outlet->next;
			outlet_free(outlet);
		}
	}
	pthread_mutex_unlock(&pump->mutex);
}

void log_pump_close(struct log_pump *pump, int64_t job)
{
	outlets_remove(pump, job, false);
}

void log_pump_free(struct log_pump *pump)
{
	if (!pump)
		return;
	outlets_remove(pump, 0, true);
	log_line_deinit(&pump->line);
	pthread_mutex_destroy(&pump->mutex);
	free(pump);
}

/* Replicas of all attempts write to the same log: the key's attempt only places positions. */
static struct outlet *outlet_find(struct log_pump *pump, const struct replica_key *key)
{
	struct outlet *outlet = pump->buckets[bucket_of(key)];

	while (outlet && (outlet->key.job != key->job || outlet->key.role != key->role ||
			  outlet->key.index != key->index))
		outlet = outlet->next;
	return outlet;
}

struct log_source *replica_log_source(const struct plan *plan, int64_t owner, enum role role, unsigned index)
{
	char host[REPLICA_NAME_MAX], task_name[REPLICA_NAME_MAX];
	AUTO(json) json_t *resource = NULL;
	AUTO(string) char *resource_text = NULL;
	AUTO(string) char *labels_text = NULL;

	replica_host_name(plan, role, index, host);
	replica_task_name(plan, role, index, task_name);
	resource = json_pack("{s:s, s:s, s:s}", "project_id", plan->project, "job_id", plan_log_job_id(plan),
			     "task_name", task_name);
	resource_text = json_dump_compact(resource);
	labels_text = log_labels(host, plan->trial, NULL, NULL);
	return log_source_new(&(struct log_source_spec){
		.job = owner,
		.project = plan->project,
		.log_name = task_name,
		.resource_type = "ml_job",
		.resource_labels = resource_text,
		.labels = labels_text,
	});
}

void log_pump_open(struct log_pump *pump, const struct plan *plan, int64_t owner,
		   const struct replica_key *key)
{
	struct outlet *outlet;
	bool known;

	pthread_mutex_lock(&pump->mutex);
	known = outlet_find(pump, key) != NULL;
	pthread_mutex_unlock(&pump->mutex);
	if (known)
		return;
	outlet = memory_calloc(1, sizeof(*outlet));
	outlet->key = *key;
	outlet->wraps_lines = dialect_of(plan)->wraps_lines;
	replica_task_name(plan, key->role, key->index, outlet->task_name);
	outlet->source = replica_log_source(plan, owner, key->role, key->index);
	outlet->project = memory_strdup(plan->project);
	pthread_mutex_lock(&pump->mutex);
	outlet->next = pump->buckets[bucket_of(key)];
	pump->buckets[bucket_of(key)] = outlet;
	pthread_mutex_unlock(&pump->mutex);
}

static bool is_of_outlet(const struct outlet *outlet, const struct replica_key *key)
{
	return outlet->attempt == key->attempt && outlet->restart == key->restart;
}

void log_pump_offered(struct log_pump *pump, const struct replica_key *key, struct log_position *position)
{
	const struct outlet *outlet;

	pthread_mutex_lock(&pump->mutex);
	outlet = outlet_find(pump, key);
	for (int stream = 0; outlet && is_of_outlet(outlet, key) && stream < 2; stream++)
		if (outlet->offered.streams[stream].time_ns || outlet->offered.streams[stream].parts)
			position->streams[stream] = outlet->offered.streams[stream];
	pthread_mutex_unlock(&pump->mutex);
}

static void offer_note(struct outlet *outlet, const struct replica_line *line)
{
	if (!is_of_outlet(outlet, &line->key))
		outlet->offered = (struct log_position){ 0 };
	outlet->attempt = line->key.attempt;
	outlet->restart = line->key.restart;
	outlet->offered.streams[line->stream - 1] = line->reach;
}

static void line_read(struct log_pump *pump, const struct outlet *outlet, const struct replica_line *line)
{
	struct log_record *record = &pump->line.record;

	pump->line.project = outlet->project;
	log_line_read(&pump->line, line->data, line->length, line->stream, line->time_ns);
	/* The engine, and the program where it dates its lines itself, know nothing of the emulator's clock. */
	record->time_ns = clock_from_outside_ns(pump->clock, record->time_ns);
	if (outlet->wraps_lines)
		log_line_wrap(&pump->line, outlet->task_name);
}

static bool line_offer(struct log_pump *pump, const struct outlet *outlet, const struct replica_line *line)
{
	struct log_record *record = &pump->line.record;

	line_read(pump, outlet, line);
	record->source = outlet->source;
	record->position.key = line->key;
	record->position.stream = line->stream;
	record->position.reach = line->reach;
	return log_offer(pump->store, record);
}

bool log_pump_line(struct log_pump *pump, const struct replica_line *line)
{
	struct outlet *outlet;
	bool taken;

	pthread_mutex_lock(&pump->mutex);
	outlet = outlet_find(pump, &line->key);
	/* The lock is held for the offer: it keeps the outlet alive, and nobody else wants it for long. */
	taken = !outlet || line_offer(pump, outlet, line);
	if (outlet && taken)
		offer_note(outlet, line);
	pthread_mutex_unlock(&pump->mutex);
	return taken;
}
