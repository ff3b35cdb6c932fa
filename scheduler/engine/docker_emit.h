/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_emit.h: sends events to the sink. Nothing is sent once the engine is being closed. */
#include "scheduler/engine/docker_core.h"

void emit_plain(struct docker *docker, enum engine_event_kind kind, const char *text);
void emit_up(struct docker *docker, const char *text, const struct host *host);
void emit_listing(struct docker *docker, const struct replica_status *replicas, size_t replica_count,
		  const struct network_status *networks, size_t network_count);
/* Sends ENGINE_IMAGE_PROGRESS. */
void emit_pull(struct docker *docker, const char *image, const char *text, int64_t pulled_bytes,
	       int64_t image_bytes);
void emit_image(struct docker *docker, enum engine_event_kind kind, const char *image, enum status status,
		const char *text);
void emit_network(struct docker *docker, enum engine_event_kind kind, int64_t job, enum status status,
		  const char *text, const struct network_status *network);
void emit_networks_free(struct docker *docker, unsigned count);
/* Sends ENGINE_DEVICES_CLAIMED. @lost: the GPUs that another instance has; NULL: none. */
void emit_devices_claimed(struct docker *docker, unsigned number, enum status status, const char *text,
			  const json_t *lost);
void emit_replica(struct docker *docker, enum engine_event_kind kind, const struct replica_status *replica);
void emit_replica_failed(struct docker *docker, enum engine_event_kind kind, const struct replica_key *key,
			 enum status status, const char *text);
void emit_key(struct docker *docker, enum engine_event_kind kind, const struct replica_key *key);
