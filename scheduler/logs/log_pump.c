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
struct log_stream {
	struct replica_key key;
	struct log_source *source;
	char *project;
	char task_name[REPLICA_NAME_MAX];
	bool wraps_lines;
	unsigned newest; /* the highest attempt for which the replica was opened */
	/* The container (by attempt and restart) with the last line that was offered, and the position of that line: */
	unsigned attempt, restart;
	struct log_position offered;
	struct log_stream *next;
};

enum { BUCKETS = 64 };

struct log_pump {
	struct store *store;
	const struct clock *clock;
	pthread_mutex_t mutex;
	struct log_stream *buckets[BUCKETS];
	struct log_line line; /* used only by the engine's thread */
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

static void log_stream_free(struct log_stream *log_stream)
{
	log_source_unref(log_stream->source);
	free(log_stream->project);
	free(log_stream);
}

static void log_streams_remove(struct log_pump *pump, int64_t job, bool all)
{
	pthread_mutex_lock(&pump->mutex);
	for (size_t i = 0; i < BUCKETS; i++) {
		struct log_stream **link = &pump->buckets[i];

		while (*link) {
			struct log_stream *log_stream = *link;

			if (!all && log_stream->key.job != job) {
				link = &log_stream->next;
				continue;
			}
			*link = log_stream->next;
			log_stream_free(log_stream);
		}
	}
	pthread_mutex_unlock(&pump->mutex);
}

void log_pump_close(struct log_pump *pump, int64_t job)
{
	log_streams_remove(pump, job, false);
}

void log_pump_free(struct log_pump *pump)
{
	if (!pump)
		return;
	log_streams_remove(pump, 0, true);
	log_line_deinit(&pump->line);
	pthread_mutex_destroy(&pump->mutex);
	free(pump);
}

/* The log stream of a replica. All attempts share it: the attempt in @key only matters for positions. */
static struct log_stream *log_stream_find(struct log_pump *pump, const struct replica_key *key)
{
	struct log_stream *log_stream = pump->buckets[bucket_of(key)];

	while (log_stream && (log_stream->key.job != key->job || log_stream->key.role != key->role ||
			      log_stream->key.index != key->index))
		log_stream = log_stream->next;
	return log_stream;
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
	struct log_stream *log_stream;

	pthread_mutex_lock(&pump->mutex);
	log_stream = log_stream_find(pump, key);
	if (log_stream && log_stream->newest < key->attempt)
		log_stream->newest = key->attempt;
	pthread_mutex_unlock(&pump->mutex);
	if (log_stream)
		return;
	log_stream = memory_calloc(1, sizeof(*log_stream));
	log_stream->key = *key;
	log_stream->newest = key->attempt;
	log_stream->wraps_lines = dialect_of(plan)->wraps_lines;
	replica_task_name(plan, key->role, key->index, log_stream->task_name);
	log_stream->source = replica_log_source(plan, owner, key->role, key->index);
	log_stream->project = memory_strdup(plan->project);
	pthread_mutex_lock(&pump->mutex);
	log_stream->next = pump->buckets[bucket_of(key)];
	pump->buckets[bucket_of(key)] = log_stream;
	pthread_mutex_unlock(&pump->mutex);
}

static bool is_of_log_stream(const struct log_stream *log_stream, const struct replica_key *key)
{
	return log_stream->attempt == key->attempt && log_stream->restart == key->restart;
}

void log_pump_offered(struct log_pump *pump, const struct replica_key *key, struct log_position *position)
{
	const struct log_stream *log_stream;

	pthread_mutex_lock(&pump->mutex);
	log_stream = log_stream_find(pump, key);
	for (int stream = 0; log_stream && is_of_log_stream(log_stream, key) && stream < 2; stream++)
		if (log_stream->offered.streams[stream].time_ns || log_stream->offered.streams[stream].parts)
			position->streams[stream] = log_stream->offered.streams[stream];
	pthread_mutex_unlock(&pump->mutex);
}

static void offer_note(struct log_stream *log_stream, const struct replica_line *line)
{
	if (!is_of_log_stream(log_stream, &line->key))
		log_stream->offered = (struct log_position){ 0 };
	log_stream->attempt = line->key.attempt;
	log_stream->restart = line->key.restart;
	log_stream->offered.streams[line->stream - 1] = line->reach;
}

static void line_read(struct log_pump *pump, const struct log_stream *log_stream,
		      const struct replica_line *line)
{
	struct log_record *record = &pump->line.record;

	pump->line.project = log_stream->project;
	log_line_read(&pump->line, line->data, line->length, line->stream, line->time_ns);
	/* The engine, and a program that dates its lines itself, use the machine's clock, not the emulator's. */
	record->time_ns = clock_from_outside_ns(pump->clock, record->time_ns);
	if (log_stream->wraps_lines)
		log_line_wrap(&pump->line, log_stream->task_name);
}

static bool line_offer(struct log_pump *pump, const struct log_stream *log_stream,
		       const struct replica_line *line)
{
	struct log_record *record = &pump->line.record;

	line_read(pump, log_stream, line);
	record->source = log_stream->source;
	record->position.key = line->key;
	record->position.stream = line->stream;
	record->position.reach = line->reach;
	return log_offer(pump->store, record);
}

bool log_pump_line(struct log_pump *pump, const struct replica_line *line)
{
	struct log_stream *log_stream;
	bool taken;

	pthread_mutex_lock(&pump->mutex);
	log_stream = log_stream_find(pump, &line->key);
	if (log_stream && line->key.attempt < log_stream->newest)
		log_stream = NULL;
	/* The lock is held during the offer: it keeps the stream alive, and other threads need it only for short
	 * times. */
	taken = !log_stream || line_offer(pump, log_stream, line);
	if (log_stream && taken)
		offer_note(log_stream, line);
	pthread_mutex_unlock(&pump->mutex);
	return taken;
}
