/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_elsewhere.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/engine/docker_core.h"

const char *elsewhere_tunnel(const json_t *containers, const char *instance)
{
	const json_t *container;
	size_t index;

	json_array_foreach(containers, index, container) {
		const json_t *labels = json_object_get(container, "Labels");
		const char *owner = json_text_at(labels, "trainyard.instance");
		const char *state = json_text_at(container, "State");
		const char *name = json_string_value(json_array_get(json_object_get(container, "Names"), 0));

		if (json_object_get(labels, LABEL_TUNNEL) && owner && strcmp(owner, instance) == 0 && state &&
		    strcmp(state, "running") == 0)
			return name ? name + (*name == '/') : "";
	}
	return NULL;
}

void elsewhere_explain(const char *tunnel, const char *instance, char *ret_text, size_t size)
{
	snprintf(ret_text, size,
		 "another daemon of instance %.32s works on this engine, from another machine or network namespace "
		 "(its container %.100s runs): stop that daemon first",
		 instance, tunnel);
}

static void look(void *arg);

static void looked(void *arg, const struct http_answer *answer)
{
	struct docker *docker = arg;
	struct link *link = &docker->link;
	AUTO(json) json_t *running = docker_parse(answer->body, answer->body_length, JSON_ARRAY);
	const char *tunnel = elsewhere_tunnel(running, docker->instance);
	struct outcome outcome;

	outcome_read(answer, &outcome);
	if (answer->status) {
		link_lose(docker, outcome.text);
	} else if (!tunnel) {
		link->then(docker);
	} else if (++link->looks < ELSEWHERE_LOOKS) {
		docker_after(docker, &link->again, ELSEWHERE_PAUSE_MS * MILLISECOND_US, look, docker);
	} else {
		elsewhere_explain(tunnel, docker->instance, outcome.text, sizeof(outcome.text));
		link_lose(docker, outcome.text);
	}
}

static void look(void *arg)
{
	struct docker *docker = arg;
	char plain[DOCKER_NAME_SIZE * 2], filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];

	if (docker->closing || docker->link.state != LINK_OPENING)
		return;
	snprintf(plain, sizeof(plain), "{\"label\":[\"trainyard.instance=%.32s\",\"" LABEL_TUNNEL "\"]}",
		 docker->instance);
	docker_query_encode(plain, filter, sizeof(filter));
	snprintf(path, sizeof(path), "/containers/json?filters=%s", filter);
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = path,
							 .timeout_s = CALL_TIMEOUT_S,
							 .body_max = DOCKER_LISTING_MAX,
							 .done = looked,
							 .arg = docker,
							 .slot = &docker->link.look });
}

void elsewhere_look(struct docker *docker, void (*then)(struct docker *docker))
{
	docker->link.then = then;
	docker->link.looks = 0;
	if (docker->link.epoch) /* the tunnels that run are this process's */
		then(docker);
	else
		look(docker);
}
