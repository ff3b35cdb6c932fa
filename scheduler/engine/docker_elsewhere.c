/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_elsewhere.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_claims.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_orphans.h"

#define LABEL_PLACE "trainyard.place"
#define LABEL_HOST  "trainyard.host" /* not read by trainyard: shown to users of the engine */

enum { LEAVE_TIMEOUT_S = 3 };
enum { BOOT_ID_SIZE = 37 };

/* ---- the marker ---- */

void elsewhere_path(const char *instance, char path[DOCKER_PATH_SIZE])
{
	snprintf(path, DOCKER_PATH_SIZE, "/volumes/ty-%.32s-daemon", instance);
}

static void host_print(char host[HOST_NAME_MAX + 1])
{
	host[0] = '\0';
	gethostname(host, HOST_NAME_MAX);
	host[HOST_NAME_MAX] = '\0';
}

char *elsewhere_place(void)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[BOOT_ID_SIZE] = "", host[HOST_NAME_MAX + 1] = "";
	struct stat network = { 0 };

	if (file && !fgets(boot, sizeof(boot), file))
		boot[0] = '\0';
	if (file)
		fclose(file);
	if (stat("/proc/self/ns/net", &network) != 0 || !boot[0])
		host_print(host);
	return memory_printf("%s %ju %s", boot, (uintmax_t)network.st_ino, host);
}

static json_t *marker_body(const char *instance, const char *place)
{
	char host[HOST_NAME_MAX + 1];

	host_print(host);
	return json_pack("{so s{ss ss ss}}", "Name", json_sprintf("ty-%.32s-daemon", instance), "Labels",
			 "trainyard.instance", instance, LABEL_PLACE, place, LABEL_HOST, host);
}

bool elsewhere_is(const json_t *volume, const char *own)
{
	const char *place = json_text_at(json_object_get(volume, "Labels"), LABEL_PLACE);

	return place && strcmp(place, own) != 0;
}

static void explain(const json_t *volume, const char *instance, char text[DOCKER_TEXT_SIZE])
{
	const char *host = json_text_at(json_object_get(volume, "Labels"), LABEL_HOST);

	snprintf(text, DOCKER_TEXT_SIZE,
		 "another daemon of instance %.32s works on this engine, from another machine, container or network "
		 "namespace (its host name is %.100s): stop that daemon first",
		 instance, host ? host : "unknown");
}

/* ---- a daemon ---- */

static void mark(void *arg);

static void marker_removed(void *arg, const struct http_answer *answer)
{
	struct docker *docker = arg;

	if (answer->status)
		link_lose(docker, answer->problem);
	else
		docker_after(docker, &docker->link.again, ELSEWHERE_PATIENCE_MS * INT64_C(1000), mark, docker);
}

static void challenge(struct docker *docker)
{
	char path[DOCKER_PATH_SIZE];

	docker->link.challenged = true;
	elsewhere_path(docker->instance, path);
	http_start(docker->http, &(struct http_request){ .method = "DELETE",
							 .path = path,
							 .timeout_s = CALL_TIMEOUT_S,
							 .done = marker_removed,
							 .arg = docker,
							 .slot = &docker->link.look });
}

/* Makes the marker again when a volume was removed; each line is one such event. If it was another volume, the
 * create changes nothing. */
static enum http_outcome watch_data(void *arg, const char *data, size_t length)
{
	struct docker *docker = arg;

	claims_watch(docker, data, length);
	if (!memchr(data, '\n', length))
		return HTTP_TAKEN;
	docker->link.mark_again = true;
	if (!docker->link.look)
		mark(docker);
	return HTTP_TAKEN;
}

/* Loses the link when the stream of events ends. An engine that refuses this stream keeps its link. */
static void watch_done(void *arg, const struct http_answer *answer)
{
	struct outcome outcome;

	outcome_read(answer, &outcome);
	if (answer->status || !outcome.status)
		link_lose(arg, outcome.text[0] ? outcome.text : "the engine ended its stream of events");
}

/* Requests the events of removed volumes: Docker's event is named "destroy", Podman's "remove". The filter has no
 * volume name, because Podman 4.3 cannot filter volumes by name. */
static void watch_open(struct docker *docker)
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64], since[40] = "";
	const int64_t engine_ns = docker->link.engine_ns;

	docker_query_encode("{\"type\":[\"volume\"],\"event\":[\"destroy\",\"remove\"]}", filter, sizeof(filter));
	if (engine_ns)
		snprintf(since, sizeof(since), "since=%" PRId64 ".%09" PRId64 "&", engine_ns / 1000000000,
			 engine_ns % 1000000000);
	snprintf(path, sizeof(path), "/events?%sfilters=%s", since, filter);
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = path,
							 .lane = LANE_EVENTS,
							 .data = watch_data,
							 .done = watch_done,
							 .arg = docker,
							 .slot = &docker->link.watch });
}

bool elsewhere_is_refused(unsigned code)
{
	return code == 403 || code == 404 || code == 405 || code == 501;
}

static void marked(void *arg, const struct http_answer *answer)
{
	struct docker *docker = arg;
	struct link *link = &docker->link;
	AUTO(json) json_t *volume = docker_parse(answer->body, answer->body_length, JSON_OBJECT);
	const bool is_first = !link->is_marked;
	struct outcome outcome;

	outcome_read(answer, &outcome);
	if (!answer->status && is_first && elsewhere_is_refused(answer->code)) {
		link->then(docker); /* this engine has no volumes for us: go on without a marker */
	} else if (outcome.status) { /* without a marker, a daemon elsewhere would not see this one */
		link_lose(docker, outcome.text);
	} else if (!elsewhere_is(volume, docker->place)) {
		link->is_marked = true;
		if (is_first) {
			watch_open(docker);
			link->then(docker);
		} else if (link->mark_again) {
			mark(docker);
		}
	} else if (is_first && !link->challenged) {
		challenge(docker);
	} else {
		explain(volume, docker->instance, outcome.text);
		link_lose(docker, outcome.text);
	}
}

static void mark(void *arg)
{
	struct docker *docker = arg;
	AUTO(json) json_t *body = marker_body(docker->instance, docker->place);
	AUTO(string) char *text = json_dump_compact(body);

	if (docker->closing || docker->link.state == LINK_DOWN)
		return;
	docker->link.mark_again = false;
	http_start(docker->http, &(struct http_request){ .method = "POST",
							 .path = "/volumes/create",
							 .body = text,
							 .timeout_s = CALL_TIMEOUT_S,
							 .done = marked,
							 .arg = docker,
							 .slot = &docker->link.look });
}

void elsewhere_look(struct docker *docker, void (*then)(struct docker *docker))
{
	docker->link.then = then;
	docker->link.is_marked = docker->link.challenged = false;
	mark(docker);
}

/* ---- on the caller's thread ---- */

static struct reply marker_ask(struct http *http, const char *method, const char *instance,
			       unsigned timeout_s)
{
	char path[DOCKER_PATH_SIZE];

	elsewhere_path(instance, path);
	return docker_ask_for(http, (struct http_request){ .method = method,
							   .path = path,
							   .without_version = true,
							   .timeout_s = timeout_s });
}

static void marker_remove(struct http *http, const char *instance, unsigned timeout_s)
{
	struct reply AUTO_REPLY reply = marker_ask(http, "DELETE", instance, timeout_s);

	(void)reply; /* the result is ignored: most often there is no marker */
}

void elsewhere_leave(struct docker *docker)
{
	if (docker->link.is_marked)
		marker_remove(docker->http, docker->instance, LEAVE_TIMEOUT_S);
}

static void marker_add(struct orphans *list, json_t *volume)
{
	AUTO(json) json_t *volumes = json_pack("[O]", volume);

	orphans_add(list, ORPHAN_VOLUME, volumes);
}

enum status elsewhere_check(struct http *http, const char *instance, const struct sweep_report *report,
			    struct error *err)
{
	AUTO(string) char *place = elsewhere_place();
	struct orphans gone AUTO_ORPHANS = { 0 };
	char text[DOCKER_TEXT_SIZE];

	for (bool is_removed = false;; is_removed = true) {
		struct reply AUTO_REPLY reply = marker_ask(http, "GET", instance, CALL_TIMEOUT_S);

		if (reply.status)
			return reply_failure(&reply, err);
		if (reply.code >= 300 || !elsewhere_is(reply.value, place))
			break;
		if (is_removed) {
			explain(reply.value, instance, text);
			return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s", text);
		}
		marker_add(&gone, reply.value);
		marker_remove(http, instance, CALL_TIMEOUT_S);
		poll(NULL, 0, ELSEWHERE_PATIENCE_MS);
	}
	for (size_t i = 0; i < gone.count; i++)
		report->reported(report->arg, &gone.items[i], NULL);
	return STATUS_OK;
}
