/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler/engine/docker_attachment.c: disconnects a replica from its network and connects it again. */
#include "scheduler/engine/docker_attachment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_emit.h"

/* A running call that connects or disconnects a replica. There is one per replica: later requests wait, so that the
 * engine executes them in order. */
struct attachment {
	struct attachment *next;
	struct docker *docker;
	struct replica_key key;
	bool joins;
	char *network, *body;
	struct attachment *later; /* the last request made while this one runs; NULL: none */
};

static void attachment_free(struct attachment *attachment)
{
	if (!attachment)
		return;
	attachment_free(attachment->later);
	free(attachment->network);
	free(attachment->body);
	free(attachment);
}

static void attachment_fail(const struct attachment *attachment, enum status status, const char *text)
{
	emit_replica_failed(attachment->docker, ENGINE_FAILED, &attachment->key, status, text);
}

/* Whether the engine refused the call because the replica is already connected (or disconnected) as requested.
 * Source: moby/moby, daemon/container_operations.go and libnetwork/error.go (read 2026-11-22) */
static bool is_done(const struct attachment *attachment, const struct outcome *outcome)
{
	return strstr(outcome->text, attachment->joins ? "already exists in network" : "is not connected to");
}

static void attachment_begin(struct attachment *attachment);

static void attachment_done(void *arg, const struct http_answer *answer)
{
	struct attachment *attachment = arg, *later = TAKE(attachment->later);
	struct attachment **at = &attachment->docker->attachments;
	struct outcome outcome;

	docker_outcome(attachment->docker, answer, &outcome);
	while (*at != attachment)
		at = &(*at)->next;
	*at = attachment->next;
	/* Two failures are not reported: that the container is gone, because an event reports this, and any failure if
	 * a later request follows, because only the last request counts. */
	if (outcome.status && !later && answer->code != 404 && !is_done(attachment, &outcome))
		attachment_fail(attachment, outcome.status, outcome.text);
	attachment_free(attachment);
	if (later)
		attachment_begin(later);
}

static void attachment_begin(struct attachment *attachment)
{
	struct docker *docker = attachment->docker;
	char path[DOCKER_PATH_SIZE];

	if (!link_is_up(docker)) {
		attachment_fail(attachment, STATUS_UNAVAILABLE, docker->link.reason);
		attachment_free(attachment);
		return;
	}
	attachment->next = docker->attachments;
	docker->attachments = attachment;
	snprintf(path, sizeof(path), "/networks/%.100s/%s", attachment->network,
		 attachment->joins ? "connect" : "disconnect");
	http_start(docker->http, &(struct http_request){ .method = "POST",
							 .path = path,
							 .body = attachment->body,
							 .timeout_s = CALL_TIMEOUT_S,
							 .done = attachment_done,
							 .arg = attachment });
}

static struct attachment *under_way(const struct docker *docker, const struct replica_key *key)
{
	struct attachment *attachment = docker->attachments;

	while (attachment && !docker_key_equal(&attachment->key, key))
		attachment = attachment->next;
	return attachment;
}

json_t *attachment_body(const char *instance, const struct replica_link *link, const struct replica_key *key)
{
	char name[DOCKER_NAME_SIZE];

	docker_container_name(instance, key, name);
	if (!link->address)
		return json_pack("{ss sb}", "Container", name, "Force", 0);
	return json_pack("{ss s{s[s] s{ss}}}", "Container", name, "EndpointConfig", "Aliases", link->alias,
			 "IPAMConfig", "IPv4Address", link->address);
}

void attachment_run(struct docker *docker, struct command *command)
{
	struct attachment *attachment = memory_calloc(1, sizeof(*attachment)), *first;

	attachment->docker = docker;
	attachment->key = command->key;
	attachment->joins = json_object_get(command->body, "EndpointConfig") != NULL;
	attachment->network = TAKE(command->image);
	attachment->body = json_dump_compact(command->body);
	first = under_way(docker, &command->key);
	if (!first) {
		attachment_begin(attachment);
		return;
	}
	attachment_free(first->later);
	first->later = attachment;
}
