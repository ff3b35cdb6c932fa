/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_parts.h"

static void emit(struct docker *docker, const struct engine_event *event)
{
	if (!docker->closing)
		docker->sink.event(docker->sink.arg, event);
}

/* That the engine is gone was said once; what fails for it is no news. */
static enum log_level failure_level(enum status status)
{
	return status == STATUS_UNAVAILABLE ? LOG_DEBUG : LOG_WARNING;
}

/* What our own memory had no room for is not the engine's word, and fails no job: it is asked again. */
static enum status failure_status(enum status status)
{
	return status != STATUS_OK && memory_watch_failed() ? STATUS_UNAVAILABLE : status;
}

void emit_plain(struct docker *docker, enum engine_event_kind kind, const char *text)
{
	emit(docker, &(struct engine_event){ .kind = kind, .text = text });
}

void emit_up(struct docker *docker, const char *text, const struct host *host)
{
	emit(docker, &(struct engine_event){ .kind = ENGINE_UP, .text = text, .host = host });
}

void emit_listing(struct docker *docker, const struct replica_status *replicas, size_t replica_count,
		  const struct network_status *networks, size_t network_count)
{
	emit(docker, &(struct engine_event){ .kind = ENGINE_LISTING,
					     .text = "",
					     .replicas = replicas,
					     .replica_count = replica_count,
					     .networks = networks,
					     .network_count = network_count });
}

void emit_image(struct docker *docker, enum engine_event_kind kind, const char *image, enum status status,
		const char *text)
{
	emit(docker, &(struct engine_event){
			     .kind = kind, .image = image, .status = failure_status(status), .text = text });
}

void emit_network(struct docker *docker, enum engine_event_kind kind, int64_t job, enum status status,
		  const char *text, const struct network_status *network)
{
	status = failure_status(status);
	if (kind == ENGINE_NETWORK_READY || kind == ENGINE_NETWORK_REMOVED)
		listing_note_network(docker, network ? network : &(struct network_status){ .job = job },
				     kind == ENGINE_NETWORK_REMOVED);
	else if (!docker->closing)
		log_event(failure_level(status), "network-failed", "job=%" PRId64 " status=%s error=\"%s\"",
			  job, status_name(status), text);
	emit(docker, &(struct engine_event){ .kind = kind,
					     .job = job,
					     .status = status,
					     .text = text,
					     .networks = network,
					     .network_count = network ? 1 : 0 });
}

void emit_replica(struct docker *docker, enum engine_event_kind kind, const struct replica_status *replica)
{
	if (kind != ENGINE_LOGS_ENDED)
		listing_note_replica(docker, replica, kind == ENGINE_REPLICA_REMOVED);
	if (kind == ENGINE_REPLICA_EXITED)
		follower_note_exit(docker, &replica->key);
	emit(docker, &(struct engine_event){ .kind = kind,
					     .job = replica->key.job,
					     .text = "",
					     .replicas = replica,
					     .replica_count = 1 });
}

void emit_replica_failed(struct docker *docker, enum engine_event_kind kind, const struct replica_key *key,
			 enum status status, const char *text)
{
	struct replica_status replica = { .key = *key };
	char name[32];

	status = failure_status(status);
	docker_replica_name(key, name);
	if (!docker->closing)
		log_event(failure_level(status), "replica-call-failed",
			  "job=%" PRId64 " replica=%s attempt=%u status=%s error=\"%s\"", key->job, name,
			  key->attempt, status_name(status), text);
	emit(docker, &(struct engine_event){ .kind = kind,
					     .job = key->job,
					     .status = status,
					     .text = text,
					     .replicas = &replica,
					     .replica_count = 1 });
}

void emit_key(struct docker *docker, enum engine_event_kind kind, const struct replica_key *key)
{
	struct replica_status replica = { .key = *key, .sight = REPLICA_CREATED };

	if (kind == ENGINE_REPLICA_STARTED)
		replica.sight = REPLICA_RUNNING;
	emit_replica(docker, kind, &replica);
}
