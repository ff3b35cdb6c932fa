/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_event.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/engine/docker_json.h"

static enum docker_action action_of(const char *action)
{
	static const struct {
		const char *word;
		enum docker_action action;
	} actions[] = {
		{ "start", ACTION_START },     { "kill", ACTION_KILL },       { "die", ACTION_DIE },
		{ "destroy", ACTION_DESTROY }, { "remove", ACTION_DESTROY }, /* Podman's name of the event */
		{ "pause", ACTION_PAUSE },     { "unpause", ACTION_UNPAUSE }, { "rename", ACTION_RENAME },
		{ "oom", ACTION_OOM },
	};

	for (size_t i = 0; action && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(action, actions[i].word) == 0)
			return actions[i].action;
	return ACTION_OTHER;
}

/* Whether the event's container has the name that its labels imply. An image made from one of our containers passes
 * the labels on to users' containers, but the name belongs to one container, and the engine writes it after the
 * labels. True for each rename, whatever the new name is.
 * Source: moby/moby 20.10, daemon/events.go (LogContainerEventWithAttributes) */
static bool event_is_of_its_name(const json_t *attributes, const struct docker_event *event)
{
	const char *instance = json_text_at(attributes, "trainyard.instance");
	const char *name = json_text_at(attributes, "name");
	char own[DOCKER_NAME_SIZE];

	if (!instance || !name)
		return false;
	docker_container_name(instance, &event->status.key, own);
	return event->action == ACTION_RENAME || strcmp(name, own) == 0;
}

bool docker_event_read(const char *line, size_t length, struct docker_event *ret_event)
{
	AUTO(json) json_t *event = docker_parse(line, length, JSON_OBJECT);
	const json_t *actor = json_object_get(event, "Actor");
	const json_t *attributes = json_object_get(actor, "Attributes");
	const char *type = json_text_at(event, "Type");
	const char *id = json_text_at(actor, "ID");
	struct docker_event read = { .action = action_of(json_text_at(event, "Action")) };
	int64_t sent;

	if (!type || strcmp(type, "container") != 0 || !id || strlen(id) >= sizeof(read.id))
		return false;
	if (!docker_key_read(attributes, &read.status.key) || !event_is_of_its_name(attributes, &read))
		return false;
	snprintf(read.id, sizeof(read.id), "%s", id);
	sent = json_int_at(attributes, "signal", 0);
	read.signals = sent > 0 && sent < 64 ? UINT64_C(1) << sent : UINT64_MAX;
	read.has_signal_label = read.action != ACTION_KILL && json_object_get(attributes, "signal");
	read.status.paused = read.action == ACTION_PAUSE;
	read.status.observed = REPLICA_RUNNING;
	*ret_event = read;
	return true;
}
