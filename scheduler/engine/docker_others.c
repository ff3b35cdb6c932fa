/* SPDX-License-Identifier: Apache-2.0 */
/* Once the engine has told what is ours, which does not wait for it: what instances without a daemon have left in it.
 * It is named, and left alone: how would one know that its daemon does not come back? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/engine/docker_parts.h"
#include "scheduler/engine/leftovers.h"

enum { TOLD_MOST = 10 };

struct others {
	struct docker *docker;
	struct leftovers list;
};

static void instance_tell(const struct leftover_count *count)
{
	log_event(LOG_WARNING, "leftovers",
		  "instance=%s containers=%zu running=%zu networks=%zu hint=\"trainyard clean --instance %s "
		  "removes them\"",
		  count->instance, count->containers, count->running, count->networks, count->instance);
}

static void others_tell(struct others *others)
{
	size_t told = 0, more = 0;

	leftovers_sort(&others->list);
	for (size_t at = 0; at < others->list.count;) {
		struct leftover_count count;

		at = leftovers_count(&others->list, at, &count);
		if (strcmp(count.instance, others->docker->instance) == 0 ||
		    instance_lock_seen(count.instance))
			continue;
		if (told++ < TOLD_MOST)
			instance_tell(&count);
		else
			more++;
	}
	if (more)
		log_event(LOG_WARNING, "leftovers-more",
			  "instances=%zu hint=\"trainyard clean --list names them\"", more);
}

static void others_end(struct others *others)
{
	leftovers_deinit(&others->list);
	free(others);
}

/* Where it cannot be had, nothing is told: the next start tries again. */
static bool answer_add(struct others *others, enum leftover_kind kind, const struct http_answer *answer)
{
	AUTO(json) json_t *found = NULL;

	link_watch(others->docker, answer);
	if (answer->status || answer->code >= 300)
		return false;
	found = docker_parse(answer->body, answer->body_length, JSON_ARRAY);
	return found && leftovers_add(&others->list, kind, found);
}

static void networks_listed(void *arg, const struct http_answer *answer)
{
	struct others *others = arg;

	if (answer_add(others, LEFTOVER_NETWORK, answer))
		others_tell(others);
	others_end(others);
}

static void list_ask(struct others *others, const char *what,
		     void (*done)(void *arg, const struct http_answer *answer))
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];

	docker_label_filter(NULL, NULL, filter);
	snprintf(path, sizeof(path), "%sfilters=%s", what, filter);
	http_start(others->docker->http, &(struct http_request){ .method = "GET",
								 .path = path,
								 .timeout_s = CALL_TIMEOUT_S,
								 .body_max = DOCKER_LISTING_MAX,
								 .done = done,
								 .arg = others });
}

static void containers_listed(void *arg, const struct http_answer *answer)
{
	struct others *others = arg;

	if (answer_add(others, LEFTOVER_CONTAINER, answer))
		list_ask(others, "/networks?", networks_listed);
	else
		others_end(others);
}

void others_look(struct docker *docker)
{
	struct others *others = calloc(1, sizeof(*others));

	if (!others)
		return;
	others->docker = docker;
	list_ask(others, "/containers/json?all=1&", containers_listed);
}
