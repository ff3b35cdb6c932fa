/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_emit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"

static void emit(struct docker *docker, const struct engine_event *event)
{
	if (!docker->closing)
		docker->sink.event(docker->sink.arg, event);
}

/* The log level of a failure. A failure because the engine is unreachable is no warning: the loss of the engine was
 * already logged once. */
static enum log_level failure_level(enum status status)
{
	return status == STATUS_UNAVAILABLE ? LOG_DEBUG : LOG_WARNING;
}

/* Keeps an event that arrives while a listing is being made, so that the listing can be corrected: no listing
 * contradicts an event that was sent before it. */
static void note(struct docker *docker, const struct note *note)
{
	if (!docker->listing)
		return;
	if (docker->note_count == docker->note_size) {
		const size_t size = docker->note_size ? docker->note_size * 2 : 16;

		docker->notes = memory_resize(docker->notes, size, sizeof(*docker->notes));
		docker->note_size = size;
	}
	docker->notes[docker->note_count++] = *note;
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
	emit(docker, &(struct engine_event){ .kind = kind, .image = image, .status = status, .text = text });
}

void emit_pull(struct docker *docker, const char *image, const char *text, int64_t pulled_bytes,
	       int64_t image_bytes)
{
	emit(docker, &(struct engine_event){ .kind = ENGINE_IMAGE_PROGRESS,
					     .image = image,
					     .text = text,
					     .pulled_bytes = pulled_bytes,
					     .image_bytes = image_bytes });
}

void emit_network(struct docker *docker, enum engine_event_kind kind, int64_t job, enum status status,
		  const char *text, const struct network_status *network)
{
	if (kind == ENGINE_NETWORK_READY || kind == ENGINE_NETWORK_REMOVED)
		note(docker,
		     &(struct note){ .network = network ? *network : (struct network_status){ .job = job },
				     .is_network = true,
				     .gone = kind == ENGINE_NETWORK_REMOVED });
	else if (!docker->closing && kind != ENGINE_NETWORKS_FREE)
		log_event(failure_level(status), "network-failed", "job=%" PRId64 " status=%s error=\"%s\"",
			  job, status_name(status), text);
	emit(docker, &(struct engine_event){ .kind = kind,
					     .job = job,
					     .status = status,
					     .text = text,
					     .networks = network,
					     .network_count = network ? 1 : 0 });
}

void emit_networks_free(struct docker *docker, unsigned count)
{
	emit(docker,
	     &(struct engine_event){ .kind = ENGINE_NETWORKS_FREE, .text = "", .free_blocks = count });
}

void emit_devices_claimed(struct docker *docker, unsigned number, enum status status, const char *text,
			  const json_t *lost)
{
	emit(docker, &(struct engine_event){ .kind = ENGINE_DEVICES_CLAIMED,
					     .status = status,
					     .text = text,
					     .number = number,
					     .devices = lost });
}

void emit_replica(struct docker *docker, enum engine_event_kind kind, const struct replica_status *replica)
{
	if (kind != ENGINE_LOGS_ENDED)
		note(docker, &(struct note){ .replica = *replica, .gone = kind == ENGINE_REPLICA_REMOVED });
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
	struct replica_status replica = { .key = *key, .observed = REPLICA_CREATED };

	if (kind == ENGINE_REPLICA_STARTED)
		replica.observed = REPLICA_RUNNING;
	emit_replica(docker, kind, &replica);
}
