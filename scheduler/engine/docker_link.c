/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_elsewhere.h"
#include "scheduler/engine/docker_emit.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_event.h"
#include "scheduler/engine/docker_host.h"
#include "scheduler/engine/docker_listing.h"
#include "scheduler/engine/docker_logs.h"
#include "scheduler/engine/docker_make.h"
#include "scheduler/engine/docker_mounts.h"
#include "scheduler/engine/docker_replica.h"
#include "scheduler/engine/docker_self.h"
#include "scheduler/engine/nvidia_gpus.h"

/*        ┌── backoff ──────────────┐
 *      DOWN ── ping ─> PINGING ── version, info ─> OPENING ── our files, our container, another daemon? ── events > UP
 *        ^                │                                         │                         │
 *        └────────────────┴──────────── no answer, stream broke ────┴─────────────────────────┘
 * The stream of events is opened before the first listing is requested, so that no exit is missed between the two. dockerd
 * sends the stream's head a moment before it subscribes to events, so the events since the answer to /info are requested,
 * too. */

enum {
	PING_TIMEOUT_S = 5,
	EVENTS_PATIENCE_US = 2 * SECOND_US,
	LISTING_EVERY_US = 30 * SECOND_US,
	EVENT_LINE_MAX = 1024 * 1024,
	OURS_MINOR = 50, /* the newest minor version of API 1.x that is used: all its changes were reviewed. In this one
			  * /info began to name devices */
	LEAST_MINOR = 40,
};

static void list_regularly(void *arg)
{
	struct docker *docker = arg;

	if (docker->closing || !link_is_up(docker))
		return;
	docker_after(docker, &docker->link.next_listing, LISTING_EVERY_US, list_regularly, docker);
	listing_ask(docker);
}

static void become_up(struct docker *docker)
{
	struct link *link = &docker->link;

	if (link->state != LINK_OPENING)
		return;
	link->state = LINK_UP;
	atomic_store(&docker->answers, true);
	link->epoch++;
	link->logged_down = false;
	link->up_us = clock_mono_us(&system_clock);
	log_event(LOG_INFO, "engine-up", "cpus=%u memory_bytes=%" PRId64 " gpus=%zu engine=\"%s\"",
		  link->host.cpus, link->host.memory_bytes, link->host.device_count, link->name);
	emit_up(docker, link->name, &link->host);
	list_regularly(docker);
	followers_reconnect(docker);
}

/* Returns the signals that the container was sent, and frees the record of them; 0: none. */
static uint64_t signals_take(struct docker *docker, const struct replica_key *key)
{
	struct signalled **at = &docker->signalled, *found;
	uint64_t signals;

	while (*at && !docker_key_equal(&(*at)->key, key))
		at = &(*at)->next;
	found = *at;
	if (!found)
		return 0;
	*at = found->next;
	signals = found->signals;
	free(found);
	return signals;
}

void link_signals_forget(struct docker *docker)
{
	while (docker->signalled)
		signals_take(docker, &docker->signalled->key);
}

/* Records a signal that was sent to a container. The engine reports each signal that it sends before it reports the
 * container's end. So a container that is stopped, killed or removed from outside can be distinguished from a
 * program that ends by itself with the same status. */
static void signal_note(struct docker *docker, const struct docker_event *event)
{
	const uint64_t before = signals_take(docker, &event->status.key);
	struct signalled *signalled;

	signalled = memory_calloc(1, sizeof(*signalled));
	signalled->key = event->status.key;
	signalled->signals = before | event->signals;
	signalled->next = docker->signalled;
	docker->signalled = signalled;
}

static void event_handle(struct docker *docker, const char *line, size_t length)
{
	struct docker_event event;
	uint64_t signals;

	if (!docker_event_read(line, length, &event))
		return;
	switch (event.action) {
	case ACTION_KILL:
		signal_note(docker, &event);
		break;
	case ACTION_DIE:
		signals = signals_take(docker, &event.status.key);
		replica_died(docker, &event.status.key,
			     signals && event.has_signal_label ? UINT64_MAX : signals);
		break;
	case ACTION_DESTROY:
		signals_take(docker, &event.status.key);
		replica_destroyed(docker, &event.status.key);
		break;
	case ACTION_PAUSE:
	case ACTION_UNPAUSE:
		emit_replica(docker, ENGINE_REPLICA_PAUSED, &event.status);
		break;
	case ACTION_OOM:
		replica_ran_out_of_memory(docker, &event.status.key);
		break;
	case ACTION_RENAME:
		listing_ask(docker); /* a listing gives the container its name back */
		break;
	case ACTION_START:
	case ACTION_OTHER:
		break;
	}
}

static void event_piece(struct link *link, const char *data, size_t length)
{
	if (link->line.length + length > EVENT_LINE_MAX)
		link->skipping = true;
	if (!link->skipping)
		text_append(&link->line, data, length);
}

static enum http_outcome events_data(void *arg, const char *data, size_t length)
{
	struct docker *docker = arg;
	struct link *link = &docker->link;
	const char *newline;

	while ((newline = memchr(data, '\n', length)) != NULL) {
		size_t piece = (size_t)(newline - data);

		event_piece(link, data, piece);
		if (!link->skipping && link->line.length > 0)
			event_handle(docker, link->line.data, link->line.length);
		text_clear(&link->line);
		link->skipping = false;
		data += piece + 1;
		length -= piece + 1;
	}
	event_piece(link, data, length);
	return HTTP_TAKEN;
}

static void events_opened(void *arg)
{
	become_up(arg);
}

/* Treats the event stream as open after a while without its headers: some engines send them only with the first
 * event. */
static void events_awaited(void *arg)
{
	struct docker *docker = arg;

	if (docker->link.events)
		become_up(docker);
}

static void events_done(void *arg, const struct http_answer *answer)
{
	struct outcome outcome;

	outcome_read(answer, &outcome);
	link_lose(arg, outcome.text[0] ? outcome.text : "the engine ended its stream of events");
}

static void events_open(struct docker *docker)
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64], since[40] = "";
	int64_t engine_ns = docker->link.engine_ns;

	text_deinit(&docker->link.line);
	docker->link.skipping = false;
	link_signals_forget(docker);
	replica_forget_made(docker);
	docker_label_filter(docker->instance, NULL, filter);
	if (engine_ns)
		snprintf(since, sizeof(since), "since=%" PRId64 ".%09" PRId64 "&", engine_ns / 1000000000,
			 engine_ns % 1000000000);
	snprintf(path, sizeof(path), "/events?%sfilters=%s", since, filter);
	docker_after(docker, &docker->link.events_patience, EVENTS_PATIENCE_US, events_awaited, docker);
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = path,
							 .lane = LANE_EVENTS,
							 .opened = events_opened,
							 .data = events_data,
							 .done = events_done,
							 .arg = docker,
							 .slot = &docker->link.events });
}

static void self_looked(struct docker *docker)
{
	elsewhere_look(docker, events_open);
}

static void looked_for(void *arg, const struct http_answer *answer)
{
	struct docker *docker = arg;
	struct outcome outcome;

	link_probe_end(docker);
	outcome_read(answer, &outcome);
	if (answer->status) {
		link_lose(docker, outcome.text);
		return;
	}
	docker->link.is_apart = docker_mount_is_missing(outcome.text);
	docker->link.may_be_far |= docker->link.is_apart;
	if (docker->link.is_apart)
		log_event(LOG_INFO, "engine-apart", "state_dir=%s hint=\"%s\"", docker->state_dir,
			  "the engine does not have this directory: containers are given copies of files");
	self_look(docker, self_looked);
}

/* Asks for a file that was just made in the state directory, to find out whether the engine accesses the same files:
 * the engine's machine may have another directory of the same path. */
static void files_look_for(struct docker *docker)
{
	struct link *link = &docker->link;
	int file = -1;

	link->is_apart = false;
	link->may_be_far = endpoint_address(docker->endpoint)->kind != ENDPOINT_UNIX;
	if (docker->state_dir) {
		link->probe = memory_printf("%s/seen-XXXXXX", docker->state_dir);
		file = mkstemp(link->probe);
	}
	if (file < 0) {
		free(TAKE(link->probe));
		self_look(docker, self_looked);
		return;
	}
	close(file);
	AUTO(string) char *text = docker_mount_question(link->probe);

	http_start(docker->http, &(struct http_request){ .method = "POST",
							 .path = "/containers/create",
							 .body = text,
							 .timeout_s = CALL_TIMEOUT_S,
							 .done = looked_for,
							 .arg = docker,
							 .slot = &link->look });
}

/* Logs once that the engine manages a swarm, but that trainyard uses only this engine. */
static void swarm_hint(const struct docker *docker, const json_t *info)
{
	const json_t *swarm = json_object_get(info, "Swarm");
	const int64_t nodes = json_int_at(swarm, "Nodes", 0);

	if (!docker->link.epoch && !docker->uses_swarm && nodes > 1 && json_true_at(swarm, "ControlAvailable"))
		log_event(LOG_INFO, "engine-is-swarm-manager", "nodes=%" PRId64 " hint=\"%s\"", nodes,
			  "`trainyard swarm up` and `trainyard serve --engine swarm` run jobs on all of them");
}

static void info_done(void *arg, const struct http_answer *answer)
{
	struct docker *docker = arg;
	AUTO(json) json_t *info = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	const char *version = json_text_at(info, "ServerVersion"), *now = json_text_at(info, "SystemTime");
	struct outcome outcome;

	outcome_read(answer, &outcome);
	if (outcome.status || !info) {
		link_lose(docker, outcome.status ? outcome.text
						 : "the engine's answer to /info cannot be understood");
		return;
	}
	docker->link.make = docker_make_of(info);
	docker->link.is_far = docker->link.make->has_late_bridges || docker_is_rootless(info);
	snprintf(docker->link.name, sizeof(docker->link.name), "%s %.60s (API %s)",
		 docker->link.make->name, version ? version : "of unknown version",
		 docker->link.version);
	if (!now || !time_parse(now, &docker->link.engine_ns))
		docker->link.engine_ns = 0;
	host_deinit(&docker->link.host);
	docker_host_read(info, NVIDIA_DIRECTORY, &docker->link.host);
	/* An unknown host ends the link, so that the engine is asked again: without CPUs and memory no job could be
	 * placed. */
	if (!docker->link.host.known) {
		link_lose(docker, "the engine's answer to /info names no CPUs or no memory");
		return;
	}
	swarm_hint(docker, info);
	docker->link.state = LINK_OPENING;
	files_look_for(docker);
}

/* Chooses the older of the engine's newest version and ours. False: the engine is too old, or its version is
 * invalid. */
static bool version_negotiate(struct docker *docker, const char *theirs)
{
	unsigned major = 0, minor = 0;
	char *version = docker->link.version;

	if (sscanf(theirs, "%3u.%5u", &major, &minor) != 2 || major < 1 ||
	    (major == 1 && minor < LEAST_MINOR))
		return false;
	if (major > 1 || minor > OURS_MINOR)
		minor = OURS_MINOR;
	snprintf(version, sizeof(docker->link.version), "1.%u", minor);
	http_set_version(docker->http, version);
	pthread_mutex_lock(&docker->lock);
	snprintf(docker->spoken_version, sizeof(docker->spoken_version), "%s", version);
	pthread_mutex_unlock(&docker->lock);
	return true;
}

static void ping_done(void *arg, const struct http_answer *answer)
{
	struct docker *docker = arg;
	struct outcome outcome;

	outcome_read(answer, &outcome);
	if (!outcome.status && !version_negotiate(docker, answer->api_version)) {
		outcome.status = STATUS_FAILED_PRECONDITION;
		snprintf(outcome.text, sizeof(outcome.text),
			 "the engine speaks API version %s; 1.%d or newer is needed (Docker 19.03)",
			 answer->api_version[0] ? answer->api_version : "unknown", LEAST_MINOR);
	}
	if (outcome.status) {
		link_lose(docker, outcome.text);
		return;
	}
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = "/info",
							 .timeout_s = CALL_TIMEOUT_S,
							 .done = info_done,
							 .arg = docker,
							 .slot = &docker->link.info });
}

static void ping(void *arg)
{
	struct docker *docker = arg;

	if (docker->closing || docker->link.state != LINK_DOWN)
		return;
	docker->link.state = LINK_PINGING;
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = "/_ping",
							 .without_version = true,
							 .timeout_s = PING_TIMEOUT_S,
							 .done = ping_done,
							 .arg = docker,
							 .slot = &docker->link.ping });
}

void link_begin(struct docker *docker)
{
	docker->link.backoff_us = BACKOFF_FIRST_US;
	docker->link.retry = ping;
	snprintf(docker->link.reason, sizeof(docker->link.reason), "the engine has not answered yet");
	ping(docker);
}
